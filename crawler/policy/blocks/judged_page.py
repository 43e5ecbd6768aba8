"""A response that may be a block page, and what it says: to robots, to members, to customers. Pure."""

from __future__ import annotations

import re
from typing import Final

from crawler.policy.blocks import incidents
from crawler.policy.blocks.page_shape import asks_code
from crawler.policy.blocks.page_text import any_in, has_tags, spelled_out, width
from crawler.policy.blocks.read_page import ERROR_KEYS, MAX_TEXT, OWN, PRICE, ReadPage
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
    MEMBERS,
    REFUSES,
    REPORTS,
    SORRY,
    TELLS,
    THINGS,
    VENDORS,
    VISITOR,
    WHOLE_SITES,
    WORDS,
    Vendor,
    saying,
    saying_only,
)
from crawler.utils.lazy import cached_property

BRIEF_TEXT: Final = 400  # characters
ARTICLE_TEXT: Final = 250
HEAD_TEXT: Final = 60  # of a page without a heading
BARE_TITLE: Final = 30
MANY_PRICES: Final = 3
FEW_WORDS: Final = 6  # of a server's name and address
# Of labels, those of pictures to choose from are no site's own.
_FIELD: Final = re.compile(rb"""<input\b[^<>]*\btype\s*=\s*["']?text|<label\b(?![^<>]*>\s*<img\b)""", re.IGNORECASE)
_NO_TITLE: Final = re.compile(r"(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:[/?]\S*)?|")  # but the address
_REFUSAL: Final = re.compile(r"\b(?:401|403|429)\b")
_STATUS: Final = re.compile(r"((?:[^\W\d]+\W+|[^\W\d]+){0,3})(40[1356](?:\.\d+)?)((?:\W.{0,50})?)")
_HEADING: Final = re.compile(rb"<h[1-3]\b[^<>]*>([^<]{1,80})<", re.IGNORECASE)
_ENGLISH: Final = re.compile(r"\b(?:the|you|your|this|and|by)\b")
_LETTER: Final = re.compile(r"[^\W\d_]")  # and not the number of a status alone
_STOPS: Final = ("", *"-–—|:.,(·")
_ARTICLE: Final = (b"<article", b"<ARTICLE")


class JudgedPage(ReadPage):
    """One response being weighed: how it speaks of the visitor, and what it has for those it wants."""

    @cached_property
    def told_robots(self) -> tuple[Vendor | None, Vendor | None]:
        """The vendors of the words to a robot in title and text; of such as people read too, if there is no way on."""
        words = saying(self.title), saying(self.spoken)
        if any(words) or self.is_like_servers or (self.is_linked and not self.is_refused):
            return words
        return saying_only(self.title), saying_only(self.spoken)

    @cached_property
    def says(self) -> int:
        """Points for its wording: 2 for words to a robot in title or text, or for a code to copy from a picture; 1 for
        words in both, or a hint on a short page; 1 more if title or headline, and text, hint at it, or the title does
        and the heading refuses, or there is no text. Text without tags has no title that could hint."""
        words = [bool(said) for said in self.told_robots]
        hints = [self.is_short and HINTS.any_in(where) for where in (self.title, self.spoken)]
        headed = hints[1] and not hints[0] and HINTS.any_in(self.headline)
        repeats = hints[1] or self.is_empty or (hints[0] and REFUSES.any_in(self.headline))
        untitled = not self.title and (self.is_data or self.is_empty or has_tags(self.source))
        all_hint = any(hints) and (hints[0] or headed or untitled) and repeats
        shows = self.is_refusal or self.is_case or (self.is_short and asks_code(self.source))
        twice = any(hints) or all(words) or self.is_case or self.is_curt or self.is_denial
        return 2 * (any(words) or shows) + twice + all_hint

    def hinting(self) -> Vendor | None:
        said = f"{self.title} {self.spoken}"
        return next(vendor for vendor in VENDORS if vendor.hints.any_in(said)) if HINTS.any_in(said) else None

    @cached_property
    def heads_refuse(self) -> bool:
        """Whether its title or heading refuses."""
        return any(REFUSES.any_in(where) for where in (self.title, self.headline or self.text[:HEAD_TEXT]))

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
    def _names_visitor(self) -> bool:
        return incidents.names_visitor(self.text[:MAX_TEXT])

    @property
    def is_denial(self) -> bool:
        """Whether its title does nothing but refuse, and its text says so to a robot."""
        return self.told_robots[1] is not None and len(self.title) <= BARE_TITLE and REFUSES.any_in(self.title)

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
        return not is_app and (self.status in OWN or VISITOR.any_in(said) or AGAIN.any_in(said))

    @cached_property
    def is_for_members(self) -> bool:
        """Whether it speaks of what members may do, and not of a whole site, whose visitors need no right."""
        said = f"{self.title} {self.spoken}"
        return MEMBERS.any_in(said) and not WHOLE_SITES.any_in(said)

    @property
    def is_widget(self) -> bool:
        """Whether it has nothing to say but a CAPTCHA, nor a title of its own."""
        return self.is_empty and not self.is_linked and not self.serves and _NO_TITLE.fullmatch(self.title) is not None

    @property
    def _is_test(self) -> bool:
        return self.is_short and self.traced is GENERIC  # traces of a CAPTCHA

    @property
    def is_servers(self) -> bool:
        """Whether it is a server's own error page, or one headed as such, sent as if all were well, or in a language
        other than English."""
        if width(self.text) > BRIEF_TEXT or self.is_linked or self.serves:
            return False
        if self.is_good:
            return self.names_error or _ends_so(self.heading, ERRORS) or self._is_headed_by_status
        return self.is_turned_away and self._is_headed_by_status and not self._is_english

    @property
    def _is_headed_by_status(self) -> bool:
        """Whether its title or a heading is a status that refuses, in any language, and it says nothing to robots."""
        headings = [spelled_out(one.decode("utf-8", "replace").lower()) for one in _HEADING.findall(self.source)]
        return any(_names_status(one, self.text) for one in (self.title, *headings)) and not any(self.told_robots)

    @property
    def names_error(self) -> bool:
        """Whether it begins like a server's own error page."""
        return _ends_so(self.title, ERRORS) if self.title else self.text.startswith(ERRORS)

    @property
    def is_like_servers(self) -> bool:
        """Whether it may be a server's own error page: such begin so, and are in plain English."""
        return self.names_error and self._is_english

    @property
    def _is_english(self) -> bool:
        """Whether it may be in plain English."""
        if any(one.isalpha() and not one.isascii() for one in self.text):
            return False
        return _ENGLISH.search(self.text) is not None or self.text.count(" ") < FEW_WORDS

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

    @cached_property
    def is_aside(self) -> bool:
        """Whether what it says stands below a heading about something else, and its title is about that, too."""
        head = self.heading
        if not _LETTER.search(head) or SORRY.any_in(head):
            return False
        return not any(WORDS.any_in(one) or REFUSES.any_in(one) for one in (self.title, head))

    @cached_property
    def serves(self) -> int:
        """Points for serving visitors: 4 for prices, or a login, sign-up or contact form; 3 for a title that promises
        to tell, or somebody who asks about a refusal; 2 for data, or an article; 1 for machine-readable statements."""
        is_error = len(self.text) <= BRIEF_TEXT and any(self.told_robots) and any_in(ERROR_KEYS, self.text)
        is_data = self.is_data and not is_error
        sells = self.sells and not CONSENT.any_in(self.headline)
        is_own = self.is_case or self.is_refusal or self.is_about_robots  # the first have a number of their own
        tells = not is_own and (self.explains or ASKS.any_in(self.spoken[:MAX_TEXT]) or self.lists_statuses)
        asks = self.has_own_form or len(_FIELD.findall(self.source)) > 1
        is_article = not self.is_refused and self.has_article and not self._is_test
        return 4 * (sells + asks) + 3 * tells + 2 * (is_data + is_article) + self.states_data

    @cached_property
    def has_article(self) -> bool:
        """Whether it has an article, other than a few lines below words that refuse."""
        if not any_in(_ARTICLE, self.source):
            return False
        refuses = self.heads_refuse or WORDS.any_in(self.title) or WORDS.any_in(self.headline)
        return not refuses or b"<time" in self.source or width(self.text) > ARTICLE_TEXT

    @cached_property
    def explains(self) -> bool:
        """Whether its title promises to tell about something, or its heading, if sent as if all were well."""
        heading = self.heading if self.is_good else ""
        return any(where.startswith(TELLS) or EXPLAINS.any_in(where) for where in (self.title, heading))

    @cached_property
    def is_about_robots(self) -> bool:
        """Whether its title and its heading are words to a robot, and it leads nowhere: it may explain itself below."""
        if self.told_robots[0] is None or self.is_linked or self.explains:
            return False
        return saying(self.heading) is not None

    @property
    def lists_statuses(self) -> bool:
        """Whether it says what several statuses mean, as manuals do: a refusal has one."""
        return self.is_good and len(set(_REFUSAL.findall(self.text[:MAX_TEXT]))) > 1

    @cached_property
    def tells(self) -> bool:
        """Whether its title or heading promises to tell about something, or has somebody ask about a refusal."""
        return self.explains or self.lists_statuses or any(ASKS.any_in(one) for one in (self.title, self.headline))

    @property
    def offers(self) -> bool:
        """Whether it sells something, or is an app with its data: a challenge in it is there for later; or it explains
        challenges."""
        if self.explains and not self.refused:
            return True
        prices = len(PRICE.findall(self.text[:MAX_TEXT]))
        if prices >= MANY_PRICES or any(self.told_robots) or self.refused:
            return prices >= MANY_PRICES
        return prices > 0 or (is_mounted(self.source) and carries_data(self.source))


def _names_status(where: str, text: str) -> bool:
    """Whether *where* is the number of a status that refuses: the words beside it say so, or without any the *text*.
    Cars, rooms, roads and flights have such numbers, too."""
    found = _STATUS.fullmatch(where.strip())
    if found is None:
        return False
    before, number, after = found.groups()
    if _LETTER.search(after):
        return REFUSES.any_in(after)
    before = before.replace("http", "")
    if _LETTER.search(before):
        return SORRY.any_in(before) or REFUSES.any_in(before)
    return REFUSES.any_in(text.replace(number, ""))


def _ends_so(title: str, starts: tuple[str, ...]) -> bool:
    """Whether *title* is one of *starts*, or goes on after a stop: it names an error and does not tell about it."""
    if not title.startswith(starts):
        return False
    return any(title.startswith(start) and title[len(start) :].lstrip()[:1] in _STOPS for start in starts)
