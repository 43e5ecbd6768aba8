"""HTML of the main text as Markdown, and without escapes that change nothing but what a reader sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

MAX_HTML: Final = 1_000_000  # characters that are converted

# No character of a text: right behind <br> the library takes an element, and all that follows, out of its item.
LINE: Final = "\ufdd0"
LONGEST_LINE: Final = 10_000  # characters of a line that is looked through for escapes

_CONTROLS: Final = bytes((*range(9), *range(14, 32)))  # a few dozen are "binary data", which the library refuses
_FENCE = re.compile(r"[ ]*(?:(?:[-*+>]|\d{1,9}[.)])[ ]++)*+(`{3,})")
_MARKERS = re.compile(r"[ ]*(?:(?:[-*+>]|\d{1,9}[.)])[ ]+)*+(?:\d{1,9}\\[.)](?=[ ]|$)|\\[-+=#>~])?+")
# A sign that means something at the start of a line only, `_` in a word, an escape that stays, or code.
_ESCAPED = re.compile(
    r"\\([-+=>.)]|#(?=\w)|&(?!#?\w{1,40};))|\\(?<=[^\W_]\\)(_(?:\\_)*+)(?=[^\W_])|\\.|(?<!`)(`++)(?!`).+?(?<!`)\3(?!`)"
)


def markdown(html: str) -> str:
    """Empty for more than MAX_HTML."""
    import html_to_markdown  # a 10 MB library that a product crawl does not need

    if not html or len(html) > MAX_HTML:
        return ""
    plain = html.encode("utf-8", "replace").translate(None, _CONTROLS).decode()  # also without lone surrogates
    result: Any = html_to_markdown.convert(plain, _options())
    content = str(result.content or "").strip()
    content = content.replace(f"!{LINE}", "\\!").replace(LINE, "")
    return "\n".join(_lines(content)) if "\\" in content else content


@cache
def _options() -> Any:
    import html_to_markdown

    return html_to_markdown.ConversionOptions(
        escape_misc=True,
        escape_asterisks=True,
        escape_underscores=True,
        sup_symbol="<sup>",
        sub_symbol="<sub>",
        br_in_tables=True,
        compact_tables=True,  # a model reads each space, too
        keep_inline_images_in=["h1", "h2", "h3", "h4", "h5", "h6"],
        extract_metadata=False,
    )


def _lines(content: str) -> Iterator[str]:
    """Its lines; in code nothing is escaped."""
    fence = ""
    for line in content.split("\n"):
        if "```" in line and (found := _FENCE.match(line)):
            if not fence:
                fence = found[1]
            elif line.strip("> ") == fence:
                fence = ""
        yield line if fence or "\\" not in line or len(line) > LONGEST_LINE else _plain(line)


def _plain(line: str) -> str:
    end: int = _MARKERS.match(line).end()  # type: ignore[union-attr]  # it matches nothing, too
    return line[:end] + _ESCAPED.sub(_needed, line[end:])


def _needed(found: re.Match[str]) -> str:
    return found[1] or (found[2] or "").replace("\\", "") or found[0]
