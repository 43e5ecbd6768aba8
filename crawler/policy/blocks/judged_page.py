"""A response that may be a block page, and what speaks for it: marks, words, structure. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from crawler.policy.blocks import incidents
from crawler.policy.blocks.page_shape import (
    OWN_FORM,
    asks_code,
    fields,
    heading,
    headline,
    leads_on,
    reloads,
    states_data,
    without_ways_home,
)
from crawler.policy.blocks.page_text import (
    condensed,
    prose,
    spelled_out,
    unframed,
    unquoted,
    visible_text,
    width,
    without_listings,
)
from crawler.policy.blocks.shells import carries_data, is_mounted
from crawler.policy.blocks.vendors import (
    AGAIN,
    ASKS,
    CONSENT,
    ERRORS,
    EXPLAINS,
    FAULTS,
    GENERIC,
    HINTS,
    MARKS,
    MEMBERS,
    REFUSES,
    REPORTS,
    SORRY,
    TELLS,
    THINGS,
    TRACES,
    VENDORS,
    VISITOR,
    WHOLE_SITES,
    WORDS,
    Vendor,
    saying,
    saying_only,
)
from crawler.policy.endings.response_headers import names_told, values_of
from crawler.utils.lazy import cached_property

MAX_TEXT: Final = 1_500  # characters
SHORT_TEXT: Final = 700
BRIEF_TEXT: Final = 400
NO_TEXT: Final = 40
ARTICLE_TEXT: Final = 250
HEAD_TEXT: Final = 60  # of a page without a heading
BARE_TITLE: Final = 30
NO_PAGE_BYTES: Final = 3_000
MANY_PRICES: Final = 3
LINKED_BYTES: Final = 32_768  # most that is read of a page with more links
# No block page has as many tags, or is as long without its scripts. Of one that is, the text is read in part only: a
# bomb of 1 MB of `<p` would cost a second.
MANY_TAGS: Final = 5_000
MOST_SOURCE: Final = 160_000  # bytes
CROWDED_BYTES: Final = 16_384
STATUSES: Final = frozenset({202, 401, 403, 405, 406, 416, 418, 428, 429, 430, 451, 456, 498, 503, 999})
OWN: Final = frozenset({428, 430, 451, 456, 498, 999})  # statuses that say little but this
TURNED_AWAY: Final = STATUSES - {202, 401, 429, 503}  # not for want of a login, nor for a while
# Of labels, those of pictures to choose from are no site's own.
_FIELD: Final = re.compile(rb"""<input\b[^<>]*\btype\s*=\s*["']?text|<label\b(?![^<>]*>\s*<img\b)""", re.IGNORECASE)
_UNINDEXED: Final = (b"oindex", b"NOINDEX")
# In the text.
_SELLS: Final = re.compile(r"(?:[€$£¥₹₽]|\b(?:eur|usd|gbp|chf))\s?\d|\d\s?(?:€|zł|kč|kr\b|₽|руб|円|元|원|usd|eur)")
_DATA: Final = re.compile(r"\{|\[\s*(?:[\[{\"\]\d-]|true|false|null)")  # and not "[!] Stop"
_ERROR_KEYS: Final = ('"message"', '"error"', '"errors"', '"detail"', '"msg"', '"reason"', '"code"', '"status"')
_NO_TITLE: Final = re.compile(r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:[/?]\S*)?|")  # but the address
_LETTER: Final = re.compile(r"[^\W\d_]")  # and not the number of a status alone
_STOPS: Final = ("", *"-–—|:.,(·")
_ARTICLE: Final = (b"<article", b"<ARTICLE")
UNAVAILABLE: Final = 503  # roads, too


class JudgedPage:
    """One response being weighed; each part is computed on first use. *linked*: it has many links."""

    def __init__(self, status: int, headers: Mapping[Any, Any], body: bytes, title: str, *, linked: bool) -> None:
        self.headers = headers
        self.title = unquoted(title)
        self.is_refused = status in STATUSES and status != UNAVAILABLE
        self._status = status
        self.is_turned_away = status in TURNED_AWAY
        self.is_good = 200 <= status < 300
        self.refused = (status in STATUSES) + (status in OWN)
        self._linked = linked
        self.source = body[:LINKED_BYTES] if linked else without_ways_home(without_listings(condensed(body)))

    def within(self, body: bytes) -> JudgedPage:
        """What this page, of the document *body*, is inside its site's design."""
        return JudgedPage(self._status, self.headers, unframed(body), self.title, linked=False)

    @cached_property
    def marked(self) -> tuple[Vendor, str] | None:
        """The first vendor whose mark the page bears, and the kind of page that it indicates."""
        if not MARKS.any_in(self.source):
            return None
        source = unquoted(self.source.decode("utf-8", "replace"), is_source=True).encode()
        return next(((vendor, kind) for vendor in VENDORS if (kind := vendor.kind(source))), None)

    @cached_property
    def traced(self) -> Vendor | None:
        if not TRACES.any_in(self.source):
            return None
        return next(vendor for vendor in VENDORS if vendor.trace.any_in(self.source))

    def sender(self) -> Vendor | None:
        """The vendor whose header alone says that this is no page."""
        for vendor in VENDORS:
            for name, values in vendor.decisive.items():
                if any(value.decode("latin-1") in values for value in values_of(self.headers, name)):
                    return vendor
        return None

    @cached_property
    def told(self) -> Vendor | None:
        said = list(names_told(self.headers))
        return next((vendor for vendor in VENDORS if any(_any(vendor.told, one) for one in said)), None)

    @cached_property
    def _is_crowded(self) -> bool:
        return len(self.source) > MOST_SOURCE or self.source.count(b"<") > MANY_TAGS

    @cached_property
    def text(self) -> str:
        most = CROWDED_BYTES if self._is_crowded else None
        return spelled_out(visible_text(self.source[:most].decode("utf-8", "replace")))

    @cached_property
    def spoken(self) -> str:
        """Its text in its own words."""
        return self.text if self.is_data else unquoted(self.text)

    @property
    def is_data(self) -> bool:
        """Whether it is JSON, to look at its beginning."""
        return _DATA.match(self.text) is not None

    @cached_property
    def is_bare(self) -> bool:
        return (
            not self._linked and not self._is_crowded and (width(self.text) <= MAX_TEXT or prose(self.text) <= MAX_TEXT)
        )

    @cached_property
    def is_empty(self) -> bool:
        return len(self.text) < NO_TEXT and len(self.source) < NO_PAGE_BYTES

    @cached_property
    def is_short(self) -> bool:
        """Whether the page says little more than one thing."""
        return width(self.text) <= SHORT_TEXT

    @property
    def is_widget(self) -> bool:
        """Whether it has nothing to say but a CAPTCHA, nor a title of its own."""
        return self.is_empty and not self.is_linked and not self.serves and _NO_TITLE.fullmatch(self.title) is not None

    @cached_property
    def is_curt(self) -> bool:
        """Whether its status refuses, and its title or what it tells the visitor does, and there is little else: no
        link, form or number of the site's own."""
        is_brief = self.is_refused and width(self.text) <= BRIEF_TEXT and not self.is_linked and not self.serves
        return is_brief and (HINTS.any_in(self.title) or self._turns_away)

    @property
    def _turns_away(self) -> bool:
        """Whether it is about the visitor, as a status of its own says, too, who is not asked to log in, and neither a
        server's own page nor an app."""
        said = f"{self.title} {self.spoken}"
        if not self.is_turned_away or not self.spoken or self.is_like_servers or self.is_for_members:
            return False
        is_app = is_mounted(self.source) or carries_data(self.source)
        return not is_app and (self._status in OWN or VISITOR.any_in(said) or AGAIN.any_in(said))

    @cached_property
    def is_for_members(self) -> bool:
        """Whether it speaks of what members may do, and not of a whole site, whose visitors need no right."""
        said = f"{self.title} {self.spoken}"
        return MEMBERS.any_in(said) and not WHOLE_SITES.any_in(said)

    @property
    def answers(self) -> bool:
        """Whether it has the keys that APIs give their errors by."""
        return _any(_ERROR_KEYS, self.text)

    @cached_property
    def headline(self) -> str:
        """Its first heading with the sentence that follows it."""
        return unquoted(spelled_out(headline(self.source)))

    @cached_property
    def is_refusal(self) -> bool:
        """Whether it is little but the number of an incident, and its title or heading refuses, or it shows the
        visitor's address, or the number is Akamai's: servers of their own accord give none."""
        if width(self.text) > BRIEF_TEXT:
            return False
        names = incidents.has_number(self.text) and (self.heads_refuse or self._names_visitor)
        return names or incidents.has_edges_number(self.text)

    @property
    def is_case(self) -> bool:
        """Whether its title or heading refuses, and it shows the visitor's address and a number."""
        return self._names_visitor and self.heads_refuse

    @cached_property
    def heads_refuse(self) -> bool:
        """Whether its title or heading refuses."""
        return any(REFUSES.any_in(where) for where in (self.title, self.headline or self.text[:HEAD_TEXT]))

    @cached_property
    def _names_visitor(self) -> bool:
        return incidents.names_visitor(self.text[:MAX_TEXT])

    @property
    def is_servers(self) -> bool:
        """Whether it is a server's own error page, or one headed as such, sent as if all were well."""
        is_brief = width(self.text) <= BRIEF_TEXT and not self.is_linked and not self.serves
        return self.is_good and is_brief and (self.names_error or _ends_so(self._heading, ERRORS))

    @property
    def names_error(self) -> bool:
        """Whether it begins like a server's own error page."""
        return _ends_so(self.title, ERRORS) if self.title else self.text.startswith(ERRORS)

    @property
    def is_like_servers(self) -> bool:
        """Whether it may be a server's own error page: such begin so, and are in plain English."""
        return self.names_error and not any(one.isalpha() and not one.isascii() for one in self.text)

    @cached_property
    def serves(self) -> int:
        """Points for serving visitors: 4 for prices, or a login, sign-up or contact form; 3 for a title that promises
        to tell, or somebody who asks about a refusal; 2 for data, or an article; 1 for machine-readable statements."""
        is_error = len(self.text) <= BRIEF_TEXT and any(self.told_robots) and _any(_ERROR_KEYS, self.text)
        is_data = self.is_data and not is_error
        sells = self.sells and not CONSENT.any_in(self.headline)
        is_own = self.is_case or self.is_refusal  # it has a number of its own
        tells = not is_own and (self.explains or ASKS.any_in(self.spoken[:MAX_TEXT]))
        asks = self.has_own_form or len(_FIELD.findall(self.source)) > 1
        is_article = not self.is_refused and self.has_article and not self._is_test
        return 4 * (sells + asks) + 3 * tells + 2 * (is_data + is_article) + self.states_data

    @cached_property
    def has_own_form(self) -> bool:
        """Whether it has fields of a login, a sign-up or a letter: not one alone for who is kept out to hear more."""
        if OWN_FORM.search(self.source) is None:
            return False
        is_one = len(fields(self.source)) == 1 and b"password" not in self.source
        return not (is_one and (HINTS.any_in(self.headline) or REFUSES.any_in(self.headline)))

    @property
    def sells(self) -> bool:
        """Whether it shows a price."""
        return _SELLS.search(self.text[:MAX_TEXT]) is not None

    @cached_property
    def has_article(self) -> bool:
        """Whether it has an article, other than a few lines below words that refuse."""
        if not _any(_ARTICLE, self.source):
            return False
        refuses = self.heads_refuse or WORDS.any_in(self.title) or WORDS.any_in(self.headline)
        return not refuses or b"<time" in self.source or width(self.text) > ARTICLE_TEXT

    @cached_property
    def states_data(self) -> bool:
        """Whether it states for machines what it is about, other than a website."""
        return states_data(self.source)

    @cached_property
    def explains(self) -> bool:
        """Whether its title promises to tell about something."""
        return self.title.startswith(TELLS) or EXPLAINS.any_in(self.title)

    @cached_property
    def tells(self) -> bool:
        """Whether its title or heading promises to tell about something, or has somebody ask about a refusal."""
        return self.explains or any(ASKS.any_in(one) for one in (self.title, self.headline))

    @property
    def offers(self) -> bool:
        """Whether it sells something, or is an app with its data: a challenge in it is there for later; or it explains
        challenges."""
        if self.explains and not self.refused:
            return True
        prices = len(_SELLS.findall(self.text[:MAX_TEXT]))
        if prices >= MANY_PRICES or any(self.told_robots) or self.refused:
            return prices >= MANY_PRICES
        return prices > 0 or (is_mounted(self.source) and carries_data(self.source))

    @property
    def is_denial(self) -> bool:
        """Whether its title does nothing but refuse, and its text says so to a robot."""
        return self.told_robots[1] is not None and len(self.title) <= BARE_TITLE and REFUSES.any_in(self.title)

    @cached_property
    def is_aside(self) -> bool:
        """Whether what it says stands below a heading about something else, and its title is about that, too."""
        head = self._heading
        if not _LETTER.search(head) or SORRY.any_in(head):
            return False
        return not any(WORDS.any_in(one) or REFUSES.any_in(one) for one in (self.title, head))

    @property
    def _is_test(self) -> bool:
        return self.is_short and self.traced is GENERIC  # traces of a CAPTCHA

    @cached_property
    def _heading(self) -> str:
        return unquoted(spelled_out(heading(self.source)))

    @property
    def is_fault(self) -> bool:
        """Whether it says that the site behind a vendor is down."""
        return FAULTS.any_in(f"{self.title} {self.text}")

    @property
    def is_of_things(self) -> bool:
        """Whether it is about courts, or about roads or videos and not about the visitor's request, browser or network;
        the status of a refusal says that it is."""
        if self.is_refused:
            return False
        said = f"{self.title} {self.text}"
        return REPORTS.any_in(said) or (THINGS.any_in(said) and not VISITOR.any_in(said))

    @property
    def is_unindexed(self) -> bool:
        """Whether it asks not to be indexed."""
        return _any(_UNINDEXED, self.source)

    @property
    def is_linked(self) -> bool:
        """Whether it leads anywhere."""
        return leads_on(self.source)

    @property
    def waits(self) -> bool:
        """Whether it only waits to be loaded again."""
        return reloads(self.source) and not self.is_linked

    @cached_property
    def says(self) -> int:
        """Points for its wording: 2 for words to a robot in title or text, or for a code to copy from a picture; 1 for
        words in both, or a hint on a short page; 1 more if title or headline, and text, hint at it, or the title does
        and the heading refuses, or there is no text."""
        words = [bool(said) for said in self.told_robots]
        hints = [self.is_short and HINTS.any_in(where) for where in (self.title, self.spoken)]
        headed = hints[1] and not hints[0] and HINTS.any_in(self.headline)
        repeats = hints[1] or self.is_empty or (hints[0] and REFUSES.any_in(self.headline))
        all_hint = any(hints) and (hints[0] or headed or not self.title) and repeats
        shows = self.is_refusal or self.is_case or (self.is_short and asks_code(self.source))
        twice = any(hints) or all(words) or self.is_case or self.is_curt or self.is_denial
        return 2 * (any(words) or shows) + twice + all_hint

    @cached_property
    def told_robots(self) -> tuple[Vendor | None, Vendor | None]:
        """The vendors of the words to a robot in title and text; of such as people read too, if there is no way on."""
        words = saying(self.title), saying(self.spoken)
        if any(words) or self.is_like_servers or (self.is_linked and not self.is_refused):
            return words
        return saying_only(self.title), saying_only(self.spoken)

    def hinting(self) -> Vendor | None:
        said = f"{self.title} {self.spoken}"
        return next(vendor for vendor in VENDORS if vendor.hints.any_in(said)) if HINTS.any_in(said) else None


def _any(signs: Iterable[Any], where: Any) -> bool:
    for sign in signs:  # noqa: SIM110 - a generator would take three times as long
        if sign in where:
            return True
    return False


def _ends_so(title: str, starts: tuple[str, ...]) -> bool:
    """Whether *title* is one of *starts*, or goes on after a stop: it names an error and does not tell about it."""
    if not title.startswith(starts):
        return False
    return any(title.startswith(start) and title[len(start) :].lstrip()[:1] in _STOPS for start in starts)
