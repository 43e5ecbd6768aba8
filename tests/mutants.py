"""`make mutants`: plants faults in the Lua scripts, one at a time, and shows that the tests find each of them.

A fault that survives is a hole in the tests (or no fault): it is named, and the exit status is 1. `ARGS="runs budgets"`
plants only those in scripts whose name holds one of these words.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test
from scrapy.settings import BaseSettings

from crawler.embedded import ensure
from crawler.frontier.server import scripts
from tests.faults import FAULTS, Mutant
from tests.integration.frontier.test_model import SETTINGS, FrontierMachine
from tests.integration.frontier.test_wire import PACES, disagree, simulate

EXAMPLES = 400
SEEDS = 25
_AGAIN = (  # pytest runs many times in one process, after hypothesis was used
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("-W", "ignore::hypothesis.errors.HypothesisSideeffectWarning"),
)
TESTS = Path(__file__).parent / "integration" / "frontier"


MUTANTS = (
    Mutant("a stale token is good enough", "lib/records", "r[TOKEN] == tokens[i] and r", "r"),
    Mutant("what is dead has no reason", "lib/dead", "count_as(t, 'dead', reason, 1)", "t.dead = t.dead + 1"),
    Mutant("a slot is freed twice", "lib/release", "if r[RELEASED] == 1 then return end", ""),
    Mutant("any report lowers the reservation", "lib/release", "if h[NEXT] == reserved then", "if true then"),
    Mutant("the delay does not count from the wire start", "lib/report", "release(r, wire)", "release(r, nil)"),
    Mutant("a lease reserves nothing", "lease", "if paced then reserve(h, a) end", ""),
    Mutant("a burst is without an end", "lib/hosts", "math.max(at, h[PRIOR] + h[DELAY])", "at"),
    Mutant("a burst is longer by one", "lib/hosts", "local spare = burst(h) - 2", "local spare = burst(h) - 1"),
    Mutant("the cap is not looked at", "lib/hosts", "return h[INFLIGHT] >= width(h)", "return false"),
    Mutant(
        "a reserved slot passes the cap",
        "reserve_slot",
        "if not holds_slot and one[INFLIGHT] >= width(one) then",
        "if false then",
    ),
    Mutant("live workers are reaped after a silence", "reap", "if now < state.resumed + LEASE_MS then return end", ""),
    Mutant("time runs backward", "lib/state", "state.offset = state.clock - now", "state.offset = 0"),
    Mutant("a host at its cap is not called back", "lib/hosts", "  settle_hosts()\n", ""),
    Mutant("a host stays at its cap with room left", "lib/hosts", "elseif not is_full(h) then", "elseif false then"),
    Mutant("who is urgent waits at the end", "lib/queue", "score > last or (score == last and id > last_id)", "true"),
    Mutant("those that belong ahead are leased last", "lib/heads", "    table.sort(heads, goes_before)\n", ""),
    Mutant(
        "a request from ahead is handed out twice",
        "lib/heads",
        "call('ZREMRANGEBYRANK', T .. ':early:' .. place, 0, from_ahead - 1)",
        "",
    ),
    Mutant("an emptied host stays on the list", "lease", "remove_stream(h, stream)", ""),
    Mutant("a refused URL counts as seen", "push", "if room <= 0 then return FULL end", ""),
    Mutant("a split bucket keeps what moved", "lib/seen", "call('SREM', set.prefix .. from, unpack(moving))", ""),
    Mutant(
        "a dead URL is forgotten",
        "lib/dead",
        "call('HINCRBY', T .. ':dead:fp', name, 1)",
        "call('HINCRBY', T .. ':dead:fp', name, 0)",
    ),
    Mutant("what is given back loses its place", "lib/requeue", "r[HOST], score, member", "r[HOST], now, member"),
    Mutant("a delayed retry is dropped", "nack", "delay_until(now + delay", "local _ = (now + delay"),
    Mutant("a retry is charged", "nack", "uncharged(r)", "r[DELIVERIES]"),
    Mutant("a moved request stays with its old queue", "move", "r[STREAM] = stream\n", ""),
    Mutant(
        "a move is charged", "move", "requeue(id, r, uncharged(r), envelope)", "requeue(id, r, r[DELIVERIES], envelope)"
    ),
    Mutant("a move keeps the host's slot", "move", "release_unreported(r)\n", ""),
    Mutant("a delivery is never charged", "lib/start", "math.min(255, r[DELIVERIES] + 1)", "r[DELIVERIES]"),
    Mutant("a poison page is delivered for ever", "reap", "r[DELIVERIES] >= MAX_DELIVERIES", "false"),
    Mutant(
        "a suspect is leased beside others",
        "lease",
        "if leased == 0 then\n",
        "if true then\n",
        ("test_fairness.py",),
    ),
    Mutant("the hard cap is not looked at", "renew", "now - r[STARTED] < HARD_CAP_MS", "true"),
    Mutant("a lease is handed out without its body", "lib/records", "call('HDEL', T .. ':body', unpack(ids))", ""),
    Mutant("429 does not stop the host", "lib/pace_rests", "h[BLOCKED] = math.max(", "local _ = math.max("),
    Mutant("each 429 of a burst doubles the delay", "lib/adapt", "if wire >= h[HURT] then", "if true then"),
    Mutant("an answer of before a complaint counts", "lib/adapt", "if wire < h[HURT] then return end", ""),
    Mutant("a retried complaint counts again", "lib/adapt", "if again ~= 1 then blame", "if true then blame"),
    Mutant("what is known of a limit does not age", "lib/adapt", "60000, 600000", "1e12, 1e12", ("test_pace.py",)),
    Mutant(
        "a floor does not bound what is known of a limit",
        "lib/pace",
        "math.max(math.min(p[PEAK], THROTTLE_MAX_MS), floor_of(h))",
        "math.min(p[PEAK], THROTTLE_MAX_MS)",
        ("test_pace.py",),
    ),
    Mutant(
        "a floor is remembered as what the host allows",
        "lib/adapt",
        "p[PEAK] > 0 then settle_delay(h, p)",
        "p[PEAK] > 0 then learn(h, p)",
        ("test_pace.py",),
    ),
    Mutant(
        "a trial outlives the floor that it began under",
        "lib/pace_trials",
        " or floor_of(h) < p[REF] then",
        " then",
        ("test_pace_over_hours.py",),
    ),
    Mutant("who only complains opens no breaker", "lib/breaker", "complaint and refuses", "false", ("test_pace.py",)),
    Mutant(
        "refusals at any pace are not tolerated",
        "lib/pace_trials",
        "elseif complaints >= ENOUGH and answers >= TRIAL then",
        "elseif false then",
        ("test_pace_over_hours.py",),
    ),
    Mutant("who only complains is not left alone", "lib/pace_rests", "2 ^ math.min(before, 30)", "1"),
    Mutant(
        "the search after a probe makes a shared delay longer",
        "lib/pace_turns",
        "or (shared and p[EVENTS] == PROBED) then",
        "then",
        ("test_pace_over_hours.py",),
    ),
    Mutant(
        "a refused probe makes the delay longer than before",
        "lib/pace_turns",
        "math.min(kept, RAISED * p[PEAK])",
        "kept",
        ("test_pace_over_hours.py",),
    ),
    Mutant(
        "a pair breaks the configured delay",
        "lib/pace_pairs",
        "near(h) < floor_of(h)",
        "false",
        ("test_pace.py",),
    ),
    Mutant(
        "a pair in vain costs the turn",
        "lib/pace_pairs",
        "h[PRIOR] - near(h) + h[DELAY]",
        "0",
        ("test_pace.py",),
    ),
    Mutant("a lease goes although its host pushed back", "lib/start", "not on_wire and is_blocked(r[HOST])", "false"),
    Mutant("a breaker never opens", "lib/breaker", "h[STREAK] <= -BREAKER_FAULTS", "false"),
    Mutant(
        "an opened breaker lets requests through", "lib/breaker", "math.max(h[BLOCKED], math.floor(now + pause))", "0"
    ),
    Mutant("probes go side by side", "lib/hosts", "return h[TRIPS] > 0 and 1 or h[CAP]", "return h[CAP]"),
    Mutant("a probe that fails waits no longer than before", "lib/breaker", "BREAKER_MS * 2 ^ h[TRIPS]", "BREAKER_MS"),
    Mutant("a probe that succeeds closes nothing", "lib/breaker", "  h[TRIPS] = 0\n", ""),
    Mutant("an old answer closes a breaker", "lib/breaker", "if wire < h[TRIPPED] then return NOTED end", ""),
    Mutant("the last rule wins, not the strictest", "lib/rules", "math.max(delay, other_delay)", "other_delay"),
    Mutant("rules end while their worker lives", "lib/rules", "SILENT_MS = 12000", "SILENT_MS = 1500"),
    Mutant("rules outlive their worker", "lib/rules", "SILENT_MS = 12000", "SILENT_MS = 60000"),
    Mutant("a raised delay spares the next request", "lib/rules", "h[NEXT] = h[NEXT] + later", "local _ = later"),
    Mutant("a lease is handed out unstated", "lease", "then return {0} end", "then local _ = 0 end"),
    Mutant(
        "a push changes what workers state",
        "lib/rules",
        "or works_on(h, s.spider) then return end",
        "then local _ = 0 end",
    ),
    Mutant("a host that is given up stays on the list", "host_down", "then unfile(name, stream) end", "then end"),
    Mutant("a host that works again keeps its old term", "host_down", "h[TRIPS] == 1 or not", "not"),
    Mutant("a host is given up at once", "lib/down", "down_for(name) >= GIVE_UP_MS", "down_for(name) >= 0"),
    Mutant("the probe of a dead host is tried for ever", "nack", "envelope and is_given_up(r[HOST])", "false"),
    Mutant("a page is put off no longer than before", "put_off", "2 ^ before", "1"),
    Mutant("what is gone counts as queued still", "gone", "t.done + 1", "t.done"),
    Mutant("what is gone is kept without an end", "lib/dead", "      remove_letter(kind, oldest, {})\n", ""),
    Mutant("a dead letter keeps the body before", "bury", "rewritten(id, ARGV[5], ARGV[6])", "rewritten(id)"),
    Mutant("a step of the clock is taken for time", "lib/state", "57, 4500", "57, 30000"),
    Mutant("a clock that jumped lets a host be hit twice", "lib/hosts", "state.stepped + h[DELAY]", "0 * h[DELAY]"),
)


def killer(server: BaseSettings, replaced: Mapping[str, str], tests: Sequence[str]) -> tuple[str, str] | None:
    """The test that fails on the faulty scripts, and how; None when none does."""
    return failing(tests, replaced) if tests else contradicted(server, replaced)


def failing(tests: Sequence[str], replaced: Mapping[str, str]) -> tuple[str, str] | None:
    """The first of these test files that fails."""
    real = scripts.source
    for name in tests:
        told = io.StringIO()
        with (
            patch.object(scripts, "source", lambda script: replaced.get(script) or real(script)),
            redirect_stdout(told),
        ):
            status = pytest.main(
                [str(TESTS / name), "-q", "-x", "-k", "not cluster", "-p", "no:cacheprovider", *_AGAIN]
            )
        if status:
            return name, told.getvalue()
    return None


def contradicted(server: BaseSettings, replaced: Mapping[str, str]) -> tuple[str, str] | None:
    """The model that contradicts the scripts."""
    for pace in PACES:
        for seed in range(SEEDS):
            try:
                simulate(server, seed, pace, replaced)
            except Exception:  # noqa: BLE001  # a script that fails is a fault found, too
                return "wire", traceback.format_exc()
    for seed in range(SEEDS):
        try:
            disagree(server, seed, replaced)
        except Exception:  # noqa: BLE001
            return "rules", traceback.format_exc()
    machine = type("Mutant", (FrontierMachine,), {"settings": server, "replaced": replaced})
    try:
        run_state_machine_as_test(machine, settings=_QUICK)
    except Exception:  # noqa: BLE001
        return "model", traceback.format_exc()
    return None


_QUICK = settings(
    parent=SETTINGS, max_examples=EXAMPLES, phases=[Phase.generate], verbosity=Verbosity.quiet, print_blob=False
)


def main() -> int:
    """Print one line per fault; 1 when one survives."""
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("words", nargs="*", help="only faults in scripts whose name holds one of these")
    words = parser.parse_args().words
    chosen = [one for one in (*MUTANTS, *FAULTS) if not words or any(word in one.script for word in words)]
    with tempfile.TemporaryDirectory() as directory:
        url = ensure(Path(directory), mongodb=False, preferred_ports=False).redis_url
        server = BaseSettings({"REDIS_URL": url, "REDIS_CLUSTER": False})
        for tests in sorted({one.tests for one in chosen}):
            if failure := killer(server, {}, tests):
                print(f"mutants: the {failure[0]} test fails without any fault: mend that first\n{failure[1]}")
                return 1
        survivors = sum(not is_found(server, mutant) for mutant in chosen)
    print(f"mutants: {len(chosen) - survivors} of {len(chosen)} faults found")
    return 1 if survivors else 0


def is_found(server: BaseSettings, mutant: Mutant) -> bool:
    began = time.monotonic()
    failure = killer(server, mutant.replaced(), mutant.tests)
    found = f"found by {failure[0]}" if failure else "SURVIVES"
    print(f"{mutant.fault:52} {found:30} {time.monotonic() - began:5.1f} s", flush=True)
    return failure is not None


if __name__ == "__main__":
    sys.exit(main())
