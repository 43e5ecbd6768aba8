"""What is particular to mongod: acknowledged writes outlive kill -9, and it stops cleanly."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymongo import MongoClient, WriteConcern

from tests.integration.embedded.users import User, eventually, said, server


def test_an_acknowledged_write_outlives_kill_9(use: Callable[..., User], data_dir: Path) -> None:
    uri = use(redis=False, mongodb=True).answer()["mongodb"]
    with MongoClient[dict[str, Any]](uri) as client:
        client.shop.get_collection("products", write_concern=WriteConcern(j=True)).insert_one({"_id": 1})
        killed = server(data_dir, "mongodb")
        killed.send(signal.SIGKILL)
        assert eventually(lambda: server(data_dir, "mongodb") != killed)
        assert eventually(lambda: said(data_dir, "mongodb").state == "ready")
        assert client.shop.products.count_documents({}) == 1


def test_it_listens_on_loopback_only_and_stops_cleanly(use: Callable[..., User], data_dir: Path) -> None:
    user = use(redis=False, mongodb=True)
    with MongoClient[dict[str, Any]](user.answer()["mongodb"]) as client:
        options = client.admin.command("getCmdLineOpts")["parsed"]
    assert options["net"]["bindIp"] == "127.0.0.1"
    assert options["net"]["unixDomainSocket"] == {"enabled": False}
    user.close()
    assert eventually(lambda: not said(data_dir, "mongodb").supervised)
    assert '"exitCode":0' in (data_dir / "mongodb" / "server.log").read_text()
