"""`python -m benchmarks.wide_site`: many hosts behind one TLS port, each with a certificate of its own.

A host is `shop00042.test`: `/robots.txt`, a front page that leads to its other pages, product pages of 20 KB. With
`--links 20` each page has so many links: to the other pages of its host, with and without a fragment, and to the front
pages of other hosts. `/counts` tells connections, sessions resumed among them, and requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final, cast

import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from demo import catalogue, render
from demo.catalogue import JSON_LD, Store
from demo.render import Card

ADDRESS: Final = "127.0.0.1"
PAGES: Final = 5  # of a host
REVIEWS: Final = 23  # so many make a page of 20 KB
TEMPLATE: Final = "shop00000.test"
ROBOTS: Final = b"""User-agent: *
Disallow: /private/
Disallow: /*?sort=
Allow: /private/open
Crawl-delay: 0
Disallow: /basket

User-agent: otherbot
Disallow: /

Sitemap: https://shop00000.test/sitemap.xml
"""


_MENUS: Final = re.compile(rb'href="/(?!p\d)[^"]*"')  # they lead to pages that there are not


def name(number: int) -> str:
    """Of host *number*; as long as that of the template."""
    return f"shop{number:05}.test"


def number(host: str) -> int:
    """Which `name` this is."""
    return int(host[4:9])


class Authority:
    """A root, an intermediate, and leaves that it signs when they are asked for, all of one key each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        root_key, self._signer, self._key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
        root = _certificate("root.test", root_key, "root.test", root_key, authority=True)
        middle = _certificate("middle.test", self._signer, "root.test", root_key, authority=True)
        self._chain = middle.public_bytes(serialization.Encoding.PEM)
        self._chain += self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (directory / "root.pem").write_bytes(root.public_bytes(serialization.Encoding.PEM))

    @cache  # noqa: B019 - it lives as long as the process
    def context(self, host: str) -> ssl.SSLContext:
        """The server's side of TLS for *host*."""
        leaf = _certificate(host, self._key, "middle.test", self._signer, authority=False)
        file = self._directory / "leaf.pem"
        file.write_bytes(leaf.public_bytes(serialization.Encoding.PEM) + self._chain)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def server(self) -> ssl.SSLContext:
        """For all hosts: it takes the certificate of the name that the client says."""

        def choose(layer: ssl.SSLObject, host: str | None, _: ssl.SSLContext) -> None:
            layer.context = self.context(host or TEMPLATE)

        context = self.context(TEMPLATE)
        context.sni_callback = choose
        return context


_SIGNS: Final = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def _certificate(
    host: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    signer: ec.EllipticCurvePrivateKey,
    *,
    authority: bool,
) -> x509.Certificate:
    subject, by = (x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)]) for text in (host, issuer))
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(by, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    # Python 3.13 asks for both.
    by_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    builder = builder.add_extension(by_key, critical=False)
    if authority:
        builder = builder.add_extension(_SIGNS, critical=True)
    return builder.sign(signer, hashes.SHA256())


class Pages:
    """What every host says, with its own name in it."""

    def __init__(self, hosts: int, links: int, port: int) -> None:
        self._hosts, self._links, self._port = hosts, links, port
        store = Store(TEMPLATE, "Wide Shop", "en-IE", "EUR", "€{:,.2f}", 2, (JSON_LD,))
        self._items = catalogue.stock(store, seed=1, port=port, size=PAGES)
        self._pages = [self._rendered(number) for number in range(PAGES)]

    def answer(self, host: str, path: str) -> bytes | None:
        """A body; None where there is no such page."""
        if path == "/robots.txt":
            return ROBOTS.replace(TEMPLATE.encode(), host.encode())
        number = int(path[2:] or 0) if path == "/" or path[2:].isdecimal() else PAGES
        if number >= PAGES:
            return None
        return self._pages[number].replace(TEMPLATE.encode(), host.encode())

    def _rendered(self, number: int) -> bytes:
        item, base = self._items[number], f"https://{TEMPLATE}:{self._port}"
        page = render.product_page(item, self._cards(number), REVIEWS)
        page = page.replace(item.url.encode(), f"{base}{_path(number)}".encode())
        return _MENUS.sub(b'href="/"', page)

    def _cards(self, number: int) -> list[Card]:
        own = [Card(_path(other), item.title) for other, item in enumerate(self._items) if other != number]
        if not self._links:
            return own if number == 0 else []
        own += [Card(f"{card.href}#reviews", card.title) for card in own]
        others = range(1 + number, 1 + number + self._links - len(own))
        return own + [Card(f"https://{name(at % self._hosts)}:{self._port}/", name(at % self._hosts)) for at in others]


def _path(number: int) -> str:
    return "/" if number == 0 else f"/p{number}"


class Connection(asyncio.Protocol):
    """GET, one after the other, kept alive."""

    def __init__(self, pages: Pages, counts: Counter[str]) -> None:
        self._pages, self._counts = pages, counts
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._counts["connections"] += 1
        layer: ssl.SSLObject = transport.get_extra_info("ssl_object")
        self._counts["resumed"] += bool(layer.session_reused)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._answer(head.decode("latin-1"))

    def _answer(self, head: str) -> None:
        path = head.split(" ", 2)[1]
        host = head.lower().partition("\r\nhost: ")[2].partition("\r\n")[0].partition(":")[0]
        if path == "/counts":
            body: bytes | None = json.dumps(self._counts).encode()
        else:
            self._counts["robots" if path == "/robots.txt" else "pages"] += 1
            body = self._pages.answer(host, path)
        kind = "text/plain" if path == "/robots.txt" else "text/html; charset=utf-8"
        first = "200 OK" if body is not None else "404 Not Found"
        body = body or b"no such page"
        said = f"HTTP/1.1 {first}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._transport.write(said.encode() + body)


async def serve(pages: Pages, context: ssl.SSLContext, port: int, ready: Callable[[], object]) -> None:
    """Until SIGTERM; *ready* is called once it listens."""
    loop, counts, stop = asyncio.get_running_loop(), Counter[str](), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await loop.create_server(lambda: Connection(pages, counts), ADDRESS, port, ssl=context, backlog=2048)
    ready()
    await stop.wait()


def main() -> int:
    """Serve."""
    parser = argparse.ArgumentParser(prog="benchmarks.wide_site")
    parser.add_argument("--hosts", type=int, required=True)
    parser.add_argument("--links", type=int, default=0)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--certificates", type=Path, required=True, help="directory, for root.pem")
    parser.add_argument("--ready", type=Path, required=True)
    given = parser.parse_args()
    context = Authority(given.certificates).server()
    pages = Pages(given.hosts, given.links, given.port)
    uvloop.run(serve(pages, context, given.port, lambda: given.ready.write_text("ready")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
