"""Chromium as a process: which one, with which flags, how much memory it uses, and how to kill it reliably."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Self, cast

from playwright._impl import transport
from playwright.async_api import Browser, CDPSession, Error, Playwright, async_playwright
from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError

CANDIDATES: Final = ("chromium", "chromium-headless-shell")
PLAYWRIGHTS_OWN: Final = "chromium*/chrome-*/*"  # below Playwright's cache
RESOURCES: Final = frozenset({"image", "media", "font", "stylesheet", "script", "xhr", "fetch", "manifest"})
MEGABYTE: Final = 1024 * 1024
LAUNCH_SECONDS: Final = 30.0
END_SECONDS: Final = 5.0  # for a browser to exit by itself
AT_ONCE: Final = "kPrefetchSchedulerTestingActiveSetSizeLimit"
# Of two switches of one name Chromium takes the last: those of Playwright's chromiumSwitches.ts are in ours again.
PLAYWRIGHT_DISABLES: Final = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
PLAYWRIGHT_ENABLES: Final = ("CDPScreenshotNewSurface", "SkipListAccountsWithoutGaiaCookies")
DISABLED: Final = (
    *PLAYWRIGHT_DISABLES,
    # Each window loads two pages for the popup of its address bar, with 400 scripts: two thirds of a page's CPU.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "FetchLaterAPI",
)
ENABLED: Final = (
    *PLAYWRIGHT_ENABLES,
    # Documents that a page expects to be next (speculation rules), and which nothing else intercepts: none at a time.
    f"PrefetchSchedulerTesting:{AT_ONCE}ForBase/0/{AT_ONCE}ForBurst/0",
)
FLAGS: Final = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--dns-prefetch-disable",
    # Nothing bypasses the proxy: the browser resolves no names and sends no UDP (WebRTC).
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-shared-workers",
    f"--disable-features={','.join(DISABLED)}",
    f"--enable-features={','.join(ENABLED)}",
)


@dataclass(frozen=True, slots=True)
class BrowserConfig:
    """The BROWSER_ settings."""

    executable: str
    concurrency: int  # pages open at once
    pages: int  # until the browser is replaced
    memory_bytes: int  # a browser that uses more is replaced too
    context_pages: int
    context_seconds: float
    idle_seconds: float
    check_seconds: float
    connection_bytes: int
    page_requests: int
    blocked: frozenset[str]

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Raises ConfigError, also if no Chromium is found."""
        return cls(
            executable=find(str(settings.get("BROWSER_EXECUTABLE") or "")),
            concurrency=config.integer(settings, "BROWSER_CONCURRENCY"),
            pages=config.integer(settings, "BROWSER_MAX_PAGES"),
            memory_bytes=config.integer(settings, "BROWSER_MEMORY_MB") * MEGABYTE,
            context_pages=config.integer(settings, "BROWSER_CONTEXT_PAGES"),
            context_seconds=config.number(settings, "BROWSER_CONTEXT_SECONDS"),
            idle_seconds=config.number(settings, "BROWSER_SETTLE_SECONDS"),
            check_seconds=config.number(settings, "BROWSER_CHECK_SECONDS"),
            connection_bytes=config.integer(settings, "BROWSER_CONNECTION_MAX_MB") * MEGABYTE,
            page_requests=config.integer(settings, "BROWSER_PAGE_REQUESTS"),
            blocked=_blocked(settings.get("BROWSER_BLOCKED_RESOURCES")),
        )


def find(named: str) -> str:
    """The path of the Chromium to start: the *named* one, else Debian's, else Playwright's own; raises ConfigError."""
    if named:
        if path := shutil.which(named):
            return path
        raise ConfigError("BROWSER_EXECUTABLE", named, "the path or name of a Chromium, or empty to search for one")
    for candidate in CANDIDATES:
        if path := shutil.which(candidate):
            return path
    found = sorted((Path.home() / ".cache/ms-playwright").glob(PLAYWRIGHTS_OWN))
    for own in reversed(found):
        if own.name in {"chrome", "headless_shell", "chrome-headless-shell"}:
            return str(own)
    allowed = "a Chromium: install Debian's `chromium`, run `playwright install chromium`, or set the path of one"
    raise ConfigError("BROWSER_EXECUTABLE", named, allowed)


class Chromium:
    """One browser after another, each with its own Playwright, because the driver's memory grows too."""

    def __init__(self, executable: str) -> None:
        self._executable = executable
        self._playwright: Playwright | None = None
        self._session: CDPSession | None = None
        self._pid: int | None = None
        self._driver: int | None = None

    async def launch(self, proxy_url: str) -> Browser:
        """Start a browser that can only reach the proxy."""
        _set_apart()
        async with asyncio.timeout(LAUNCH_SECONDS):
            self._playwright = await async_playwright().start()
            browser = await self._playwright.chromium.launch(
                executable_path=self._executable,
                headless=True,
                chromium_sandbox=os.geteuid() != 0,  # it does not start with one as root
                proxy={"server": proxy_url, "bypass": "<-loopback>"},  # loopback too goes through it
                args=list(FLAGS),
                # Popups of a page have no turn; 200,000 changes of the history in a row would hang browser and worker.
                ignore_default_args=["--disable-popup-blocking", "--disable-ipc-flooding-protection"],
                handle_sigint=False,  # a worker that drains still needs it
                handle_sigterm=False,
                handle_sighup=False,
            )
            self._session = await browser.new_browser_cdp_session()
            self._pid = next(one["id"] for one in await self._processes() if one["type"] == "browser")
            self._driver = parent(self._pid)
        return browser

    async def memory(self) -> int:
        """Private memory of its processes in bytes; raises Playwright's Error or TimeoutError if it hangs."""
        async with asyncio.timeout(END_SECONDS):
            processes = await self._processes()
        return sum(private_bytes(one["id"]) for one in processes)

    async def close(self) -> None:
        """End browser and driver, whatever state they are in."""
        playwright, self._playwright, self._session = self._playwright, None, None
        driver, self._driver = self._driver, None
        if playwright is not None:
            with suppress(Error):  # it is gone
                await _end(playwright, driver)
        self.kill()

    def kill(self) -> None:
        """End the browser now."""
        pid, self._pid = self._pid, None
        _kill(pid)

    async def _processes(self) -> list[dict[str, Any]]:
        if self._session is None:
            raise Error("no browser runs")
        found = await self._session.send("SystemInfo.getProcessInfo")
        return cast("list[dict[str, Any]]", found["processInfo"])


def _set_apart() -> None:
    """Have Playwright start its driver in a session of its own: a signal to the worker's process group (Ctrl-C, a
    supervisor) would end it under pages that the worker still finishes, each with a traceback.

    Known weakness: systemd's KillMode=control-group signals each process by itself; KillMode=mixed does not.
    """
    apart = partial(asyncio.create_subprocess_exec, start_new_session=True)
    vars(transport)["asyncio"] = SimpleNamespace(**vars(asyncio) | {"create_subprocess_exec": apart})


def parent(pid: int) -> int | None:
    """The process that has started *pid*; None if it is gone or there is no /proc."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[1])
    except OSError:
        return None


async def _end(playwright: Playwright, driver: int | None) -> None:
    try:
        async with asyncio.timeout(END_SECONDS):
            await playwright.stop()  # the driver ends the browser too
    except TimeoutError:
        _kill(driver)


def _kill(pid: int | None) -> None:
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def private_bytes(pid: int) -> int:
    """Resident private memory of *pid* in bytes; 0 if it is gone or there is no /proc."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def _blocked(value: object) -> frozenset[str]:
    types = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(types, (list, tuple, set, frozenset)) or not RESOURCES.issuperset(filter(None, types)):
        raise ConfigError("BROWSER_BLOCKED_RESOURCES", value, "any of " + ", ".join(sorted(RESOURCES)))
    return frozenset(filter(None, types))
