"""Pages that are nothing but a script, or lead elsewhere at once: how vendors send their challenges. Pure."""

from __future__ import annotations

import re
from typing import Final

import re2

from crawler.policy.blocks.judged_page import JudgedPage
from crawler.policy.blocks.page_shape import OWN_DATA, fields
from crawler.policy.blocks.page_text import bones
from crawler.policy.blocks.read_page import NO_TEXT
from crawler.policy.blocks.shells import carries_data, is_mounted
from crawler.policy.blocks.vendors import FAMILIES, GENERIC, VENDORS, Vendor

STUB_BYTES: Final = 65_536
STUB_TEXT: Final = 200  # a note for visitors without scripts
MOST_NOTE: Final = 80  # below a heading, that it will go on
MANY_HIDDEN: Final = 50  # names as obfuscators make them
LONG_SCRIPT: Final = 4_096

_SERVED: Final = (b'id="root"', b'id="app"', b"<form", b"<input", b"<button", b"<canvas", b"<article")
_AGAIN: Final = (b"document.cookie", b"location.reload")
# A script that sets a cookie, and goes on with it; obfuscators look both up by name.
_SETS_COOKIE: Final = re2.compile(rb"""\.cookie\s*=[^=]|["']cookie["']""")
_GOES_ON: Final = re2.compile(
    rb"""location\.(?:reload|replace|assign)|location(?:\.href)?\s*=[^=]|["'](?:reload|location|href)["']"""
)
_PASSING: Final = frozenset({"robot", "human", "onward", "wait"})
# What brings or shows more: a game remembers its best score in a cookie, and starts again.
_LOADS: Final = re.compile(
    rb"<(?:(?:script|iframe)\b[^<>]*\ssrc\s*=|(?:img|canvas|video|audio|object|embed)\b)", re.IGNORECASE
)
# A script that fills in a form and sends it; logins and payments that go on by themselves are filled in already.
_FILLS: Final = re2.compile(rb"""\.value\s*=[^=]|["']value["']\]""")
_SUBMITS: Final = re2.compile(rb"""\.submit\(|["']submit["']\]""")
_MORE_THAN_SCRIPT: Final = re.compile(
    rb"<(?!/|!|(?:html|head|title|meta|link|style|script|noscript|body|base|iframe|br|apm_do_not_touch)\b|input\b[^<>]*hidden)[a-z]",
    re.IGNORECASE,
)
_LOADER: Final = re.compile(rb"(?:\s*<script\b(?=[^<>]*\ssrc\s*=)[^<>]*>\s*</script>)+\s*", re.IGNORECASE)
# A redirect, in a script or a tag, to where visitors are checked, or a frame with that.
_DETOUR: Final = re2.compile(
    rb"""(?i)(?:location[^<>;{}]*["']|http-equiv=["']?refresh["']?\s+content=["']?[^"'<>]*(?:url=|;)|<iframe\s[^<>]*src=["']?)[^"'<>\s]*"""
    rb"(?:captcha|challenge(?:[^s]|$)|verification\.|[/_-]verify\b|antispider|anti[-_]?bot|unhuman|human[-_]?verif|robot[-_]?check|/blocked\b|/auth-?wall)"
)
# A script that is named after what it does to visitors.
_CHECKER: Final = re2.compile(
    rb"""(?i)<script\s[^<>]*src=["']?[^"'<>\s]*(?:challenge|anti[-_]?bot|bot[-_]?check|/blocked/)[^"'<>\s]*\.js"""
)
_ASKED: Final = re.compile(
    rb"""<(?:textarea|select|button)\b|<input\b(?![^<>]*\btype\s*=\s*["']?(?:hidden|submit))""", re.IGNORECASE
)
# A proof of work that is sent back.
_WORK: Final = re2.compile(rb"(?i)sha-?256|crypto\.subtle|\bnonce\s*[=:]|difficulty")
_SENT: Final = (b"XMLHttpRequest", b"fetch(")


def sender(page: JudgedPage) -> Vendor | None:
    """The vendor of a page that is nothing but a script; any vendor's, if the script is long, or the page has no title,
    or is not even a document, or the status is a refusal, or it leads to a check, as a tag may, too."""
    source = page.source
    if len(source) > STUB_BYTES or len(page.text) > STUB_TEXT:
        return None
    is_detour = _DETOUR.search(source) is not None
    if not is_detour and b"<script" not in source.lower():
        return None
    frame = bones(source)
    if _MORE_THAN_SCRIPT.search(frame):
        if not _tests_visitors(page, frame, is_detour=is_detour):
            return None
        return next((one for one in page.told_robots if one is not None), GENERIC)
    known = next((one for one in VENDORS if any(_are_in(source, signs) for signs in one.stub)), None)
    if known is not None or any(sign in source for sign in OWN_DATA) or carries_data(source):
        return known
    is_long = len(source) - len(frame) >= LONG_SCRIPT or source.count(b"_0x") > MANY_HIDDEN
    is_nameless = not page.title and (b" src=" in frame or _LOADER.fullmatch(source) is not None)
    is_other = is_long or is_nameless or is_detour or _passes(page)
    return GENERIC if is_other or page.refused or page.is_unindexed else None


def _tests_visitors(page: JudgedPage, frame: bytes, *, is_detour: bool) -> bool:
    """Whether it says nothing and leads to a check, or sends what its scripts worked out; or whether, with no app to
    mount, it loads a check, or its own scripts set a cookie or send a proof of work, and load it again, or hide what
    they do."""
    source = page.source
    if page.is_linked or carries_data(source):
        return False
    works = _WORK.search(source) is not None
    is_detour = is_detour and len(page.text) <= (MOST_NOTE if page.waits or b"http-equiv" in frame else 0)
    if is_detour or (not page.text and _fills_in(source, works=works)) or _passes(page):
        return True
    if is_mounted(source) or any(sign in frame for sign in _SERVED):
        return False
    if _CHECKER.search(source) is not None:
        return True
    if b" src=" in frame:
        return False
    is_sent = works and _AGAIN[1] in source and any(sign in source for sign in _SENT)
    return _are_in(source, _AGAIN) or is_sent or source.count(b"_0x") > MANY_HIDDEN


def _passes(page: JudgedPage) -> bool:
    """Whether it says nothing, or only that one is to wait or may go on, and its own scripts set a cookie and go on
    with it: sites remember a language or a design so, too, below what visitors choose it by."""
    source = page.source
    if len(page.text) > NO_TEXT or _LOADS.search(source) is not None or fields(source):
        return False
    if page.text and FAMILIES.families_in(page.text).isdisjoint(_PASSING):
        return False
    return _SETS_COOKIE.search(source) is not None and _GOES_ON.search(source) is not None


def _fills_in(source: bytes, *, works: bool) -> bool:
    """Whether its scripts send a form that asks the visitor for nothing, with what they found or worked out."""
    if _SUBMITS.search(source) is None or not (works or _FILLS.search(source)):
        return False
    return works or (b"<form" in source.lower() and _ASKED.search(source) is None)


def _are_in(source: bytes, signs: tuple[bytes, ...]) -> bool:
    return all(sign in source for sign in signs)
