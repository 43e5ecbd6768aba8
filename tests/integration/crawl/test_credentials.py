"""User and password of a URL go nowhere: not into the queue, a dead letter, an `_id`, the archive or a log."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import redis
from pymongo.asynchronous.database import AsyncDatabase

from tests.crawling import Fleet, ended
from tests.sites import Page, Site

SECRET = "s3cret"


def kept(url: str, key: str) -> str:
    """All that Redis holds of one frontier."""
    found: list[Any] = []
    with redis.Redis.from_url(url) as client:
        for name in client.scan_iter(f"*{key}*"):
            found += [name, client.dump(name)]
    return repr(found)


def archive(directory: Path) -> bytes:
    return b"".join(gzip.decompress(path.read_bytes()) for path in directory.iterdir())


async def stored(database: AsyncDatabase[dict[str, Any]]) -> str:
    names = await database.list_collection_names()
    return "".join([json.dumps([each async for each in database[name].find()], default=str) for name in names])


async def test_credentials_of_urls_are_kept_nowhere_and_explicit_ones_are_sent(
    fleet: Fleet, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path
) -> None:
    site = Site({})
    there = site.url("/").replace("http://", f"http://user:{SECRET}@")
    site.pages |= {
        "/pushed": Page("<title>pushed</title>"),
        "/list": Page("".join(f'<a href="{there}{name}">' for name in ("linked", "moved", "fails", "refreshed"))),
        "/linked": Page("<title>linked</title>", headers={"ETag": '"1"'}),
        "/moved": Page(status=302, headers={"Location": f"{there}target"}),
        "/refreshed": Page(f'<meta http-equiv="refresh" content="0;url={there}other">'),
        "/target": Page(f'<title>target</title><a href="{there}list">'),
        "/other": Page("<title>other</title>"),
        "/fails": Page("gone wrong", status=500),
    }
    with site:
        pushed = fleet.runner.run("push", "walk", f"{there}pushed", f"{there}list", f"{there} bad", *fleet.options())
        key = f"{fleet.key}-starts"
        with redis.Redis.from_url(fleet.redis_url) as client:
            bad = f"{there}a b", f'{{"url": "{there}target", "meta": '
            client.lpush(key, json.dumps({"url": f"{there}target"}), f"{there}linked?seed", *bad)
        worker = fleet.runner.fork(
            *(
                "crawl",
                "walk",
                "-a",
                "http_user=anna",
                "-a",
                "http_pass=pw",
                "-a",
                f"http_auth_domain={site.url('/').split('/')[2]}",
            ),
            *fleet.options(
                REDIS_START_URLS_KEY=key,
                ARCHIVE_PAGES="all",
                ARCHIVE_DIR=str(tmp_path),
                RETRY_TIMES=1,
                LOG_LEVEL="DEBUG",
            ),
        )
        status, log = await ended(worker)
        left = await fleet.left()
    assert status == 0, log
    assert {one.path for one in site.received} >= set(site.pages)
    told = f"Basic {b64encode(b'anna:pw').decode()}"
    assert {one.headers.get("Authorization") for one in site.received} == {told}
    assert sorted(str(letter.detail.get("url")) for letter in left.letters) == ["None", "None", site.url("/fails")]
    pages = {each["_id"] async for each in mongo_database["pages"].find()}
    assert pages >= {site.url(path) for path in ("/pushed", "/linked", "/target", "/other")}
    archived = archive(tmp_path)
    assert archived
    assert "User and password are removed from URLs" in log
    for kind, text in {
        "queue": kept(fleet.redis_url, fleet.key),
        "letters": repr(left.letters),
        "store": await stored(mongo_database),
        "log": log,
        "push": pushed.stdout + pushed.stderr,
    }.items():
        assert SECRET not in text, f"{kind}: ...{text[max(0, text.index(SECRET) - 200) : text.index(SECRET) + 100]}"
    assert f"URI: {there}".encode() not in archived
    assert SECRET.encode() not in archived.replace(there.encode(), b"")  # that are the texts of the pages
