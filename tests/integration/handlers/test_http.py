"""The handler's promise: what it reports as sent was sent, over TLS too, and a request that is no longer allowed is
never sent."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.sites import Page, Site

PAGES = {"/1": Page(), "/2": Page(), "/3": Page(), "/gone": Page(headers={"Connection": "close"})}
PROJECT = Path(__file__).resolve().parents[3]
AT_ONCE = 0.2  # seconds; much less than the event loop is stuck after each sending


def download(plan: Mapping[str, bool], env: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The plan in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.handlers.departing"],
        cwd=PROJECT, env=dict(env), input=json.dumps(plan), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(params=["http", "https"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    with Site(PAGES, tls=certified(tmp_path) if request.param == "https" else None) as site:
        yield site


def test_what_is_called_sent_has_left_on_new_and_on_kept_connections(site: Site, project_env: dict[str, str]) -> None:
    urls = [site.url(path) for path in PAGES]

    found = download(dict.fromkeys(urls, True), project_env)

    assert [found[url]["status"] for url in urls] == [200] * len(urls)
    late = [one.at - found[site.url(one.path)]["sent"] for one in site.received]
    assert len(late) == len(urls)
    assert max(late) < AT_ONCE


def test_what_is_not_allowed_any_more_never_leaves(site: Site, project_env: dict[str, str]) -> None:
    first, second, third = (site.url(path) for path in ("/1", "/2", "/3"))

    found = download({first: True, second: False, third: True}, project_env)

    assert site.requested == ["/1", "/3"]
    assert found[second] == {"error": "MissedError"}
    assert found[third]["status"] == 200


def test_a_connection_that_is_never_secured_is_a_failure_like_others(project_env: dict[str, str]) -> None:
    with Site(PAGES) as plain:
        url = plain.url("/1").replace("http:", "https:")

        assert download({url: True}, project_env) == {url: {"error": "DownloadFailedError"}}


def certified(directory: Path) -> ssl.SSLContext:
    """A server's side of TLS, with a certificate of its own making."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")]), datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    pem += key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (directory / "site.pem").write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "site.pem")
    return context
