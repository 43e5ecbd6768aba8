"""What the structure of a small page shows: its headline, where it leads, what it asks for. Pure."""

from __future__ import annotations

import re
from typing import Final

import re2

from crawler.policy.blocks.page_text import visible_text

HEADLINE_BYTES: Final = 1_024
MOST_PICTURES: Final = 50  # of a page that asks for a code; looking at a hostile one takes 0.3 ms
_HEADING: Final = re.compile(rb"<h1\b", re.IGNORECASE)
_SMALLER_HEADING: Final = re.compile(rb"<h[23]\b", re.IGNORECASE)
_FORM: Final = re.compile(rb"<(?:form|input|button|table|ul|ol|article|footer)\b", re.IGNORECASE)
_END: Final = re.compile(r"[!?。！？…]+|\.(?= |$)")
_LINK: Final = rb"""<a\b[^<>]*\shref\s*+=\s*+["']?+"""
_NOWHERE: Final = rb"""mailto:|tel:|javascript:|#|["'>]"""
# A site's first page, its rules, and where those are sent who are kept out: to whom to write, how to enable scripts.
_HOST: Final = rb"""(?:https?://[^/"'<>\s]{1,80})?/?"""
_PATH: Final = _HOST + rb"(?:[\w-]{1,20}/){0,3}"
_TOP: Final = _HOST + rb"(?:[a-z]{2}(?:[_-][a-z]{2})?/)?(?:index\.\w{1,8}|home)?/?"
_RULES: Final = _PATH + (
    rb"(?:terms|privacy|imprint|impressum|datenschutz|legal|agb|cookie|mentions-l|aviso-l|politica-de|polityka-pry"
    rb"|regulamin|nutzungsb)[\w-]{0,30}(?:\.\w{1,5})?/?"
)
_WRITE: Final = _PATH + rb"(?:contact|support|kontakt)[\w-]{0,30}(?:\.\w{1,5})?/?"
_BESIDE: Final = rb"(?:" + _TOP + rb"|" + _RULES + rb"|" + _WRITE + rb""")["'\s>]"""
_HOME: Final = rb"(?:" + _BESIDE + rb"|https?://(?:www\.)?enable-?javascript\.com)"
_LEADS: Final = re.compile(_LINK + rb"""(?!["'\s]*(?:""" + _NOWHERE + rb"))", re.IGNORECASE)
_LEADS_BEYOND: Final = re.compile(_LINK + rb"""(?!["'\s]*(?:""" + _NOWHERE + rb"|" + _HOME + rb"))", re.IGNORECASE)
_LOGO: Final = re2.compile(rb"(?i)<a\b[^<>]*>\s*<(?:img|svg|picture)\b")
# A link to the first page, back, or to the rules, with its words; by RE2, which reads no place twice.
_WAY: Final = rb"(?:javascript:[^<>\"']*|" + _TOP + rb"|" + _RULES + rb")"
_WAY_HOME: Final = re2.compile(
    rb"""(?i)(<a\b[^<>]*\shref\s*=\s*(?:"\s*"""
    + _WAY
    + rb"""\s*"|'\s*"""
    + _WAY
    + rb"""\s*'|"""
    + _WAY
    + rb""")(?:\s[^<>]*)?>)"""
    rb"[^<]*(?:</?(?:span|i|b|em|strong|button|div)\b[^<>]*>[^<]*){0,6}(</a)"
)
# The address of the page asked for, as refusals show it.
_SHOWN: Final = re2.compile(rb"(?i)<a\b[^<>]*>\s*(https?://[^<>\s]+)\s*</a\s*>")
_RELOADS: Final = re.compile(
    rb"""<meta\b(?=[^<>]{0,200}http-equiv\s*=\s*["']?refresh)[^<>]{0,200}content\s*+=\s*+["']?+\s*+\d{1,3}\s*+["'/>]""",
    re.IGNORECASE,
)
OWN_DATA: Final = (b"application/ld+json", b"itemprop=", b"og:type")
# What every page of a site states, its refusals, too.
_OF_SITE: Final = re.compile(
    rb"""og:type["']?\s[^<>]{0,60}content\s*=\s*["']?website|content\s*=\s*["']?website["']?\s[^<>]{0,60}og:type"""
)
_TYPE: Final = re.compile(rb'"@type"\s*:\s*"(\w+)"')
_SITE_TYPES: Final = frozenset(
    b"Organization Corporation WebSite SearchAction EntryPoint ImageObject ContactPoint PostalAddress".split()
)
# A picture that is made for each visitor, and fields to write into.
_PICTURE: Final = re.compile(
    rb"""<img\b[^<>]{0,300}src\s*=\s*["']?[^"'<>\s]{0,300}(?:captcha|vcode|verif|valid|seccode|auth|\.php|\?|data:image/(?:png|jpe?g|gif))""",
    re.IGNORECASE,
)
# Fields of a login, a sign-up or a letter.
OWN_FORM: Final = re.compile(
    rb"""\btype\s*=\s*["']?(?:password|email|tel)\b|\bname\s*=\s*["']?(?:e-?mail|user(?:name)?|login)\b|<textarea\b""",
    re.IGNORECASE,
)
_FIELD: Final = re.compile(rb"<(?:input|textarea|select)\b[^<>]{0,500}", re.IGNORECASE)
_NOT_WRITTEN: Final = re.compile(
    rb"""type\s*=\s*["']?(?:hidden|submit|button|image|checkbox|radio|reset|search)""", re.IGNORECASE
)


def headline(source: bytes) -> str:
    """The first heading and what follows it up to the end of a sentence, in lower case; "" without a heading."""
    found = _HEADING.search(source) or _SMALLER_HEADING.search(source)
    if found is None:
        return ""
    form = _FORM.search(source, found.end(), found.start() + HEADLINE_BYTES)
    end_at = form.start() if form else found.start() + HEADLINE_BYTES
    text = visible_text(source[found.start() : end_at].decode("utf-8", "replace"))
    end = _END.search(text, len(_heading(source, found) or text))
    return text[: end.start()] if end else text


def heading(source: bytes) -> str:
    """The first heading, in lower case; "" without one."""
    found = _HEADING.search(source) or _SMALLER_HEADING.search(source)
    return "" if found is None else _heading(source, found)


def _heading(source: bytes, found: re.Match[bytes]) -> str:
    at = source.find(b"</h", found.end())
    return visible_text(source[found.start() : at].decode("utf-8", "replace")) if at > 0 else ""


def leads_on(source: bytes) -> bool:
    """Whether it has a link to another page; not one that only leads back to the site's first, as errors and refusals
    have it, unless it stands above a heading in words: a logo says nothing."""
    found = _HEADING.search(source) or _SMALLER_HEADING.search(source)
    at = found.start() if found else 0
    if _LEADS_BEYOND.search(source) is not None:
        return True
    return len(_LEADS.findall(source, 0, at)) > len(_LOGO.findall(source[:at]))


def without_ways_home(source: bytes) -> bytes:
    """*source* without the words of links that every page has, to the site's first one, back, or to its rules; the
    first address that is a link is only shown."""
    return _SHOWN.sub(rb"\1", _WAY_HOME.sub(rb"\1\2", source), 1) if b"</a" in source else source


def reloads(source: bytes) -> bool:
    """Whether it asks to be loaded again after a while."""
    return _RELOADS.search(source) is not None


def asks_code(source: bytes) -> bool:
    """Whether it shows a picture made for this visitor, and has one field to write into and no other."""
    written = fields(source)
    if len(written) != 1 or written[0][:6].lower() != b"<input" or source.lower().count(b"<img") > MOST_PICTURES:
        return False
    return _PICTURE.search(source) is not None


def fields(source: bytes) -> list[bytes]:
    """Its fields to write into or to choose from, without those of a search."""
    return [field[0] for field in _FIELD.finditer(source) if not _NOT_WRITTEN.search(field[0])]


def states_data(source: bytes) -> bool:
    """Whether it states for machines what it is about, other than a website and who runs it."""
    linked, marked, typed = (sign in source for sign in OWN_DATA)
    if marked or (typed and _OF_SITE.search(source) is None):
        return True
    return linked and not _SITE_TYPES.issuperset(_TYPE.findall(source) or (b"",))
