"""KernelClassifier: what it promises of rows, weights, tables and of itself."""

import re
from time import process_time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from extras import optional
from kernel_learn import KernelClassifier
from kernel_learn.criteria.held_out.stacking import softmax
from kernel_learn.ensemble import clock, fit
from kernel_learn.testing import check_kernel
from tolerances import EXACT

pd = optional("pandas")
skrub = optional("skrub")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def fitted(wine):
    return KernelClassifier().fit(*wine[:2])


@pytest.fixture
def small(rng):
    """Two classes of which one column tells, 40 rows."""
    X = rng.standard_normal((40, 4))
    return X, (X[:, 1] + 0.3 * rng.standard_normal(40) > 0).astype(int)


def test_wine(fitted, wine):
    assert fitted.score(*wine[2:]) > 0.96
    assert log_loss(wine[3], fitted.predict_proba(wine[2])) < 0.12


@pytest.mark.parametrize("quality", ["fast", "balanced"])
def test_qualities_differ_and_work(quality, wine, fitted):
    model = KernelClassifier(quality=quality).fit(*wine[:2])
    assert model.score(*wine[2:]) > 0.95
    n_scaled = sum("scaled" in member.view for member in model.members_)
    assert (n_scaled == 0) == (quality == "fast")


class TestRows:
    def test_order_does_not_matter(self, small, rng):
        X, y = small
        order = rng.permutation(len(y))
        a, b = KernelClassifier().fit(X, y), KernelClassifier().fit(X[order], y[order])
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-8)
        np.testing.assert_allclose(a.loo_proba_[order], b.loo_proba_, atol=1e-8)

    @pytest.mark.parametrize("class_weight", [None, "balanced"])
    def test_weights_are_repetitions(self, small, class_weight, rng):
        X, y = small
        weight = rng.integers(0, 4, size=len(y))
        model = KernelClassifier(class_weight=class_weight)
        a = clone(model).fit(X, y, sample_weight=weight)
        b = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-8)
        assert a.loo_log_loss_ == pytest.approx(b.loo_log_loss_)
        assert a.loo_error_se_ == pytest.approx(b.loo_error_se_)

    def test_weights_of_rows_that_sum_to_one(self, small):
        X, y = small
        a = KernelClassifier(quality="fast").fit(X, y)
        with pytest.warns(UserWarning, match="sample_weight counts rows"):
            b = KernelClassifier(quality="fast").fit(X, y, sample_weight=np.full(40, 1 / 40))
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-8)

    def test_rows_of_weight_zero_are_new_rows(self, small):
        X, y = small
        weight = np.r_[np.zeros(5), np.ones(35)]
        model = KernelClassifier(quality="fast").fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(model.loo_proba_[:5], np.exp(model._class_scores(X[:5])))

    @pytest.mark.parametrize("copies", [1, 3])
    def test_labels_by_chance_stay_unknown(self, copies):
        """Neither copies of a row nor the class shares without it give its label away."""
        errors, losses = [], []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X, y = rng.standard_normal((50, 3)), np.arange(50) % 2
            X, y = np.repeat(X, copies, axis=0), np.repeat(y, copies)
            model = KernelClassifier(quality="fast").fit(X, y)
            errors.append(model.loo_error_)
            losses.append(model.loo_log_loss_)
            assert model.plan_.n_rows == 50
        assert np.mean(errors) > 0.35 and np.mean(losses) > 0.6

    def test_equal_rows_of_two_classes(self, rng):
        X = rng.integers(0, 3, size=(60, 2)).astype(float)
        y = (X[:, 0] + rng.integers(0, 2, size=60) > 1).astype(int)
        model = KernelClassifier(quality="fast").fit(X, y)
        assert model.plan_.n_rows <= 9 and model.score(X, y) > 0.6

    def test_groups_are_left_out_together(self, rng):
        """Four noisy copies of each of 24 rows, labels by chance: copies give them away."""
        centres, labels = rng.standard_normal((24, 3)), np.arange(24) % 2
        groups = np.repeat(np.arange(24), 4)
        X = centres[groups] + 0.01 * rng.standard_normal((96, 3))
        y = labels[groups]
        alone = KernelClassifier(quality="fast").fit(X, y)
        joint = KernelClassifier(quality="fast").fit(X, y, groups=groups)
        assert alone.loo_error_ < 0.05 and joint.loo_error_ > 0.25
        assert alone.permutation_p_value(49) < 0.05 < joint.permutation_p_value(49)
        mixed = KernelClassifier(quality="fast").fit(X, np.arange(96) % 3, groups=groups)
        with pytest.raises(ValueError, match="Rows of one group have different labels"):
            mixed.permutation_p_value()

    def test_class_weight_moves_the_shares(self, small):
        X, y = small
        light = KernelClassifier(quality="fast").fit(X, y).predict_proba(X)[:, 1].mean()
        model = KernelClassifier(quality="fast", class_weight={0: 1, 1: 5}).fit(X, y)
        assert model.predict_proba(X)[:, 1].mean() > light + 0.05

    def test_many_rows_are_screened(self, monkeypatch):
        X, y = make_classification(700, 6, n_informative=4, random_state=0)
        model = KernelClassifier().fit(X[:600], y[:600])
        assert model.plan_.screen_rows == 400 and len(model.members_) <= 8
        assert model.score(X[600:], y[600:]) > 0.85

    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_few_rows(self, n, rng):
        X = rng.standard_normal((n, 3))
        P = KernelClassifier().fit(X, np.arange(n) % 2).predict_proba(X)
        assert np.isfinite(P).all()

    def test_classes_of_one_row(self, rng):
        X = rng.standard_normal((20, 2))
        y = np.r_[np.zeros(9), np.ones(9), 2, 3]
        P = KernelClassifier().fit(X, y).predict_proba(X)
        assert P.shape == (20, 4) and np.isfinite(P).all()

    def test_a_column_of_one_value_is_no_reason(self, rng):
        """Rows that are all the same are refused; see ``test_bad_input``."""
        X = np.column_stack([np.ones(20), rng.standard_normal(20)])
        P = KernelClassifier(quality="fast").fit(X, X[:, 1] > 0).predict_proba(X)
        assert np.isfinite(P).all()


class TestWhatItSays:
    def test_held_out_figures(self, fitted, wine):
        _, y = wine[:2]
        P = fitted.loo_proba_
        wrong = P.argmax(axis=1) != y
        assert fitted.loo_error_ == pytest.approx(wrong.mean())
        assert fitted.loo_error_se_ == pytest.approx(wrong.std() / np.sqrt(len(y)))
        assert fitted.loo_log_loss_ == pytest.approx(log_loss(y, P))
        losses = -np.log(P[np.arange(len(y)), y])
        assert fitted.loo_log_loss_se_ == pytest.approx(losses.std() / np.sqrt(len(y)))

    def test_members(self, fitted):
        weights = [member.weight for member in fitted.members_]
        assert sum(weights) == pytest.approx(1) and weights == sorted(weights, reverse=True)
        assert len(repr(fitted.members_).splitlines()) == len(weights) + 1
        with pytest.raises(AttributeError):
            fitted.members_[0].weight = 2.0
        assert str(len(weights)) + " members" in fitted.summary_

    def test_kernel(self, fitted, wine):
        kernel, X = fitted.kernel_, wine[0]
        check_kernel(kernel, X[:20])
        expected = sum(
            member.share * k(X) / np.mean(k.diag(X))
            for member, k in zip(fitted._fitted.ensemble.predicting, kernel.kernels, strict=True)
        )
        np.testing.assert_allclose(kernel(X), expected, atol=1e-8)

    def test_transform(self, fitted, wine):
        Z, Z_new = fitted.transform(wine[0]), fitted.transform(wine[2])
        assert Z.shape == (len(wine[0]), 2)
        centres = np.array([Z[wine[1] == c].mean(axis=0) for c in range(3)])
        nearest = ((Z_new[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        assert np.mean(nearest == wine[3]) > 0.93
        assert list(fitted.get_feature_names_out()) == ["kernelclassifier0", "kernelclassifier1"]

    def test_explanation_adds_up(self, fitted, wine):
        X_new = wine[2][:5]
        found = fitted.explain(X_new, n_rows=len(wine[0]))
        total = found.baseline + found.contributions.sum(axis=1)
        np.testing.assert_allclose(total, found.log_odds, atol=1e-8)
        logits = np.zeros((5, 3))
        for _, member, K in fitted._fitted.ensemble.kernel_blocks(fitted._table(X_new)):
            logits += member.share * member.maps[0](member.models[0][0].scores(K))
        own = logits[np.arange(5), found.labels]
        np.testing.assert_allclose(own - logits.mean(axis=1), found.log_odds)
        short = fitted.explain(X_new, n_rows=3)
        assert short.indices.shape == (5, 3)
        assert (wine[1][short.indices[0]] == found.labels[0]).mean() > 0.5

    def test_explanation_in_shares(self, fitted, wine):
        whole, short = (fitted.explain(wine[2][:12], n_rows=n) for n in (len(wine[0]), 3))
        np.testing.assert_allclose(np.abs(whole.shares).sum(axis=1), 1.0)
        np.testing.assert_allclose(short.shares, whole.shares[:, :3])  # of all, not of those shown
        lines = repr(short).splitlines()
        assert len(lines) == 10 * 4 + 1 and lines[-1] == "and 2 more new rows"
        side = "for" if short.shares[0, 0] > 0 else "against"
        expected = [side, "training", "row", str(short.indices[0, 0])]
        assert lines[1].split()[:4] == expected
        assert lines[1].endswith(f"{abs(short.shares[0, 0]):.1%}")

    def test_members_of_groups_print_on_a_line_each(self):
        X, y = load_wine(return_X_y=True)
        groups = {"acids": [0, 1, 2, 3], "colour": [9, 10, 11]}
        model = KernelClassifier(quality="fast", column_groups=groups).fit(X, y)
        lines = repr(model.members_).splitlines()
        assert len(lines) == len(model.members_) + 1
        assert max(map(len, lines)) <= 120 and not any(
            re.search(r"\d\.\d{5}", line) for line in lines
        )

    def test_relevance_finds_the_column(self, small):
        model = KernelClassifier().fit(*small)
        assert model.feature_relevance_.argmax() == 1
        assert model.feature_relevance_.sum() == pytest.approx(1)
        assert (model.feature_relevance_std_ > 0).all()

    def test_a_few_extreme_entries_are_neither_relevant_nor_in_the_way(self):
        """In z-scores two of these eight columns are found, and the p-value is 0.45."""
        rng, y = np.random.default_rng(0), np.arange(60) % 2
        shift = np.where(np.arange(300) < 8, y[:, None], 0)
        X = np.exp(2 * (rng.normal(size=(60, 300)) + shift))
        model = KernelClassifier(quality="fast").fit(X, y)
        assert np.sum(np.argsort(-model.feature_relevance_)[:8] < 8) >= 6
        assert model.permutation_p_value() < 0.05

    def test_is_there_any_signal(self, small, rng):
        X, y = small
        model = KernelClassifier(quality="fast")
        assert model.fit(X, y).permutation_p_value(99) == pytest.approx(0.01)
        p = [model.fit(X, rng.permutation(y)).permutation_p_value(49) for _ in range(8)]
        assert max(p) > 0.2 and np.mean(p) > 0.15

    @pytest.mark.parametrize("quality", ["balanced", "fast"])
    def test_one_member(self, quality, wine):
        model = KernelClassifier(max_members=1, quality=quality).fit(*wine[:2])
        assert len(model.members_) == 1 and len(model.kernel_.kernels) == 1

    def test_time_budget(self, wine, monkeypatch):
        model = KernelClassifier(time_budget=1e-9).fit(*wine[:2])
        assert len(model.members_) == 1

    def test_time_budget_is_kept(self, monkeypatch):
        """An exact fit of 2500 rows takes longer: leaves as large as time allows."""
        monkeypatch.setattr(clock, "now", process_time)  # on a busy machine too
        X, y = make_classification(3000, 8, n_informative=5, random_state=0)
        start = process_time()
        model = KernelClassifier(time_budget=1.0).fit(X[:2500], y[:2500])
        assert process_time() - start < 2.0
        assert model.score(X[2500:], y[2500:]) > 0.85
        assert model.plan_.exact == (model.plan_.leaf_rows >= 2500)

    def test_threads_change_nothing(self, fitted, wine, monkeypatch):
        model = KernelClassifier(n_jobs=2).fit(*wine[:2])
        np.testing.assert_array_equal(model.predict_proba(wine[2]), fitted.predict_proba(wine[2]))

    def test_verbose(self, wine, capsys):
        KernelClassifier(quality="fast", verbose=1).fit(*wine[:2])
        assert "candidates" in capsys.readouterr().out

    def test_random_state_draws_the_parts(self, small):
        fits = [
            KernelClassifier(random_state=s).fit(*small).predict_proba(small[0]) for s in (1, 1, 2)
        ]
        assert np.array_equal(fits[0], fits[1]) and not np.array_equal(fits[0], fits[2])


class TestManners:
    def test_a_refused_fit_changes_nothing(self, fitted, wine):
        model = KernelClassifier(quality="fast").fit(*wine[:2])
        before = dict(model.__dict__)
        with pytest.raises(ValueError, match="1 class"):
            model.fit(wine[0][:, :3], np.zeros(len(wine[0])))
        assert model.__dict__ == before and model.n_features_in_ == 13

    def test_an_interrupted_fit_changes_nothing(self, wine, monkeypatch):
        model = KernelClassifier(quality="fast").fit(*wine[:2])
        before = dict(model.__dict__)

        def interrupt(*args):
            raise KeyboardInterrupt

        monkeypatch.setattr(fit, "cross_validate_all", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(wine[0][:, :4], wine[1])
        assert model.__dict__ == before
        new = KernelClassifier()
        with pytest.raises(KeyboardInterrupt):
            new.fit(*wine[:2])
        with pytest.raises(NotFittedError):
            new.predict(wine[0])

    def test_inputs_are_not_changed(self, small):
        X, y = small
        X[0, 0] = np.nan
        weight, before = np.ones(40), X.copy()
        for array in (X, y, weight):
            array.setflags(write=False)
        KernelClassifier().fit(X, y, sample_weight=weight).predict(X)
        np.testing.assert_array_equal(X, before)

    @pytest.mark.parametrize(
        "parameters, message",
        [
            ({"quality": "good"}, "quality must be 'fast' or 'balanced'"),
            ({"max_members": 0}, "max_members must be a positive integer"),
            ({"time_budget": -1}, "time_budget must be a positive"),
            ({"categorical": "all"}, "must be 'auto', None or a list"),
            ({"categorical": [9]}, "X has 4 columns"),
            ({"column_groups": [0, 1]}, "a dict of names"),
            ({"class_weight": {0: 0.0, 1: 1.0}}, "must be positive"),
            ({"memory_budget": 1000}, "the memory budget is 1 kB"),
        ],
    )
    def test_bad_parameters(self, parameters, message, small):
        with pytest.raises(ValueError, match=message):
            KernelClassifier(**parameters).fit(*small)

    def test_bad_targets(self, small):
        X, y = small
        with pytest.raises(ValueError, match="several labels per row"):
            KernelClassifier(class_weight="balanced").fit(X, np.stack([y, 1 - y], axis=1))
        with pytest.raises(ValueError, match="continuous"):
            KernelClassifier().fit(X, X[:, 0])
        with pytest.raises(ValueError, match="groups has 3 entries"):
            KernelClassifier().fit(X, y, groups=[1, 2, 3])
        X[0, 0] = np.inf
        with pytest.raises(ValueError, match="inf"):
            KernelClassifier().fit(X, y)


@pytest.fixture
def mixed(rng):
    """Numbers, strings with missing entries, booleans; the colour decides, mostly."""
    n = 90
    frame = pd.DataFrame(
        {
            "size": rng.standard_normal(n),
            "colour": rng.choice(["red", "green", "blue"], size=n),
            "ripe": rng.integers(0, 2, size=n).astype(bool),
            "weight": np.exp(rng.standard_normal(n)),
        }
    )
    y = np.where((frame["colour"] == "red") ^ (frame["size"] > 1), "apple", "pear")
    frame.loc[::9, "colour"] = None
    frame.loc[::7, "weight"] = np.nan
    return frame, y


class TestTables:
    def test_frames_of_mixed_columns(self, mixed):
        X, y = mixed
        before = X.copy()
        model = KernelClassifier().fit(X[:60], y[:60])
        assert model.score(X[60:], y[60:]) > 0.8
        assert list(model.feature_names_in_) == list(X.columns)
        assert model.feature_relevance_.shape == (4,)
        assert model.feature_relevance_[[0, 1]].min() > 3 * model.feature_relevance_[[2, 3]].max()
        pd.testing.assert_frame_equal(X, before)
        check_kernel(model.kernel_, X[:12])

    @pytest.mark.parametrize("library", ["polars", "pyarrow"])
    def test_other_frames_agree_with_pandas(self, library, mixed):
        X, y = mixed
        P = KernelClassifier(quality="fast").fit(X, y).predict_proba(X)
        columns = {name: [None if v != v else v for v in X[name].tolist()] for name in X.columns}
        module = optional(library)
        frame = module.DataFrame(columns) if library == "polars" else module.table(columns)
        model = KernelClassifier(quality="fast").fit(frame, y)
        assert list(model.feature_names_in_) == list(X.columns)
        np.testing.assert_allclose(model.predict_proba(frame), P, atol=1e-8)
        np.testing.assert_allclose(
            model.kernel_(frame)[:3, :3], model.kernel_(frame[:3]), atol=1e-8
        )

    def test_pipeline_with_a_vectorizer_of_text_and_dates(self, mixed, rng):
        X, y = mixed
        X = X.assign(when=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(y)), "D"))
        model = make_pipeline(skrub.TableVectorizer(), KernelClassifier(quality="fast"))
        assert model.fit(X, y).score(X, y) > 0.7

    def test_unseen_categories(self, mixed):
        X, y = mixed
        model = KernelClassifier(quality="fast").fit(X, y)
        new = X[:3].assign(colour="violet")
        assert np.isfinite(model.predict_proba(new)).all()

    def test_category_types_agree(self, mixed):
        X, y = mixed
        P = KernelClassifier(quality="fast").fit(X, y).predict_proba(X)
        for form in ("category", "string", object):
            other = X.astype({"colour": form})
            np.testing.assert_allclose(
                KernelClassifier(quality="fast").fit(other, y).predict_proba(other), P, atol=1e-8
            )

    def test_arrays_of_objects(self, mixed):
        X, y = mixed
        P = KernelClassifier(quality="fast").fit(X, y).predict_proba(X)
        objects = X.to_numpy(dtype=object)
        found = KernelClassifier(quality="fast").fit(objects, y).predict_proba(objects)
        assert np.abs(found - P).max() < 0.15  # booleans are numbers here

    def test_named_categories(self, rng):
        X = np.column_stack([rng.integers(0, 6, size=240), rng.standard_normal(240)]).astype(float)
        y = np.isin(X[:, 0], [0, 3, 4]) ^ (rng.uniform(size=240) < 0.1)
        by_number = KernelClassifier(quality="fast").fit(X, y)
        by_level = KernelClassifier(quality="fast", categorical=[0]).fit(X, y)
        assert by_level.loo_log_loss_ < by_number.loo_log_loss_

    def test_frames_of_numbers_are_arrays(self, small):
        X, y = small
        X[3, 2] = np.nan
        P = KernelClassifier(quality="fast").fit(X, y).predict_proba(X)
        frame = pd.DataFrame(X, columns=list("abcd"))
        for form in (frame, frame.astype("Float64"), frame.astype({"a": "Float64"})):
            model = KernelClassifier(quality="fast").fit(form, y)
            np.testing.assert_allclose(model.predict_proba(form), P, atol=1e-8)

    def test_other_columns_get_scikit_learns_sentences(self, mixed):
        X, y = mixed
        model = KernelClassifier(quality="fast").fit(X, y)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X[["colour", "size", "ripe", "weight"]])
        with pytest.raises(ValueError, match="feature names"):
            model.predict(X[["size", "colour", "ripe"]])

    def test_a_missing_label_is_named_by_its_row(self):
        X, y = load_iris(return_X_y=True)
        y = y.astype(float)
        y[7] = np.nan
        with pytest.raises(
            ValueError, match=r"contains NaN: the label of row 7 is missing \(nan\)"
        ):
            KernelClassifier().fit(X, y)

    def test_raw_texts_are_sent_to_a_vectoriser(self):
        texts, y = ["the cat", "a dog", "the bank", "a loan"] * 5, [0, 0, 1, 1] * 5
        for X in (texts, np.array(texts), np.array(texts, dtype=object), pd.Series(texts)):
            with pytest.raises(
                ValueError, match=r"TfidfVectorizer\(\), KernelClassifier.*Spectrum"
            ):
                KernelClassifier().fit(X, y)

    def test_dates_and_free_text_are_refused(self, mixed, rng):
        X, y = mixed
        with pytest.raises(ValueError, match=r"'when' holds dates.*TableVectorizer"):
            KernelClassifier().fit(X.assign(when=pd.Timestamp("2020-01-01")), y)
        words = list("abcdefgh")
        texts = [" ".join(rng.choice(words, size=8)) for _ in y]
        with pytest.raises(ValueError, match=r"'text' holds free text.*TableVectorizer"):
            KernelClassifier().fit(X.assign(text=texts), y)

    def test_only_categories(self, mixed):
        X, y = mixed
        model = KernelClassifier().fit(X[["colour", "ripe"]], y)
        assert {member.view for member in model.members_} <= {"z", "u", "z scaled"}

    def test_missing_numbers_and_useless_columns(self, small):
        X, y = small
        X = np.column_stack([X, X[:, 1], np.ones(40), np.full(40, np.nan)])
        X[::5, 1] = np.nan
        assert KernelClassifier().fit(X, y).score(X, y) > 0.8

    def test_sparse_rows_stay_sparse(self, monkeypatch):
        X, y = load_iris(return_X_y=True)
        n_features = 50_000
        wide = sparse.random(150, n_features - 4, density=1e-4, format="csr", random_state=0)
        S = sparse.hstack([sparse.csr_matrix(X), 0.1 * wide], format="csr")
        toarray = sparse.csr_matrix.toarray

        def guarded(self, *args, **options):
            assert self.shape[1] < n_features, "rows were made dense"
            return toarray(self, *args, **options)

        monkeypatch.setattr(sparse.csr_matrix, "toarray", guarded)
        monkeypatch.setattr(sparse.csr_matrix, "todense", guarded)
        model = KernelClassifier(assess="loo").fit(S[::2], y[::2])
        assert model.score(S[1::2], y[1::2]) > 0.85
        assert model.feature_relevance_.shape == (n_features,)


class TestColumnGroups:
    def test_members_of_groups(self, wine):
        X, y, X_new, y_new = wine
        groups = {"first": [0, 1, 2, 3], "second": np.arange(4, 13)}
        model = KernelClassifier(quality="fast", column_groups=groups).fit(X, y)
        assert any(member.view.startswith("second/") for member in model.members_)
        assert model.score(X_new, y_new) > 0.93

    def test_groups_are_combined_by_weights(self, rng):
        """Thirty columns of noise beside two that tell: the sum weighs the groups."""
        X = rng.standard_normal((80, 32))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        groups = {"two": [0, 1], "noise": range(2, 32)}
        model = KernelClassifier(quality="fast", column_groups=groups).fit(X, y)
        sums = [m for m in model.members_ if hasattr(m.kernel, "kernels")]
        assert len(sums) == 1 and sums[0].view == "z"
        assert all(sums[0].loss <= m.loss for m in model.members_ if m.view == "z")
        assert np.isfinite(model.kernel_(X[:5])).all()

    def test_a_list_of_arrays(self, wine):
        X, y, X_new, _ = wine
        groups = {"view_0": range(4), "view_1": range(4, 13)}
        named = KernelClassifier(quality="fast", column_groups=groups).fit(X, y)
        parts = KernelClassifier(quality="fast").fit([X[:, :4], X[:, 4:]], y)
        expected = named.predict_proba(X_new)
        np.testing.assert_allclose(parts.predict_proba((X_new[:, :4], X_new[:, 4:])), expected)
        with pytest.raises(ValueError, match="Give one of them"):
            clone(named).fit([X[:, :4], X[:, 4:]], y)
        with pytest.raises(ValueError, match="the same rows"):
            KernelClassifier().fit([X[:, :4], X[:5, 4:]], y)


def test_softmax_of_decision_function_is_the_probability_before_it_fades(fitted, wine):
    X = wine[2]
    np.testing.assert_allclose(
        softmax(fitted.decision_function(X)),
        fitted._fitted.ensemble.proba(fitted._table(X)),  # before they fade
        atol=EXACT,
    )


def test_no_kernel_is_evaluated_twice(wine, monkeypatch):
    """Ridge and hinge on one kernel share its values; so do all kernels of a view its distances."""
    from kernel_learn.ensemble import candidates

    seen, evaluate = [], candidates.evaluate_shared

    def counting(kernel, statistics):
        seen.append((repr(kernel), id(statistics)))
        alive.append(statistics)
        return evaluate(kernel, statistics)

    alive = []  # so that no two statistics get one id
    monkeypatch.setattr(candidates, "evaluate_shared", counting)
    KernelClassifier().fit(*wine[:2])
    assert len(seen) == len(set(seen)) > 20
