"""Crawler traps: endless URLs of a site, recognised by their form.

Each rule takes time linear in the URL, and none knows sites, so each has false positives: a crawl can switch off single
rules by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from crawler.utils.caches import cached

SESSION: Final = "session"  # removes the session id from the link and cuts nothing
TRAPS: Final = ("deep_path", "repeating_path", "growing_query", "calendar", SESSION)

DEEPEST: Final = 20  # parts of a path
REPEATS: Final = 3  # of one part or of several, in a row
OCCURRENCES: Final = 3  # of one part anywhere
PARAMETERS: Final = 15  # of one URL, repeated or not
SAME_NAME: Final = 10  # parameters of one name
SAME_PAIR: Final = 3  # of one name and value
MONTHS_AROUND: Final = 13  # of a calendar that are crawled, before and after today
MONTHS_AHEAD: Final = 24  # beyond this a dated path is a calendar, whatever its name
MOST_PAIRS: Final = 500  # of a query examined

# Words for calendars, and their dates.
_CALENDAR: Final = frozenset(
    {"calendar", "kalender", "calendrier", "calendario", "calendari", "kalendar", "kalendarz", "agenda", "schedule"}
    | {"event", "events", "eventi", "eventos", "evenement", "evenements", "evenementen", "termine", "ical"}
    | {"veranstaltung", "veranstaltungen", "month", "monat", "mois", "mes", "mese", "maand", "week", "woche"}
    | {"semaine", "day", "tag", "jour", "dia", "year", "jahr", "annee", "date", "datum"}
)
_DATES: Final = frozenset(
    {"date", "datum", "fecha", "data", "day", "month", "year", "week", "ym", "ymd", "from", "to", "start", "end"}
    | {"since", "until", "monat", "jahr", "mois", "annee", "tag", "ts", "time", "timestamp"}
)
_YEARS: Final = frozenset(("year", "jahr", "annee", "ano", "anno"))
_WORDS = re.compile(r"[a-z]+")
_YEAR_MONTH = re.compile(r"(?<!\d)([12]\d{3})[-/._](0?[1-9]|1[0-2])(?!\d)")
_MONTH_YEAR = re.compile(r"(?<!\d)(0?[1-9]|1[0-2])[-/._]([12]\d{3})(?!\d)")
_COMPACT = re.compile(r"([12]\d{3})(0[1-9]|1[0-2])(?:[0-3]\d)?(?:T\d{4,6}Z?)?")
_ENDING_DATE = re.compile(
    r"/[12]\d{3}[-/._]\d{1,2}(?:[-/._]\d{1,2})?/?$|/\d{1,2}[-/._][12]\d{3}/?$|/[12]\d{3}[01]\d(?:[0-3]\d)?/?$"
)
_DATED_PARTS = re.compile(r"/([12]\d{3})/(0?[1-9]|1[0-2])(?:/[0-3]?\d)?/?$")
_YEAR = re.compile(r"[12]\d{3}")
_SECONDS = re.compile(r"\d{9,10}|\d{12,13}")
_SURE_SESSION = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|asp\.net_sessionid|cfid|cftoken|sessionid|session_id|sessid|oscsid|zenid|xtcsid)",
    re.IGNORECASE,
)
_PERHAPS_SESSION = re.compile(r"(?:sid|session|s_id|sess)", re.IGNORECASE)
_RANDOM = re.compile(r"(?=[^\d]*\d)[\da-z_-]{16,}", re.IGNORECASE)
_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?#;]*+", re.IGNORECASE)
_ASP_PATH = re.compile(r"/\((?:[AFSX]\([\w-]{16,64}\)){1,4}\)(?=/)")

# Addresses of plain characters, with at most two parameters.
_PLAIN = re.compile(
    r"https?://[a-z0-9.-]+(/[A-Za-z0-9._~!$*+,=:@/-]*)?"
    r"(?:\?([A-Za-z0-9_.~-]+)(?:=[A-Za-z0-9_.~-]*)?(?:&([A-Za-z0-9_.~-]+)(?:=[A-Za-z0-9_.~-]*)?)?)?"
).fullmatch
_OF_SESSIONS = re.compile(r"sess|sid|s_id|cfid|cftoken|zenid", re.IGNORECASE).search  # names like those above
_LONGEST_DATE: Final = 12  # at the end of a path


def harmless(url: str) -> bool:
    """Whether no rule can object to *url* and it holds no session id: one look, which is enough for most links.

    False says nothing: ask `without_session` and `trap`.
    """
    if (plain := _PLAIN(url)) is None:
        return False
    path, first, second = plain.groups()
    if path:
        parts = path.strip("/").split("/")
        if len(parts) > 1 and (len(parts) > DEEPEST or len(set(parts)) < len(parts)):
            return False
        if path.rstrip("/")[-1:].isdigit() and _ENDING_DATE.search(path[-_LONGEST_DATE:]):
            return False
    return (first is None or _says_nothing(first)) and (second is None or _says_nothing(second))


@cached(4_096)
def _says_nothing(name: str) -> bool:
    """Whether a parameter's name means neither a session nor a date."""
    return _OF_SESSIONS(name) is None and (_YEARS | _DATES).isdisjoint(_WORDS.findall(name.lower()))


def trap(url: str, rules: Sequence[str], today: date) -> str:
    """Which of *rules* takes *url* for a trap; "" for none. Never raises."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    path = unquote(parts.path)
    segments = [part for part in path.split("/") if part]
    for rule in rules:
        if rule == "deep_path" and len(segments) > DEEPEST:
            return rule
        if rule == "repeating_path" and _repeats(segments[: 3 * DEEPEST]):
            return rule
        if rule == "growing_query" and _grows(parts.query):
            return rule
        if rule == "calendar" and _far(path.lower(), parts.query, today):
            return rule
    return ""


def without_session(url: str) -> str:
    """*url* without its session id: the page is the same for all visitors."""
    head, mark, query = url.partition("?")
    if ";" in head:
        head = _IN_PATH.sub("", head)
    if "/(" in head:
        head = _ASP_PATH.sub("", head)
    if not mark:
        return head
    query, hash_mark, fragment = query.partition("#")
    pairs = query.split("&")
    kept = [pair for pair in pairs if not _is_session(pair)]
    if len(kept) == len(pairs):
        return f"{head}?{query}{hash_mark}{fragment}"
    return head + ("?" + "&".join(kept) if kept else "") + hash_mark + fragment


def _is_session(pair: str) -> bool:
    name, _, value = pair.partition("=")
    if _SURE_SESSION.fullmatch(name):
        return True
    return _PERHAPS_SESSION.fullmatch(name) is not None and _RANDOM.fullmatch(value) is not None


def _repeats(segments: Sequence[str]) -> bool:
    """Numbers may repeat: `/filter/0/0/0` is a page."""
    if len(set(segments)) == len(segments):  # most links
        return False
    counts = Counter(part for part in segments if len(part) > 1 and not part.isdigit())
    if counts and max(counts.values()) >= OCCURRENCES:
        return True
    for length in range(1, len(segments) // 2 + 1):
        run, enough = 0, length * ((REPEATS if length == 1 else 2) - 1)
        for at in range(length, len(segments)):
            run = run + 1 if segments[at] == segments[at - length] else 0
            if run >= enough and not all(part.isdigit() for part in segments[at - length + 1 : at + 1]):
                return True
    return False


def _grows(query: str) -> bool:
    """Whether a parameter keeps repeating, or the URL contains itself."""
    if not query:
        return False
    if "%2525" in query:
        return True
    pairs = _pairs(query)
    if len(pairs) > PARAMETERS:
        return True
    if len(pairs) > 1:
        if max(Counter(name for name, _ in pairs).values()) > SAME_NAME:
            return True
        if max(Counter(pairs).values()) >= SAME_PAIR:
            return True
    return any(_grown(name, unquote(value)) for name, value in pairs if len(value) > len(name))


def _grown(name: str, value: str) -> bool:
    """Whether a value contains its own parameter, or the path repeats itself."""
    if name and (f"?{name}=" in value or f"&{name}=" in value):
        return True
    return value.count("/") >= REPEATS and _repeats([part for part in value.split("/") if part][: 3 * DEEPEST])


def _far(path: str, query: str, today: date) -> bool:
    """Whether it is a calendar page of a month far from *today*."""
    if not query and _YEAR.search(path) is None:  # most links
        return False
    now = 12 * today.year + today.month
    if (ending := _DATED_PARTS.search(path)) and _month(ending[1], ending[2]) > now + MONTHS_AHEAD:
        return True
    pairs = _pairs(query)
    months = _months_of_query(pairs)
    if _ENDING_DATE.search(path):
        months += _months(path[-_LONGEST_DATE:])
    if all(abs(month - now) <= MONTHS_AROUND for month in months):
        return False
    words = set(_WORDS.findall(path)).union(*(_WORDS.findall(name.lower()) for name, _ in pairs))
    return not words.isdisjoint(_CALENDAR)


def _months_of_query(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """The months that a query names, counted from year 0; a year alone counts by its nearer end."""
    months: list[int] = []
    for name, value in pairs:
        names = set(_WORDS.findall(name.lower()))
        if not names.isdisjoint(_YEARS) and len(value) == 4 and value.isascii() and value.isdigit():
            months.append(12 * int(value) + 6)
        elif not names.isdisjoint(_DATES) and len(value) < 40:
            months += _months(value)
    return months


def _months(text: str) -> list[int]:
    found = [_month(match[1], match[2]) for match in _YEAR_MONTH.finditer(text)]
    found += [_month(match[2], match[1]) for match in _MONTH_YEAR.finditer(text)]
    if not found and (compact := _COMPACT.fullmatch(text.rstrip("/").rpartition("/")[2])):
        found.append(_month(compact[1], compact[2]))
    elif not found and _SECONDS.fullmatch(text):
        seconds = int(text) // (1000 if len(text) > 10 else 1)
        found.append(12 * 1970 + seconds // 2_629_746)
    return found


def _month(year: str, month: str) -> int:
    return 12 * int(year) + int(month)


def _pairs(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True)[:MOST_PAIRS]
    except ValueError:
        return []
