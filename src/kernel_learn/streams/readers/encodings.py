"""How a text file is encoded, and the same text as UTF-8.

UTF-8 if all of its bytes are; UTF-16 and UTF-32 by their first bytes; else the likeliest of the
encodings that spreadsheets write, by charset-normalizer.
"""

import codecs
import io
import re
from typing import IO

UTF8 = "utf-8-sig"
MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LOOKED_AT, PART = 65536, 2**20
ZEROS = 0.3  # share of zero bytes in one half of UTF-16 without a mark
LIKELY = ["cp1252", "cp1250", "cp1251", "shift_jis", "gb18030", "euc_kr", "mac_roman"]
# What Western files hold beside ASCII: letters, mostly one by one between others, and signs.
WESTERN = set(map(chr, range(0xC0, 0x100))) | set("°µ²³¹ªº½¼¾¿¡€£§«»±·®©™ŒœŸŠšŽž")
WESTERN |= set("\xa0\u2018\u2019\u201c\u201d\u2013\u2014\u2026")  # spaces and quotes
ACCENTED = re.compile(r"[^\W\d_a-zA-Z]+")
MOST_ACCENTED = 1.6  # letters in a row, on average; of Cyrillic words there are four and more
# Signs within words and endings that no Western language has, and Central European ones write.
CENTRAL = re.compile(r"[£¥¯¼¾](?=[a-zà-ÿ])|(?<=[a-z])[³¹¿ªº](?=[a-zà-ÿ])|õ(?!e)|ã(?![oe]|\b)")


def find_encoding(stream: IO[bytes]) -> str | None:
    """The encoding of a text; None: it is no text."""
    start = stream.read(LOOKED_AT)
    for mark, name in MARKS:
        if start.startswith(mark):
            return name
    if b"\0" in start:
        return sixteen_bits(start)
    try:
        decoder = codecs.getincrementaldecoder("utf-8")()
        decoder.decode(start)
        while part := stream.read(PART):
            start = part
            decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return guess_encoding(start)
    return UTF8


def sixteen_bits(start: bytes) -> str | None:
    """UTF-16 without a mark: half of the bytes of Latin letters are zero."""
    for name, half in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if half.count(0) > ZEROS * len(half) and start.count(0) == half.count(0):
            return name
    return None


def is_western(text: str) -> bool:
    """Whether bytes that were read as cp1252 make words so."""
    accented = ACCENTED.findall(text)
    is_known = all(letter < "\x80" or letter in WESTERN for letter in set(text))
    return is_known and sum(map(len, accented)) <= MOST_ACCENTED * len(accented)


def guess_encoding(part: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8.

    Of a few letters with accents nothing tells which of two encodings it is: Western ones are
    taken, unless they would stand where no Western word has them.
    """
    text = part.decode("cp1252", errors="replace")
    if is_western(text):
        return "cp1250" if CENTRAL.search(text) else "cp1252"
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise ImportError(
            "A text that is not UTF-8 needs charset-normalizer: install kernel-learn[cli], name "
            "its --encoding, or save it as UTF-8."
        ) from error
    best = from_bytes(part, cp_isolation=LIKELY).best()
    return "cp1252" if best is None else best.encoding


class Recoded(io.RawIOBase):
    """The UTF-8 bytes of a text in another encoding."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(stream, encoding, newline="")
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = self._text.read(len(buffer)).encode("utf-8")
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        self._text.close()
        super().close()


def as_utf8(stream: IO[bytes], encoding: str) -> IO[bytes]:
    """The bytes of the text in UTF-8, perhaps with its mark."""
    if encoding in (UTF8, "utf-8"):
        return stream
    return io.BufferedReader(Recoded(stream, encoding))
