"""The encoding of a page: one of the WHATWG Encoding Standard, not any that Python happens to know.

Python has codecs that are no character sets (rot13, zlib, idna), and some that take minutes for a megabyte (punycode):
a page must not choose them. Labels that the Standard does not name are ignored.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final

from charset_normalizer import from_bytes
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, to_unicode

LONGEST_HEADER: Final = 1_000  # characters of a Content-Type
SAMPLE: Final = 65_536  # bytes of a page that names no encoding; guessing from 9 MB takes 2 s
FEW: Final = 10  # one undecodable byte in so many characters beyond ASCII: UTF-8 with a flaw

# encoding.spec.whatwg.org, 4.2: labels by Python's name for the encoding. Those of `replacement` (ISO-2022-KR, HZ ...)
# and `x-user-defined` are not encodings of text.
_LABELS: Final = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e"
    " iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7"
    " iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8"
    " iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1"
    " iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5"
    " windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601"
    " windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
}
LABELS: Final = {label: name for name, labels in _LABELS.items() for label in labels.split()}
ENCODINGS: Final = frozenset(_LABELS)
_UTF_16: Final = frozenset(("utf-16", "utf-16-be", "utf-16-le"))
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)
# Those of other scripts than Latin: text in one of them is told from the others by its letters.
_OTHER_SCRIPTS: Final = {
    name: name.replace("_r", "-r").replace("_5", "-5")  # as in ENCODINGS
    for name in str.split("cp1251 koi8_r iso8859_5 cp1253 cp1255 cp1256 cp874 gb18030 big5hkscs euc_jp cp932 cp949")
}
_FOREIGN = re.compile(rb"[\x80-\x9f\xa1-\xff]{4,}")  # Latin scripts have single letters beyond ASCII, and spaces (A0)
_ASCII: Final = bytes(range(0x80))
_BOM_STARTS: Final = frozenset((b"\xef", b"\xfe", b"\xff", b"\0"))


def declared(content_type: str | None, body: bytes) -> str | None:
    """The encoding from byte order mark, Content-Type or the page itself, in this order; None if none names one.

    As Python's name, one of ENCODINGS.
    """
    if bom := _bom(body):
        return bom[1]
    return _named_by(content_type) or _named_by_itself(body)


def encoding(content_type: str | None, body: bytes) -> str:
    """The encoding of any *body*: the declared one, else UTF-8 if it is valid or nearly so, else one of its script,
    else Windows-1252."""
    return declared(content_type, body) or _guessed(body)


def correction(content_type: str | None, body: bytes) -> str | None:
    """The encoding for *body* if Scrapy would follow a label that it must not, or miss one; else None."""
    scrapys, ours = http_content_type_encoding(content_type), _named_by(content_type)
    if body[:1] in _BOM_STARTS:  # rare, and costs two searches
        scrapys = read_bom(body)[0] or scrapys
        bom = _bom(body)
        ours = bom[1] if bom else ours
    if ours is None and scrapys is None:
        scrapys, ours = html_body_declared_encoding(body), _named_by_itself(body)
    if ours is None and scrapys is None:  # Scrapy would choose among all of Python's
        return None if body.isascii() else _guessed(body)
    return None if ours == scrapys else ours or encoding(content_type, body)


def decode(body: bytes, content_type: str | None = None) -> str:
    """The text of *body*; undecodable bytes become U+FFFD."""
    if bom := _bom(body):
        return body[len(bom[0]) :].decode(bom[1], "replace")
    return to_unicode(body, encoding(content_type, body))


def as_written(name: str | None) -> str | None:
    """What a declaration of *name* among the bytes themselves means, one of ENCODINGS or None. UTF-16 is UTF-8: the
    declaration could not have been read."""
    if name in _UTF_16:
        return "utf-8"
    return name if name in ENCODINGS else None


def _guessed(body: bytes) -> str:
    """Known weakness: Latin scripts other than Western are taken for Windows-1252."""
    text = body.decode("utf-8", "replace")
    flaws = text.count("\ufffd")
    if not flaws or flaws * FEW < len(text) - len(text.encode("ascii", "ignore")):
        return "utf-8"
    if (first := _FOREIGN.search(body)) is None:
        return "cp1252"
    start = max(body.rfind(b">", 0, first.start()) + 1, first.start() - SAMPLE // 2)
    sample = body[start : start + SAMPLE]
    end = sample.rfind(b"<", first.end() - start) if len(sample) == SAMPLE else -1
    sample = sample[:end] if end >= 0 else sample  # whole characters
    if 2 * sum(map(len, _FOREIGN.findall(sample))) < len(sample.translate(None, _ASCII)):
        return "cp1252"
    best = from_bytes(sample, cp_isolation=list(_OTHER_SCRIPTS)).best()
    return _OTHER_SCRIPTS.get(best.encoding, "cp1252") if best is not None else "cp1252"


def _bom(body: bytes) -> tuple[bytes, str] | None:
    return next((bom for bom in _BOMS if body.startswith(bom[0])), None)


def _named_by(content_type: str | None) -> str | None:
    return _named(content_type) if content_type and len(content_type) <= LONGEST_HEADER else None


@lru_cache(maxsize=256)
def _named(content_type: str) -> str | None:
    parameters = (parameter.partition("=") for parameter in content_type.split(";"))
    label = next((value for name, _, value in parameters if name.strip().lower() == "charset"), "")
    return LABELS.get(label.partition(",")[0].strip(" \t\"'").lower())


def _named_by_itself(body: bytes) -> str | None:
    return as_written(html_body_declared_encoding(body))
