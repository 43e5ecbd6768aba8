"""`scrapy push` from files of every kind: packed, CSV, on S3; what is refused is kept, and a dry run pushes none."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from backports import zstd
from moto.server import ThreadedMotoServer
from obstore.store import S3Store

from tests.crawling import Fleet, open_frontier, options

URLS = [f"http://a.example/{number}" for number in range(2_000)]
TEXT = "\n".join(URLS).encode()


def push(fleet: Fleet, *args: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    given = options({"FRONTIER_KEY": fleet.key, "DOWNLOAD_DELAY": 0})
    done = fleet.runner.run("push", "products", *map(str, args), *given, env=env)
    assert "Traceback" not in done.stderr
    return done


async def queued(fleet: Fleet) -> int:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        return (await frontier.inspection.stats()).total.queued


async def test_packed_files_csv_and_plain_ones_in_one_go(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / "b").write_bytes(zstd.compress(TEXT + b"\nhttp://b.example/1\nhttp://b.example/p?b=1&a=2"))
    done = push(fleet, tmp_path / "a.gz", tmp_path / "b", "http://b.example/p?a=2&b=1#x", "http://b.example:80/1")
    assert done.stdout.startswith("2002 pushed to products, 2002 known already")
    (tmp_path / "c.csv").write_text("name;link\none;http://c.example/1\n")
    assert push(fleet, tmp_path / "c.csv", "--column", "link").stdout.startswith("1 pushed to products")
    assert await queued(fleet) == 2_003


@pytest.fixture
def bucket() -> Iterator[dict[str, str]]:
    """The environment in which one is found."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    access = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
    env = access | {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ALLOW_HTTP": "true"}
    store = S3Store("seeds", config=env)  # type: ignore[arg-type]
    subprocess.run(["curl", "-sfX", "PUT", f"http://{host}:{port}/seeds"], check=True)
    obstore.put(store, "2026/urls.txt.gz", gzip.compress(TEXT))
    yield env
    server.stop()


async def test_an_object_of_s3(fleet: Fleet, bucket: dict[str, str]) -> None:
    done = push(fleet, "s3://seeds/2026/urls.txt.gz", **bucket)
    assert (done.returncode, done.stdout.partition(" (")[0].strip()) == (0, "2000 pushed to products")
    done = push(fleet, "s3://seeds/2026/none", "s3://seeds", **bucket)
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("'s3://seeds/2026/none' cannot be read (")
    assert second == "'s3://seeds' cannot be read (expected s3://bucket/key)"
    assert await queued(fleet) == 2_000


async def test_a_dry_run_names_what_is_bad_and_pushes_nothing(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_bytes(TEXT + b"\nftp://a.example/\nhttp://b.example/")
    done = push(fleet, tmp_path / "urls.txt", "--dry-run")
    assert done.returncode == 2
    assert done.stdout == "dry run: 2001 would be pushed to products, of 2 hosts, 1 refused\n"
    assert done.stderr.startswith(f"{tmp_path}/urls.txt:2001: unknown scheme 'ftp'")
    assert await queued(fleet) == 0


async def test_a_misspelt_name_opens_no_run(fleet: Fleet, tmp_path: Path) -> None:
    """Nor does an empty file; hooks would tell of the run's begin and end."""
    (tmp_path / "empty").touch()
    done = push(fleet, tmp_path / "urls.tx", tmp_path / "empty")
    assert (done.returncode, done.stdout) == (2, "0 pushed to products, 1 refused\n")
    assert "urls.tx' is neither a URL" in done.stderr
    done = push(fleet, tmp_path / "empty")
    assert (done.returncode, done.stdout) == (0, "0 pushed to products: nothing was there to be pushed\n")
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        assert await frontier.runs.find() == []


async def test_lines_that_are_all_refused_open_no_run(fleet: Fleet, tmp_path: Path) -> None:
    """Those before the first good one are refused once each, and counted with their own numbers."""
    scope = '{"exclude": ["/no"]}'
    bad = tmp_path / "bad.txt"
    bad.write_text("ftp://a.example/\n\n{\nhttp://a.example/no\n")
    done = push(fleet, "ftp://b.example/", bad, "--scope", scope)
    assert (done.returncode, done.stdout) == (2, "0 pushed to products, 4 refused\n")
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        "argument",
        f"{bad}:1",
        f"{bad}:3",
        f"{bad}:4",
    ]
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        assert await frontier.runs.find() == []
    again = '{"url": "http://a.example/yes", "dont_filter": true}'
    done = push(fleet, "ftp://b.example/", bad, again, "--scope", scope)
    assert (done.returncode, done.stdout.partition(" (")[0]) == (2, "1 pushed to products, 4 refused")
    assert len(done.stderr.splitlines()) == 4
    (run_id,) = re.findall(r"run (\S+)\)", done.stdout)
    done = push(fleet, "ftp://b.example/", bad, again, "--run", run_id)
    assert done.stdout.startswith("0 pushed to products, 1 known already"), "it is the same message of the same run"


async def test_what_is_refused_is_kept_with_its_line(fleet: Fleet, tmp_path: Path) -> None:
    bad = ["ftp://a.example/", "http://user:secret@/", "{", "http://a.example/caf\udce9"]
    source, rejects = tmp_path / "urls.txt", tmp_path / "rejects.jsonl"
    lines = [line for text in bad * 5 for line in (text, f"http://a.example/{len(text)}")]
    source.write_text("\n".join(lines), errors="surrogateescape")
    done = push(fleet, source, "missing.txt", "--rejects", rejects)
    assert done.returncode == 2
    kept = [json.loads(line) for line in rejects.read_text().splitlines()]
    assert [(one["source"], one["line"]) for one in kept] == [
        *((str(source), 2 * number + 1) for number in range(20)),
        ("missing.txt", 0),
    ]
    assert [one["text"] for one in kept[:4]] == [bad[0], "http://***@/", "{", "http://a.example/caf\\udce9"]
    assert "secret" not in rejects.read_text() + done.stderr
    assert done.stderr.splitlines()[10:] == [f"... and more, which are counted: all are in {rejects}"]


def test_a_file_of_nothing_but_mistakes_does_not_flood_the_terminal(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("nonsense\n" * 1_500)
    done = push(fleet, tmp_path / "urls.txt")
    assert done.stdout.partition(" (")[0].strip() == "0 pushed to products, 1500 refused"
    assert done.stderr.splitlines()[1_000:] == ["... and more, which are counted: --rejects FILE keeps all of them"]


@pytest.mark.parametrize(
    ("rejects", "words"),
    [("{source}", "is a source of this push: name another file"), ("/none/x", "cannot be written (No such file")],
)
async def test_a_file_for_rejects_that_cannot_be_is_one_line(
    fleet: Fleet, tmp_path: Path, rejects: str, words: str
) -> None:
    source = tmp_path / "urls.txt"
    source.write_bytes(TEXT)
    done = push(fleet, source, "--rejects", rejects.format(source=source))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert words in done.stderr
    assert source.read_bytes() == TEXT
    assert await queued(fleet) == 0


async def test_a_push_that_finds_no_room_stops_and_says_where(fleet: Fleet, tmp_path: Path) -> None:
    source = tmp_path / "urls.txt"
    source.write_text("".join(f"http://a.example/{number:0100}\n" for number in range(20_000)))
    done = push(fleet, source, "-s", "FRONTIER_QUEUE_LIMIT=300", "-s", "FRONTIER_QUEUE_HIGH_WATER=300")
    assert done.returncode == 2
    stopped, refused = done.stderr.splitlines()
    assert stopped.startswith(f"stopped at {source}:")
    assert stopped.endswith("push the same again when there is room; what is known is not pushed twice")
    assert "messages: the frontier takes no more (refused/full)" in refused
    assert await queued(fleet) == 300


async def runs(fleet: Fleet) -> list[tuple[str, int]]:
    async with open_frontier(fleet.redis_url, fleet.key) as frontier:
        return [(run.state, run.counts.accepted) for run in await frontier.runs.find()]


async def test_a_push_that_found_no_room_goes_on_in_its_run(fleet: Fleet, tmp_path: Path) -> None:
    how = ["--recrawl"]
    source = tmp_path / "urls.jsonl"
    source.write_text("".join(json.dumps({"url": url, "dont_filter": True}) + "\n" for url in URLS[:700] * 2))
    push(fleet, source, *how, "-s", "FRONTIER_QUEUE_LIMIT=300", "-s", "FRONTIER_QUEUE_HIGH_WATER=300")
    assert await runs(fleet) == [("open", 300)]
    done = push(fleet, source, *how)
    assert done.stdout.startswith("1100 pushed to products, 300 known already")
    assert await runs(fleet) == [("sealed", 1_400)]
    source.write_text(source.read_text() + "\n")  # another file: another push
    refused = push(fleet, source, *how)
    assert await runs(fleet) == [("sealed", 1_400)]
    assert "is not over (sealed)" in refused.stderr


async def test_a_killed_push_is_continued_and_adds_nothing_twice(fleet: Fleet, tmp_path: Path) -> None:
    source = tmp_path / "urls.jsonl"
    source.write_text("".join(json.dumps({"url": url, "dont_filter": True}) + "\n" for url in URLS * 4))
    given = ("push", "products", str(source), *options({"FRONTIER_KEY": fleet.key, "DOWNLOAD_DELAY": 0}))
    killed = fleet.runner.fork(*given)
    while await queued(fleet) == 0:
        assert killed.poll() is None, "it has ended before it was killed"
        await asyncio.sleep(0.01)
    killed.kill()
    killed.wait()
    (before,) = await runs(fleet)
    assert before[0] == "open"
    done = fleet.runner.run(*given)
    assert done.returncode == 0
    assert await runs(fleet) == [("sealed", 8_000)]
    assert await queued(fleet) == 8_000


async def test_sigterm_ends_a_push_with_what_was_pushed(fleet: Fleet, tmp_path: Path) -> None:
    source = tmp_path / "urls"
    os.mkfifo(source)
    given = options({"FRONTIER_KEY": fleet.key, "DOWNLOAD_DELAY": 0})
    pushing = fleet.runner.fork("push", "products", str(source), *given)
    with await asyncio.to_thread(source.open, "wb") as lines:  # which stays open: more may come
        for number, text in enumerate((b"http://a.example/1\nnonsense\nhttp://a.example/2\n", b"http://a.example/3\n")):
            lines.write(text)
            lines.flush()
            while await queued(fleet) < 2 + number:  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.05)
        pushing.send_signal(signal.SIGTERM)  # it has been told of all but the last
        status = await asyncio.to_thread(pushing.wait, 60)
    assert (status, pushing.log.splitlines()[-1]) == (143, "terminated")
    assert re.match("[23] pushed to products, 1 refused, what follows ", pushing.output)
    assert "still open: push the same again" in pushing.output
