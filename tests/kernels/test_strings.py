import numpy as np
import pytest
from sklearn.base import clone

from extras import optional
from kernel_learn.kernels import Spectrum, Subsequence, letters, subsequences
from oracles import naive_strings as oracle
from tolerances import EXACT

pd = optional("pandas")

KERNELS = [Spectrum(2), Subsequence(2), Subsequence(3, 0.8, normalize=False)]


def random_strings(rng, n, letters, longest):
    return ["".join(rng.choice(list(letters), rng.integers(longest + 1))) for _ in range(n)]


@pytest.fixture
def rows(rng):
    return random_strings(rng, 25, "abc", 11)


@pytest.fixture
def rows_ref(rng):
    return random_strings(rng, 16, "bcde", 9)


@pytest.fixture(params=["words", "pairs"])
def route(request, monkeypatch):
    """Take one of the two routes of Subsequence whatever the sizes; tiles of a few strings."""
    monkeypatch.setattr(subsequences, "choose_route", lambda S, T, k: request.param)
    monkeypatch.setattr(subsequences, "PAIRS_STATE", 2**8)
    monkeypatch.setattr(subsequences, "WORDS_SIDE", 7)
    return request.param


def naive_gram(kernel, rows, rows_ref=None):
    def features(text):
        if isinstance(kernel, Spectrum):
            return oracle.spectrum_features(text, kernel.k)
        return oracle.subsequence_features(text, kernel.k, kernel.decay)

    rows_ref = rows if rows_ref is None else rows_ref
    return np.array(oracle.gram(features, rows, rows_ref, kernel.normalize))


# Definitions ------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_spectrum_is_the_definition(rows, rows_ref, k, normalize):
    kernel = Spectrum(k, normalize=normalize)
    np.testing.assert_allclose(kernel(rows), naive_gram(kernel, rows), rtol=EXACT)
    np.testing.assert_allclose(
        kernel(rows, rows_ref), naive_gram(kernel, rows, rows_ref), rtol=EXACT
    )


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("decay", [1, 0.5, 1e-3])
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_subsequence_is_the_definition(route, rows, rows_ref, k, decay, normalize):
    kernel = Subsequence(k, decay, normalize=normalize)
    np.testing.assert_allclose(kernel(rows), naive_gram(kernel, rows), rtol=EXACT)
    np.testing.assert_allclose(
        kernel(rows, rows_ref), naive_gram(kernel, rows, rows_ref), rtol=EXACT
    )


@pytest.mark.parametrize("k", [1, 4])
def test_words_in_small_memory(rows, k, monkeypatch):
    """With no room for the ends of words, every letter but the last is visited in turn."""
    monkeypatch.setattr(subsequences, "WORDS_STATE", 1)
    S = letters.encode(rows)
    expected = naive_gram(Subsequence(k, normalize=False), rows) / 0.5 ** (2 * k)
    np.testing.assert_allclose(subsequences.products_by_words(S, S, k, 0.5), expected, rtol=EXACT)
    np.testing.assert_allclose(
        subsequences.squares_by_words(S, k, 0.5), np.diagonal(expected), rtol=EXACT
    )


def test_the_example_of_lodhi(route):
    words, decay = ["cat", "car", "bat", "bar"], 0.7
    K = Subsequence(2, decay, normalize=False)(words)
    np.testing.assert_allclose(np.diagonal(K), 2 * decay**4 + decay**6)
    np.testing.assert_allclose(K[0, 1:], [decay**4, decay**4, 0])
    np.testing.assert_allclose(Subsequence(2, decay)(words)[0, 1], 1 / (2 + decay**2))


def test_longer_strings_follow_the_recursion(route, rng):
    s, t = ("".join(rng.choice(list("acgt"), n)) for n in (90, 60))
    expected = oracle.subsequence_recursion(s, t, 5, 0.9)
    kernel = Subsequence(5, 0.9, normalize=False)
    np.testing.assert_allclose(kernel([s], [t])[0, 0], expected, rtol=EXACT)


def test_the_two_oracles_agree():
    values = [
        f("gatta", "cata", 3, 0.5) for f in (oracle.subsequence, oracle.subsequence_recursion)
    ]
    np.testing.assert_allclose(*values)


# Collapses --------------------------------------------------------------------


def test_single_letters_have_no_gaps(route, rows):
    K = Subsequence(1, 0.5, normalize=False)(rows)
    np.testing.assert_allclose(K, 0.25 * Spectrum(1, normalize=False)(rows), rtol=EXACT)


def test_expensive_gaps_leave_the_spectrum(route, rows):
    np.testing.assert_allclose(Subsequence(3, 1e-12)(rows), Spectrum(3)(rows), atol=1e-9)


def test_free_gaps_count_pairs_of_positions(route):
    K = Subsequence(2, 1, normalize=False)(["aaaaa", "aaa"])
    np.testing.assert_array_equal(K, [[100, 30], [30, 9]])  # C(5, 2) = 10, C(3, 2) = 3


# What every kernel owes ---------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_symmetric_and_positive_semidefinite(kernel, rows, rows_ref):
    K = kernel(rows + rows_ref)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -EXACT * np.trace(K)


def test_each_route_is_exactly_symmetric(route, rows):
    K = Subsequence(3, 0.7)(rows)
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_blocks_of_rows_agree(kernel, rows, rows_ref):
    rows = rows + rows_ref
    K = kernel(rows)
    np.testing.assert_allclose(kernel(rows[3:9], rows), K[3:9], atol=EXACT)
    np.testing.assert_allclose(kernel(rows, rows[7:8]), K[:, 7:8], atol=EXACT)
    np.testing.assert_allclose(kernel(rows[:0], rows), K[:0])
    np.testing.assert_allclose(kernel(rows[:4]), K[:4, :4], atol=EXACT)
    np.testing.assert_allclose(kernel.diag(rows), np.diagonal(K), rtol=EXACT)
    np.testing.assert_allclose(kernel.diag(rows[5:6]), K[5, 5], rtol=EXACT)


def test_squares_of_each_route_are_the_diagonal(route, rows):
    kernel = Subsequence(3, 0.7, normalize=False)
    expected = [oracle.subsequence(s, s, 3, 0.7) for s in rows]
    np.testing.assert_allclose(kernel.diag(rows), expected, rtol=EXACT)


@pytest.mark.parametrize("kernel", [Spectrum(3), Subsequence(3)], ids=repr)
def test_normalised_diagonal_is_exactly_one(kernel, rng):
    rows = ["".join(rng.choice(list("acgt"), n)) for n in range(3, 60)]
    np.testing.assert_array_equal(np.diagonal(kernel(rows)), 1.0)
    np.testing.assert_array_equal(kernel.diag(rows), 1.0)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kind", [Spectrum, Subsequence])
def test_strings_without_a_word_are_zero(kind, normalize, route):
    kernel, rows = kind(3, normalize=normalize), ["", "ab", "abc", "", "ab"]
    K = kernel(rows)
    assert K[2, 2] > 0
    assert np.count_nonzero(K) == 1
    np.testing.assert_array_equal(kernel.diag(rows), np.diagonal(K))
    np.testing.assert_array_equal(kernel(rows[:2]), np.zeros((2, 2)))
    np.testing.assert_array_equal(kernel(rows[:2], ["abc"]), np.zeros((2, 1)))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_no_rows(kernel):
    assert kernel([]).shape == (0, 0)
    assert kernel(["abc"], []).shape == (1, 0)
    assert kernel.diag([]).shape == (0,)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_letters_are_code_points(kernel):
    latin = ["abcabd", "bcda", "dddab"]
    # one, two, three and four bytes in UTF-8, a lone surrogate, and NUL
    for alphabet in ["aé字😀", "\x00\U0010ffff\ud800b"]:
        other = [text.translate(str.maketrans("abcd", alphabet)) for text in latin]
        np.testing.assert_allclose(kernel(other), kernel(latin), rtol=EXACT)
        np.testing.assert_array_equal(kernel(latin, ["字" * 5]), 0.0)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_large_alphabets(kernel, rng):
    """4000 letters: their numbers need more than a byte."""
    rows = ["".join(map(chr, 0x4E00 + rng.integers(0, 4000, 40))) for _ in range(6)]
    rows += [rows[0][:20] + rows[1][20:], rows[0][3:]]
    np.testing.assert_allclose(kernel(rows), naive_gram(kernel, rows), rtol=EXACT)


def test_long_words_are_told_apart_by_their_first_letter():
    """256^12 = 2^96: in 64 bits the first four letters of a word would be shifted out."""
    every_letter = "".join(map(chr, range(256)))
    rows = ["a" + every_letter[:11], "b" + every_letter[:11], every_letter]
    np.testing.assert_array_equal(Spectrum(12)(rows), np.eye(3))


# Containers, parameters, refusals -------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(
    "container",
    [
        tuple,
        np.array,
        lambda rows: np.array(rows, dtype=object),
        lambda rows: np.array(rows, dtype=object)[:, None],
        lambda rows: np.array(rows)[:, None],
        lambda rows: pd.Series(rows, index=range(100, 100 + len(rows))),
        lambda rows: pd.Series(rows, dtype=object),
        lambda rows: pd.DataFrame({"text": rows}),
    ],
)
def test_containers_are_equal(kernel, container, rows, rows_ref):
    expected = kernel(rows, rows_ref)
    np.testing.assert_array_equal(kernel(container(rows), container(rows_ref)), expected)
    np.testing.assert_array_equal(kernel.diag(container(rows)), kernel.diag(rows))


def test_parameters_survive_a_clone():
    kernel = clone(Subsequence(np.int64(4), decay=0.25, normalize=False))
    assert kernel.get_params() == {"k": 4, "decay": 0.25, "normalize": False}
    assert clone(Spectrum(5)).get_params() == {"k": 5, "normalize": True}
    assert kernel.set_params(decay=1).decay == 1
    assert kernel.input == "strings"
    assert Spectrum().is_resolved


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", True, None])
@pytest.mark.parametrize("kind", [Spectrum, Subsequence])
def test_k_must_be_a_positive_integer(kind, k):
    kernel = kind(k)
    for use in (kernel, kernel.diag):
        with pytest.raises(ValueError, match="k, the letters per word, must be an integer >= 1"):
            use(["abc"])


@pytest.mark.parametrize("decay", [0, -0.5, 1.5, np.nan, "0.5", None])
def test_decay_must_be_in_the_unit_interval(decay):
    with pytest.raises(ValueError, match="0 < decay <= 1"):
        Subsequence(2, decay)(["abc"])


@pytest.mark.parametrize("bad", [3, None, b"abc", np.nan, ["abc"]])
@pytest.mark.parametrize("kernel", [Spectrum(), Subsequence()], ids=repr)
def test_rows_must_be_strings(kernel, bad):
    rows = ["abc", "abd", bad, "abe"]
    message = f"row 2 is of type {type(bad).__name__}"
    for use in (kernel, kernel.diag, lambda rows: kernel(["abc"], rows)):
        with pytest.raises(ValueError, match=message):
            use(rows)


def test_rows_must_be_one_column():
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        Spectrum()(np.array([["abc", "abd"], ["abe", "abf"]]))
    with pytest.raises(ValueError, match="not one string"):
        Spectrum()("abc")


# Numbers at the edge ----------------------------------------------------------------


def test_small_decays_do_not_underflow(route):
    """decay^(2k) is 1e-400 here; the normalised value knows nothing of it."""
    rows = ["abcdefghijklmnopqrst", "abcdefghijklmnopqrsu"]
    K = Subsequence(4, 1e-50)(rows)
    np.testing.assert_allclose(K[0, 1], 16 / 17, rtol=EXACT)  # 17 words each, 16 in common


def test_long_strings_keep_their_digits(rng):
    """2000 letters: powers of decay from 1 to 1e-600 in one sum."""
    s, t = ("".join(rng.choice(list("ab"), 2000)) for _ in range(2))
    values = [
        f(letters.encode([s, t]), letters.encode([s, t]), 3, 0.5)[0, 1]
        for f in (subsequences.products_by_words, subsequences.products_by_pairs)
    ]
    np.testing.assert_allclose(*values, rtol=EXACT)


def test_overflow_is_a_sentence():
    with pytest.raises(ValueError, match="exceeds float64"):
        Subsequence(200, 1)(["a" * 1100])  # C(1100, 200)^2 is about 1e450


# Which route ----------------------------------------------------------------------


def test_the_route_depends_on_the_number_of_words(rng):
    def route(n_letters, k, n=200):
        S = letters.encode(["".join(map(chr, rng.integers(0, n_letters, 100))) for _ in range(n)])
        return subsequences.choose_route(S, S, k)

    assert route(4, 3) == route(20, 3) == route(4, 6) == "words"
    assert route(300, 3) == route(26, 6) == route(4, 60) == "pairs"


def test_tiles_of_pairs_are_as_small_as_promised(rng):
    lengths = rng.integers(3, 5000, 300)
    S = letters.encode(["a" * n for n in lengths])
    blocks = list(
        subsequences.length_blocks(S, 3, lambda longest: subsequences.pairs_side(3, longest, 300))
    )
    assert sorted(np.concatenate(blocks)) == list(range(300))
    for rows in blocks:
        assert 3 * lengths[rows].max() * len(rows) ** 2 <= 1.5 * subsequences.PAIRS_STATE


def test_only_common_letters_make_words(rng):
    latin, other = (
        letters.encode(random_strings(rng, 40, "".join(map(chr, range(start, start + 40))), 60))
        for start in (100, 1000)
    )
    mixed = letters.Strings(other.letters + 38, other.lengths, 80)  # 2 letters in common
    assert subsequences.choose_route(latin, latin, 5) == "pairs"
    assert subsequences.choose_route(latin, mixed, 5) == "words"
