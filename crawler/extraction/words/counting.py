"""Words and sentences of any script, by their letters alone."""

from __future__ import annotations

import re
from typing import Final

# Scripts without spaces between words: some letters count as one.
_HAN: Final = "\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_THAI: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # and Lao, Burmese, Khmer
WORD: Final = re.compile(rf"[^\W{_HAN}{_THAI}]+|[{_HAN}]{{1,2}}|[{_THAI}]{{1,4}}")
_ENDS: Final = re.compile(r"[.!?…:;。！？।؟۔։።။។]")
_UNENDED: Final = re.compile(rf"[{_THAI}]{{20}}")  # Thai has no sign for its end
_LETTERS: Final = bytes(
    ord("a" if WORD.match(bytes((code,)).decode("cp1252", "replace")) else " ") for code in range(256)
)


def words_in(text: str) -> int:
    """The number of WORDs in *text*: what begins behind a space once all letters are one and all else is a space.

    Western texts so need no object for each word, which takes four times as long.
    """
    try:
        letters = (text.encode() if text.isascii() else text.encode("cp1252")).translate(_LETTERS)
    except UnicodeEncodeError:
        return len(WORD.findall(text))
    return letters.count(b" a") + (letters[:1] == b"a")


def has_sentence(text: str) -> bool:
    """Whether *text* has the end of a sentence, or what may be one."""
    return _ENDS.search(text) is not None or (not text.isascii() and _UNENDED.search(text) is not None)
