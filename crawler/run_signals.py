"""Scrapy signals about runs, sent with `run` (crawler.frontier.run_record.Run) and `stats`, the sums of
its workers' stats by name, where RUN_SIGNALS is on.

Each is sent at least once, in the worker that sees it first.
"""

from __future__ import annotations

from typing import Final

run_started: Final = object()
run_finished: Final = object()
run_cancelled: Final = object()
run_failing: Final = object()  # RUN_FAILURE_SHARE of finished requests are dead letters

BY_EVENT: Final = {"start": run_started, "finish": run_finished, "cancel": run_cancelled, "failing": run_failing}
NAMES: Final = {"start": "started", "finish": "finished", "cancel": "cancelled", "failing": "failing"}
