"""The handler's promise: what it reports as sent was sent, over TLS too, and a request that is no longer allowed is
never sent."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.effort import PATIENCE
from tests.servers import environment
from tests.sites import Page, Site
from tests.zygote import PROJECT_DIR, Zygote

PAGES = {"/1": Page(), "/2": Page(), "/3": Page(), "/gone": Page(headers={"Connection": "close"})}
AT_ONCE = 0.2  # seconds; much less than the event loop is stuck after each sending


def download(zygote: Zygote, plan: Mapping[str, bool], env: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The plan in a process of its own."""
    module = "tests.integration.handlers.departing"
    with closing(zygote.fork([], env, PROJECT_DIR, json.dumps(plan), module=module)) as process:
        told, log = process.communicate(PATIENCE)
        assert process.returncode == 0, log
    found: dict[str, dict[str, Any]] = json.loads(told)
    return found


@dataclass(frozen=True)
class Downloads:
    """Sites, and what was found at their URLs."""

    sent: list[Site]
    kept_back: list[Site]
    plain: Site  # asked for over TLS
    found: Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Iterator[Downloads]:
    """One process asks them all, one after the other."""
    here = tmp_path_factory.mktemp("downloads")
    with ExitStack() as open_sites:
        sides = [None, certified(here)] * 2 + [None]
        sites = [open_sites.enter_context(Site(PAGES, tls=side)) for side in sides]
        plan = {site.url(path): True for site in sites[:2] for path in PAGES}
        plan |= {site.url(path): path != "/2" for site in sites[2:4] for path in ("/1", "/2", "/3")}
        plan[unsecured(sites[4])] = True
        found = download(zygote, plan, environment(here / "services"))
        yield Downloads(sites[:2], sites[2:4], sites[4], found)


def unsecured(plain: Site) -> str:
    return plain.url("/1").replace("http:", "https:")


@pytest.mark.parametrize("scheme", [0, 1], ids=["http", "https"])
def test_what_is_called_sent_has_left_on_new_and_on_kept_connections(downloads: Downloads, scheme: int) -> None:
    site, found = downloads.sent[scheme], downloads.found
    urls = [site.url(path) for path in PAGES]

    assert [found[url]["status"] for url in urls] == [200] * len(urls)
    late = [one.at - found[site.url(one.path)]["sent"] for one in site.received]
    assert len(late) == len(urls)
    assert max(late) < AT_ONCE


@pytest.mark.parametrize("scheme", [0, 1], ids=["http", "https"])
def test_what_is_not_allowed_any_more_never_leaves(downloads: Downloads, scheme: int) -> None:
    site, found = downloads.kept_back[scheme], downloads.found

    assert site.requested == ["/1", "/3"]
    assert found[site.url("/2")] == {"error": "MissedError"}
    assert found[site.url("/3")]["status"] == 200


def test_a_connection_that_is_never_secured_is_a_failure_like_others(downloads: Downloads) -> None:
    assert downloads.found[unsecured(downloads.plain)] == {"error": "DownloadFailedError"}


def certified(directory: Path, more: int = 0, padding: int = 0) -> ssl.SSLContext:
    """A server's side of TLS, with a certificate of its own making, and that many *more* behind it, each longer by
    *padding* bytes."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")]), datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    pem += key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    padded = builder.add_extension(x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3"), bytes(padding)), False)
    pem += more * padded.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    (directory / "site.pem").write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "site.pem")
    return context
