"""`scrapy reparse`: runs archived pages through callbacks and pipelines again, without a request."""

from __future__ import annotations

import argparse
import json
import selectors
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from signal import SIGTERM
from time import monotonic
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from crawler.commands.base import FleetCommand, one_spider
from crawler.commands.options import host_name, integer, parse_since
from crawler.commands.terminal import answering, console
from crawler.commands.views.progress_bar import progress_bar
from crawler.commands.views.reparse_report import ReparseReport, show
from crawler.errors import ShoalError
from crawler.replay import counts
from crawler.storage import connection
from crawler.storage.archive.config import ArchiveConfig
from crawler.storage.archive.finishing import finish_left, unlisted
from crawler.storage.archive.index import Index
from crawler.storage.archive.reader import Selection
from crawler.storage.archive.store import STORE_ERRORS, Store, in_words
from crawler.supervision.children import STOP_SECONDS, python_module, spawn, stop
from crawler.supervision.cores import usable_cores
from crawler.utils import tasks

WORKERS_MAX = 64
WORKERS_SENSIBLE = 4
PAGES_PER_WORKER = 500  # roughly parsed in the time a process takes to start
LIMIT_MAX = 1_000_000_000


class Command(FleetCommand, ScrapyCommand):
    """Runs worker processes over the archive and sums up their reports."""

    def syntax(self) -> str:
        return "<spider> [--since TIME] [--host HOST] [--limit N] [--workers N] [--dry-run]"

    def short_desc(self) -> str:
        return "Parse archived pages again, without sending a request"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--since", metavar="TIME", help="only pages fetched since then (2026-01-31, 12h, 7d)")
        parser.add_argument("--host", type=host_name, default="", help="only pages of this host name")
        limit = integer(0, LIMIT_MAX)
        parser.add_argument("--limit", type=limit, default=0, metavar="N", help="at most N pages, the oldest first")
        words = "processes that share the work (default one per core, up to 4)"
        parser.add_argument("--workers", type=integer(1, WORKERS_MAX), metavar="N", help=words)
        parser.add_argument("--dry-run", action="store_true", help="show what would change, write nothing")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Exit status 2 if it cannot start, 1 if a worker or an item failed or pages could not be read."""
        with answering(args):
            spider = one_spider(args)
            self.settings = self.crawler_of(spider).settings
            now = datetime.now(UTC)
            since = parse_since(opts.since, now) if opts.since is not None else None
            chosen = Selection(spider=spider, since=since, until=now, host=opts.host, limit=opts.limit)
            total, damaged = tasks.run(self._count(chosen))
            self.exitcode = 1 if damaged else 0
            for line in damaged:
                print(line, file=sys.stderr)
            if not total:
                print("0 pages match: ARCHIVE_PAGES says which are kept (docs/archive.md)")
                return
            pages = min(total, opts.limit or total)
            workers = opts.workers or sensible_workers(pages, usable_cores())
            jobs = [self._job(chosen, share, workers, opts.dry_run) for share in range(workers)]
            report = run(jobs, pages, self.settings["PROJECT_DIR"])
            show(console(), report, opts.dry_run)
            if report.failed or report.lost:
                self.exitcode = 1
            if report.cut:
                raise KeyboardInterrupt

    async def _count(self, chosen: Selection) -> tuple[int, list[str]]:
        """The number of pages, after indexing what killed workers left on this disk; and the damage found in that."""
        config = ArchiveConfig.from_settings(self.settings)
        store = Store(config)
        async with connection.session(self.settings) as database:
            index = Index(database)
            try:
                damaged = await finish_left(config, index, store)
            except STORE_ERRORS as error:
                raise ShoalError(f"the archive at {store.where} failed: {in_words(error)}") from error
            if files := await unlisted(config, index):
                which = f"archive files in {config.directory} ({len(files)}, such as {files[0]})"
                cure = "end their names in .open, and the next `scrapy reparse` lists their pages"
                print(f"The index of database {database.name} lacks {which}: {cure}", file=sys.stderr)
            return await index.count(chosen.query()), damaged

    def _job(self, chosen: Selection, share: int, shares: int, dry_run: bool) -> dict[str, Any]:
        selection = {
            "spider": chosen.spider,
            "since": chosen.since and chosen.since.isoformat(),
            "until": chosen.until and chosen.until.isoformat(),
            "host": chosen.host,
            "limit": chosen.limit,
            "share": share,
            "shares": shares,
        }
        given = {name: _plain(self.settings[name]) for name in self.settings if self._is_given(name)}
        settings = {"LOG_LEVEL": "WARNING"} | given | {"LOG_ENABLED": True}
        return {"spider": chosen.spider, "selection": selection, "dry_run": dry_run, "settings": settings}

    def _is_given(self, name: str) -> bool:
        return (self.settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"]


def sensible_workers(pages: int, cores: int) -> int:
    """One per core, as parsing is CPU-bound; no more than the database keeps up with, and one for a few pages."""
    return max(1, min(cores, WORKERS_SENSIBLE, pages // PAGES_PER_WORKER))


def run(jobs: Sequence[Mapping[str, Any]], total: int, directory: str) -> ReparseReport:
    """Run all jobs in parallel, with a progress bar on a terminal; returns when the last has ended. Interrupted, they
    finish their started pages."""
    report = ReparseReport()
    began = datetime.now(UTC)
    workers: list[subprocess.Popen[bytes]] = []
    try:
        workers += (_start(job, directory) for job in jobs)
        try:
            _listen(workers, total, report)
        except KeyboardInterrupt:
            report.cut = True
            for worker in workers:
                worker.terminate()
            _listen(workers, total, report, STOP_SECONDS)
            report.left = max(0, total - report.stats[counts.PAGES])
            stop(workers)
        fine = (0, -SIGTERM) if report.cut else (0,)  # one that was still starting
        report.failed = sum(worker.wait() not in fine for worker in workers)
    finally:
        stop(workers)
    report.seconds = (datetime.now(UTC) - began).total_seconds()
    return report


def _listen(
    workers: Sequence[subprocess.Popen[bytes]], total: int, report: ReparseReport, seconds: float = inf
) -> None:
    """Show progress and sum up reports until the last has ended, but no longer than *seconds*."""
    deadline = monotonic() + seconds
    done = [0] * len(workers)
    with progress_bar("reparse", shown=total > 0) as progress, selectors.DefaultSelector() as selector:
        task = progress.add_task("", total=total)
        for number, worker in enumerate(workers):
            assert worker.stdout is not None
            selector.register(worker.stdout, selectors.EVENT_READ, number)
        while selector.get_map() and (rest := deadline - monotonic()) > 0:
            for key, _ in selector.select(None if rest == inf else rest):
                if not (line := key.fileobj.readline()):  # type: ignore[union-attr]
                    selector.unregister(key.fileobj)
                elif (said := _said(line)).get("report"):
                    report.add(said["report"])
                else:
                    done[key.data] = said.get("done", done[key.data])
                    progress.update(task, completed=sum(done))


def _start(job: Mapping[str, Any], directory: str) -> subprocess.Popen[bytes]:
    command = python_module("crawler.replay", directory)
    worker = spawn(command, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdin is not None
    with worker.stdin:
        worker.stdin.write(json.dumps(job, default=str).encode())
    return worker


def _plain(value: Any) -> Any:
    return value.copy_to_dict() if isinstance(value, BaseSettings) else value


def _said(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:  # the spider printed it
        return {}
    return said if isinstance(said, dict) else {}
