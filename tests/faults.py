"""The faults that `make mutants` plants in what the models do not know: control, budgets, page limits, runs, schedules,
sitemaps and counts. Each names the test files that have to find it."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.frontier.server.scripts import source


@dataclass(frozen=True)
class Mutant:
    """One fault: in a script, a text and what it is replaced by; *tests*: files in tests/integration/frontier that
    find it, else the models do."""

    fault: str
    script: str
    old: str
    new: str
    tests: tuple[str, ...] = ()

    def replaced(self) -> dict[str, str]:
        text = source(self.script)
        if self.old not in text:
            raise SystemExit(f"mutants: the script {self.script} no longer holds {self.old!r}: mend tests/faults.py")
        return {self.script: text.replace(self.old, self.new)}


CONTROL = ("test_control.py", "test_laws.py")
BUDGETS = ("test_budgets.py", "test_laws.py")
PAGES = ("test_pages.py", "test_laws.py")
SPENT = ("test_spent_runs.py",)
RUNS = ("test_runs.py", "test_runs_dead.py", "test_runs_plain.py", "test_runs_pushed.py")
SCHEDULES = ("test_schedules.py", "test_leader.py")
SITEMAPS = ("test_sitemaps.py",)
COUNTS = ("test_counts.py",)
SHARES = ("test_shares.py",)
TOTALS = ("test_run_totals.py",)
DAMAGE = ("test_damage.py",)
LOSSES = ("test_losses.py",)

_CANCELLED = " and not is_cancelled("
FAULTS = (
    Mutant("a paused spider is leased from", "lease", "if not is_said('pause', 'spider', ", "if not (nil == ", CONTROL),
    Mutant("a paused host is leased from", "lease", "if is_said('pause', 'host', name) then", "if false then", CONTROL),
    Mutant(
        "a paused run is leased from",
        "lib/admit",
        "or is_said('pause', 'run', run_named(base, generation))",
        "",
        CONTROL,
    ),
    Mutant("a cancelled run is pushed to", "push", "then return CANCELLED end", "then local _ = 0 end", CONTROL),
    Mutant(
        "what is given back is queued again",
        "lib/requeue",
        "if cancel_leased(id, r, envelope) then return end",
        "",
        CONTROL,
    ),
    Mutant("a retry outlives its run", "nack", f"{_CANCELLED}r[STREAM], r[GENERATION])", "", CONTROL),
    Mutant("a move outlives its run", "move", f"{_CANCELLED}stream, r[GENERATION])", "", CONTROL),
    Mutant("what is put off outlives its run", "put_off", "not cancel_leased(ids[i], r, envelope)", "true", CONTROL),
    Mutant(
        "what was delayed is queued again", "lib/delayed", "if is_cancelled(stream, generation)", "if false", CONTROL
    ),
    Mutant(
        "a letter of a cancelled run is retried", "retry_dead", f"{_CANCELLED}letter.stream, generation)", "", CONTROL
    ),
    Mutant("what was cancelled stays known", "lib/drop", "forget(seen_set(stream, generation), envelope)", "", CONTROL),
    Mutant(
        "what was cancelled is not counted",
        "lib/drop",
        "count_as(t, 'dropped', reason, 1)",
        "",
        CONTROL,
    ),
    Mutant(
        "a resumed run stays aside",
        "control_aside",
        "ARGV[1] == 'aside' and not is_said(",
        "false and (",
        CONTROL,
    ),
    Mutant("a pause is for ever", "control", "call('HDEL', T .. ':control', 'pause ' .. ARGV[2])", "0", CONTROL),
    Mutant(
        "what is ahead of its queue is met by no purge",
        "holders",
        "or has_some(call('ZRANGE', ahead, 0, -1))",
        "",
        CONTROL,
    ),
    Mutant("a purged suspect is waited for", "control_sift", "state.suspects = state.suspects - 1", "", CONTROL),
    Mutant(
        "an emptied host is looked at for ever", "control_sift", "then unfile(name, queue) end", "then end", CONTROL
    ),
    Mutant(
        "what changed its tier is counted twice",
        "control_sift",
        "from.accepted, t.accepted = from.accepted - 1, t.accepted + 1",
        "t.accepted = t.accepted + 1",
        CONTROL,
    ),
    Mutant(
        "a purge takes others along",
        "control_sift",
        "left[#left + 1], left[#left + 2] = (struct.unpack('>d', entry)), entry",
        "",
        CONTROL,
    ),
    Mutant("a spent budget is leased from", "lib/budgets", "used[i] >= shares.allow(", "false and (", BUDGETS),
    Mutant("what is given back stays spent", "give_back", "refund_request(r)\n", "", BUDGETS),
    Mutant("what is put back unsent stays spent", "nack", "refund_request(r)\n", "", BUDGETS),
    Mutant("a lost lease keeps its slot", "lib/refile", "    free_slots(name)\n", "", ("test_lost_leases.py",)),
    Mutant("hosts that are filed nowhere are given up", "sweep", "not all_filed() or ", "", DAMAGE),
    Mutant("a time that never comes is waited for", "sweep", "call('ZADD', key, at, member)", "local _ = 0", DAMAGE),
    Mutant("a cut body is believed", "lib/records", "pcall(struct.unpack, 'Bc0Bc0', envelope, 11)", "true", DAMAGE),
    Mutant("a time that is none holds", "lib/seen", "if not value or value ~= value then return true end", "", DAMAGE),
    Mutant("what is no fingerprint is read", "lib/seen", "if #member < 8 then return false end", "", DAMAGE),
    Mutant("a letter needs no parts", "lib/dead", "if ok and is_letter(letter) then", "if ok then", DAMAGE),
    Mutant(
        "a window is for ever once the setting has changed",
        "lib/ack",
        "if envelope and WINDOWS == 1",
        "if envelope and DEDUPE == 'window'",
        ("test_layout.py",),
    ),
    Mutant("older data is taken for new", "lease", "state.born, state.seq, now", "state.born, 0, now", LOSSES),
    Mutant("a pass over all hosts ends with its first page", "sweep", "+ (looks_on() and 1 or 0)", "", DAMAGE),
    Mutant("a line's requests count as lost", "sweep", "if located and", "if false and", ("test_addresses.py",)),
    Mutant("what is reaped unsent stays spent", "reap", "refund_request(r)\n", "", BUDGETS),
    Mutant("what is buried unsent stays spent", "bury", "refund_request(r)\n", "", BUDGETS),
    Mutant("what is dropped unsent stays spent", "skip", "refund_request(r)", "local _ = 0", BUDGETS),
    Mutant("what is put off unsent stays spent", "put_off", "refund_request(r)\n", "", BUDGETS),
    Mutant("what is moved unsent stays spent", "move", "refund_request(r)\n", "", BUDGETS),
    Mutant("what was sent is refunded", "lib/spend", "r[STARTED] > 0 or", "", BUDGETS),
    Mutant(
        "what was leased yesterday is refunded today",
        "lib/spend",
        "terms_of[name].begin <= r[START_BY] - START_MS",
        "true",
        BUDGETS,
    ),
    Mutant("closed hours are open", "lib/budgets", "if opens then return", "if false then return", BUDGETS),
    Mutant(
        "a budget does not renew", "lib/budgets", "while b.stop > 0 and now >= b.stop do", "while false do", BUDGETS
    ),
    Mutant("one lease call overruns a budget", "lease", "math.min(room, requests_left(budgets))", "room", BUDGETS),
    Mutant("a run spends nothing", "lib/admit", "if run then spend(run, 1, 0, 0, 0) end", "", BUDGETS),
    Mutant("bytes are free", "charge", "0, ARGV[i + 3]", "0, 0", BUDGETS),
    Mutant(
        "a budget that nobody states holds",
        "lib/budgets",
        "if t[1] > 0 and t[1] <= now and now >= state.stepped + STATED_MS then return false end",
        "",
        BUDGETS,
    ),
    Mutant("a host has no page limit", "lib/pages", "own.used >= own.most", "false", PAGES),
    Mutant("a run has no page limit", "lib/pages", "all.used >= shares.allow(", "false and (", PAGES),
    Mutant("a leased page is not counted", "lib/admit", "count_page(base, generation, name, 1)", "", PAGES),
    Mutant(
        "a page given back stays counted",
        "lib/requeue",
        "count_page(r[STREAM], r[GENERATION], r[HOST], -1)",
        "",
        PAGES,
    ),
    Mutant("a delayed page stays counted", "nack", "count_page(r[STREAM], r[GENERATION], r[HOST], -1)", "", PAGES),
    Mutant(
        "a retried page stays counted",
        "retry_dead",
        "count_page(letter.stream, generation, letter.host, -1)",
        "",
        PAGES,
    ),
    Mutant(
        "a page over its limit ends nowhere", "lib/pages", "count_cut(tally(stream, generation), reason)", "", PAGES
    ),
    Mutant("what a spent run dropped is not told as cut", "lib/drop", "reason == 'budget'", "false", SPENT),
    Mutant("what is cut is not dropped", "lib/tally", "  count_as(t, 'dropped', reason, 1)\n", "", SPENT),
    Mutant("a request under way keeps no run", "run_budget", "leased = leased + (", "leased = 0 * (", SPENT),
    Mutant("a tier under way keeps no run", "run_budget", "for i = 2, #ARGV do", "for i = 2, 2 do", SPENT),
    Mutant("a spent run takes others along", "control_aside", "== run and reason", "~= '' and reason", SPENT),
    Mutant("who drops a run resumes others", "control_aside", "return run == '' and ", "return ", SPENT),
    Mutant(
        "what a spent run delayed stays", "control_aside", "if run ~= '' then return", "if false then return", SPENT
    ),
    Mutant("what was given back goes unused", "lib/budgets", "60000, 10000", "60000, 900000", SPENT),
    Mutant("a run ends twice", "run_end", "run.state ~= 'sealed' or run.sealed ~= tonumber(ARGV[2])", "false", RUNS),
    Mutant("a run ends that was reopened", "run_end", "or run.sealed ~= tonumber(ARGV[2])", "", RUNS),
    Mutant("a run ends and nobody hears", "run_end", "tell_run(run, run.cancelled and 'cancel' or 'finish')", "", RUNS),
    Mutant("a plain run ends nowhere", "run_end", "if counters ~= '' then", "if false then", RUNS),
    Mutant("a producer opens its run again", "run_open", "known = known and run_of(known)", "known = false", RUNS),
    Mutant("a run is opened over another", "run_open", "run.name == name and not run.cancelled", "false", RUNS),
    Mutant("a cancelled run goes on", "run_cancel", "run.cancelled = run.cancelled or now", "", RUNS),
    Mutant(
        "a cancelled run is reopened",
        "run_seal",
        "run.state == 'sealed' and not run.cancelled",
        "run.state == 'sealed'",
        RUNS,
    ),
    Mutant("a cancel ends another's run", "run_cancel", "run.opened ~= tonumber(ARGV[2])", "false", RUNS),
    Mutant("a push ends another's run", "run_seal", "run.opened ~= tonumber(ARGV[3])", "false", RUNS),
    Mutant("a number that is held is given again", "lib/runs", "number > tonumber(last) then", "false then", RUNS),
    Mutant("a run shares nothing", "run_share", "'shares', ARGV[3])", "'shared', ARGV[3])", RUNS),
    Mutant("a plain run counts the one before", "run_begin", "base = before.counts", "base = ''", RUNS),
    Mutant(
        "each look begins a plain run",
        "run_begin",
        "run.spider == spider and run.generation == generation",
        "false",
        RUNS,
    ),
    Mutant("old letters belong to a new run", "run_since", "now + 1", "0", RUNS),
    Mutant("live runs are forgotten", "lib/runs", "call('SISMEMBER', T .. ':runs:live', id) == 0", "true", RUNS),
    Mutant("failures are told again and again", "run_alarm", "or run.failing", "", RUNS),
    Mutant("everyone looks at once", "runs", "looked <= now and now < looked + ARGV[1]", "false", RUNS),
    Mutant("a retried letter is accepted twice", "lib/tally", "  t.accepted = t.accepted - 1\n", "", RUNS),
    Mutant("a letter outlives its page's success", "lib/dead_again", "    call('HDEL', T .. ':dead', id)\n", "", RUNS),
    Mutant("fingerprints in use are dropped", "sweep", "and not is_used[name])", ")", RUNS),
    Mutant("a run under way is folded away", "sweep", "and not has_run[name] then", "then", RUNS),
    Mutant(
        "an epoch is decided twice",
        "schedule_claim",
        "(call('HGET', cursors, name) or '') ~= ARGV[4]",
        "false",
        SCHEDULES,
    ),
    Mutant(
        "a changed schedule ticks",
        "schedule_claim",
        "call('HGET', T .. ':schedules', name) ~= ARGV[3] or",
        "",
        SCHEDULES,
    ),
    Mutant("who led once decides", "schedule_claim", "if not leads(ARGV[1]) then", "if false then", SCHEDULES),
    Mutant("who led once ends a tick", "tick_save", "if not leads(ARGV[1]) then", "if false then", SCHEDULES),
    Mutant(
        "an ended tick goes on",
        "tick_save",
        "elseif not progress then",
        "elseif false then",
        SCHEDULES,
    ),
    Mutant(
        "a tick goes on behind what is lost",
        "tick_save",
        "elseif progress ~= ARGV[4] then",
        "elseif false then",
        SCHEDULES,
    ),
    Mutant("missed ticks are not counted", "schedule_claim", "tonumber(ARGV[6]) > 0", "false", SCHEDULES),
    Mutant(
        "a changed schedule is overwritten",
        "schedule_put",
        "if (call('HGET', key, name) or '') ~= ARGV[2] then",
        "if false then",
        SCHEDULES,
    ),
    Mutant("schedules are without end", "schedule_put", ">= tonumber(ARGV[5])", ">= 1e9", SCHEDULES),
    Mutant(
        "a removed schedule leaves its cursor",
        "schedule_put",
        "do call('HDEL', T .. of, name) end",
        "do end",
        SCHEDULES,
    ),
    Mutant(
        "what is no schedule is run",
        "schedule_run",
        "call('HEXISTS', T .. ':schedules', ARGV[1]) == 1",
        "true",
        SCHEDULES,
    ),
    Mutant("anyone takes the lead", "lead", "(not token or left == 0 or left > LONGEST_MS)", "true", SCHEDULES),
    Mutant(
        "a new leader has the old token",
        "lead",
        "token = call('HINCRBY', key, 'token', 1)",
        "token = token or 1",
        SCHEDULES,
    ),
    Mutant("a lease of the wrong clock holds", "lead", "or left > LONGEST_MS", "", SCHEDULES),
    Mutant("anyone ends a lead", "resign", "if is_ours then call(", "if true then call(", SCHEDULES),
    Mutant("unchanged sitemaps are skipped unasked", "sitemap", "ARGV[3] == '1' and", "", SITEMAPS),
    Mutant(
        "changed sitemaps are skipped",
        "sitemap",
        "call('HGET', known, digest) == lastmod",
        "call('HGET', known, digest)",
        SITEMAPS,
    ),
    Mutant("sitemaps are without end", "sitemap", "if room <= 0 then", "if false then", SITEMAPS),
    Mutant("a sitemap is read twice", "sitemap", "'NX', 0, digest", "0, digest", SITEMAPS),
    Mutant("a sitemap of another run ends this one", "sitemap", "or call('ZSCORE', run, ARGV[4])", "or 1", SITEMAPS),
    Mutant("the last sitemap is never told", "sitemap", "call('ZCOUNT', run, 0, 0)", "call('ZCARD', run)", SITEMAPS),
    Mutant("answers do not add up", "domains", "(tonumber(known[outcome]) or 0) + count", "count", COUNTS),
    Mutant("who was busy stays it", "domains", "age + math.log(", "math.log(", COUNTS),
    Mutant("one's own answers are forgotten", "domains", "math.exp(math.min(before - age, 700)) + sum", "sum", COUNTS),
    Mutant("domains are without end", "domains", "if surplus > 0 then", "if false then", COUNTS),
    Mutant("answers of idle domains stay", "domains", "call('HDEL', counts, idle[at])", "local _ = at", COUNTS),
    Mutant("fields do not add up", "coverage", "call('HINCRBY', key", "call('HSET', key", COUNTS),
    Mutant("fields are without end", "coverage", "or call('HLEN', key) < MOST_FIELDS", "or true", COUNTS),
    Mutant("fields stay for ever", "coverage", "do call('PEXPIRE', key, ARGV[1]) end", "do end", COUNTS),
    Mutant("cuts do not add up", "cut", "(t[field] or 0) + ARGV[i + 3]", "1", COUNTS),
    Mutant("each shard has the whole limit", "lib/shares", "if SHARDS == 1 or", "if SHARDS > 0 or", SHARES),
    Mutant("nobody asks for a share", "lib/shares", "call('HSET', T .. ':wants'", "local _ = (T", SHARES),
    Mutant(
        "what is dealt adds up", "share_state", "math.max(share[kind], news[kind])", "share[kind] + news[kind]", SHARES
    ),
    Mutant("nothing is given back", "share_state", "if free > 0 then", "if false then", SHARES),
    Mutant("what is used is given back", "share_state", "share[4 + kind] - used[kind]", "share[4 + kind]", SHARES),
    Mutant("the last part stays where it is", "share_state", "math.ceil(free / 2)", "math.floor(free / 2)", SHARES),
    Mutant("shares are dealt twice", "share_deal", "pool - known[kind] + known[4 + kind]", "pool", SHARES),
    Mutant("those that want share nothing", "share_deal", "#wanting - i + 1", "1e9", SHARES),
    Mutant("a repeated call counts twice", "run_stats", "before >= tonumber(ARGV[2])", "false", TOTALS),
    Mutant("stats do not add up", "run_stats", "how == 'sum' and old + new or", "", TOTALS),
    Mutant("the last value is not kept", "run_stats", "or how == 'last'", "", TOTALS),
    Mutant("stats are without end", "run_stats", "or call('HLEN', key) < MOST_STATS", "or true", TOTALS),
    Mutant("stats of no run are kept", "run_stats", "and is_known(ARGV[i])", "", TOTALS),
    Mutant("a worker's news are not dated", "run_stats", "string.format('%.0f', now)", "'0'", TOTALS),
    Mutant("stats outlive their run", "lib/runs", "call('DEL', T .. ':stats:' .. id)\n      over", "over", TOTALS),
    Mutant("a run ends under a lease", "run_end", "(tonumber(run.asked) or 0) ~= tonumber(ARGV[5])", "false", RUNS),
    Mutant(
        "an old lease begins a run", "run_begin", "~= generation then return '' end", "== '' then return '' end", RUNS
    ),
)
