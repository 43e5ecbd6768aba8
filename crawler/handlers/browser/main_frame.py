"""What the main frame of a tab does, as Chromium's events of the Page domain tell: it shows a document, has parsed it,
stops short, or asks to go elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.async_api import CDPSession

SCHEMES: Final = frozenset({"http", "https", "data", "blob"})
RESTLESS: Final = 20  # attempts to go elsewhere, each undone by the next one before its request could be intercepted


class MainFrame:
    """Calls *leaves* with the URL that the page asks for again and again, *blank* with the URL of a document that is no
    page, and *cut* when nothing more of its document comes, with what else than a page it has asked for by then."""

    def __init__(self, leaves: Callable[[str], None], blank: Callable[[str], None], cut: Callable[[str], None]) -> None:
        self.frame_id = ""  # until the tab's tree of frames is known
        self.is_shown = False  # at least the beginning of its document
        self._is_parsed = False
        self._attempts = 0  # to go elsewhere
        self._application = ""  # the last URL that only an application opens (intent:, mailto:)
        self._leaves = leaves
        self._blank = blank
        self._cut = cut

    async def watch(self, session: CDPSession) -> None:
        """Follow the events of *session*."""
        session.on("Page.frameRequestedNavigation", self._attempted)
        session.on("Page.frameNavigated", self._shows)
        session.on("Page.domContentEventFired", self._parsed)
        session.on("Page.frameStoppedLoading", self._stopped)
        await session.send("Page.enable")

    def _attempted(self, event: dict[str, Any]) -> None:
        """What comes of an attempt is seen when its request is intercepted, unless the page asks again too soon."""
        if event["frameId"] != self.frame_id:
            return
        if urlsplit(event["url"]).scheme not in {"http", "https"}:
            self._application = event["url"]
        else:
            self._attempts += 1
            if self._attempts >= RESTLESS and event["reason"] != "formSubmissionPost":
                self._leaves(event["url"])

    def _shows(self, event: dict[str, Any]) -> None:
        """That of the page, or one that is none, as after history.back()."""
        frame = event["frame"]
        if frame["id"] == self.frame_id:
            if self.is_shown and urlsplit(frame["url"]).scheme not in SCHEMES:
                self._blank(frame.get("unreachableUrl", frame["url"]))
            self.is_shown = True

    def _parsed(self, _: dict[str, Any]) -> None:
        self._is_parsed = True

    def _stopped(self, event: dict[str, Any]) -> None:
        """Neither the rest of a document that was cut comes, nor of one that stopped its own loading."""
        if event["frameId"] == self.frame_id and self.is_shown and not self._is_parsed:
            self._cut(self._application)
