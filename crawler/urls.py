"""URLs: which are allowed, when two of them are the same page, and which politeness group they belong to."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import IPv6Address
from socket import inet_aton, inet_ntoa
from typing import TYPE_CHECKING, Literal
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from crawler.errors import MessageError, shown
from crawler.utils.caches import cached

if TYPE_CHECKING:
    from tldextract import TLDExtract

MAX_URL_LENGTH = 4096  # characters; longer ones are often rejected, and likely a crawler trap
MAX_HOST_LENGTH, MAX_LABEL_LENGTH = 254, 63  # with the dot of the root
SCHEMES = ("http", "https")
SCHEMES_BEFORE_HOST = ("http://", "https://")
DEFAULT_PORTS = {"http": 80, "https": 443}
_DEFAULTS = frozenset({":80", ":443"})

# Parameters that say where the visitor came from, never which page it is. Those of recommendations differ on each page
# that shows them, some at each visit.
TRACKING = re.compile(
    r"^(utm_\w+|mtm_\w+|pk_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|ysclid|igshid|twclid|ttclid"
    r"|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|hsctatracking|vero_id|oly_anon_id|oly_enc_id|wickedid|s_kwcid|ref_src"
    r"|srsltid|spm|scm|p[df]_rd_\w+|pr_prod_strat|pr_rec_p?id|pr_ref_pid|pr_seq|_trk(?:sid|parms))$",
    re.IGNORECASE,
)

# Most links as they are written: nothing of them is to be escaped, decoded or put into another form.
_PLAIN = re.compile(
    r"https?://([a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})*+)(:(?:[1-5]\d{4}|[1-9]\d{0,3}))?+"
    r"(?:(/[\w/.~-]*+)(\?[\w=&.~-]++)?+)?+",
    re.ASCII,
)

_CREDENTIALS = re.compile(r"^([\x00-\x20]*(?:[a-z][a-z0-9+.-]*:)?//)[^/?#]*@", re.IGNORECASE)
# Without a scheme only with a password, and not as in XPath: //media:content[@url].
_LOGIN = re.compile(
    r"\s*(?:[a-z][a-z0-9+.-]*:|(?=//[^\s/?#@:]*:[^\s/?#@]*(?<![\[(])@))//[^\s/?#@]*@\S*\s*", re.IGNORECASE
)

Grouping = Literal["hostname", "domain"]


@cached(16_384)
def check(url: str) -> str:
    """*url* without credentials, if a crawler may fetch it; otherwise raises MessageError, which says why not."""
    if len(url) <= MAX_HOST_LENGTH and is_plain(url):
        return url
    url = without_credentials(url)
    if len(url) > MAX_URL_LENGTH:
        text = f"URL has {len(url)} characters, more than the {MAX_URL_LENGTH} allowed: {_shown(url)}"
        raise MessageError(text)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        # It quotes what it takes for a port, which may be part of a password.
        reason = "" if "@" in url else f" ({error})"
        raise MessageError(f"not a URL{reason}: {_shown(url)}") from None
    if not parts.scheme:
        raise MessageError(f"no scheme: expected http:// or https:// before {_shown(url)}")
    if parts.scheme.lower() not in SCHEMES:
        raise MessageError(f"unknown scheme {shown(parts.scheme)}: expected http or https: {_shown(url)}")
    if not host:
        raise MessageError(f"URL without a host: {_shown(url)}")
    if not _is_name(host):
        raise MessageError(f"no name of a host: {_shown(host)}")
    if not url.isprintable() or " " in url:  # nor are surrogates, which represent bytes that are not UTF-8
        text = f"URL with white space, control characters or bytes that are not UTF-8: {_shown(url)}"
        raise MessageError(text)
    return url


def _is_name(host: str) -> bool:
    """Whether *host* may be a name or an address, by its lengths in bytes (RFC 1035)."""
    labels = host.removesuffix(".").split(".")
    return len(host) <= MAX_HOST_LENGTH and all(0 < len(label) <= MAX_LABEL_LENGTH for label in labels)


def is_plain(url: str) -> bool:
    """Whether *url* is an http or https one of characters that mean themselves everywhere: to know that costs a tenth
    of taking it apart. Never for a relative URL, and one with user information, a fragment or `%`."""
    return _PLAIN.fullmatch(url) is not None


def without_credentials(url: str) -> str:
    """*url*, valid or not, without `user:password@`, which belongs in HTTPAUTH_USER and HTTPAUTH_PASS: URLs are stored,
    shown and compared."""
    return _CREDENTIALS.sub(r"\1", url, count=1) if "@" in url else url


def without_login(text: str) -> str:
    """*text* as it is, unless all of it is a URL that names its scheme or a password: that URL without
    `user:password@`."""
    return without_credentials(text.strip()) if "@" in text and _LOGIN.fullmatch(text) else text


def canonicalize(url: str) -> str:
    """The canonical form: two URLs of one page give the same string.

    Lower-cases scheme and host, drops default port, fragment, user information and tracking parameters,
    sorts the remaining parameters, resolves dot segments, and normalises percent-encoding. Case in paths and
    parameters is kept: it may matter (a page's rel=canonical decides it). Raises ValueError on a broken URL.
    """
    plain = _PLAIN.fullmatch(url)
    if plain is not None and plain[3] and not plain[4] and plain[2] not in _DEFAULTS and "/." not in plain[3]:
        return url
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    host = _host(parts.hostname or "")
    if parts.port and parts.port != DEFAULT_PORTS.get(scheme):
        host = f"{host}:{parts.port}"
    path = without_dots(quote(parts.path, safe="/%:@!$&'()*+,;=~-._")) or "/"
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not TRACKING.match(pair[0])]
    return urlunsplit((scheme, host, path, urlencode(sorted(pairs)), ""))


def group(url: str, by: Grouping = "hostname") -> str:
    """The politeness group of *url*: its hostname, or its registrable domain (an IP address is its own)."""
    path = url.find("/", 8) if url.startswith(SCHEMES_BEFORE_HOST) else -1
    return _group(url[:path] if path > 0 else url, by)  # a host has many pages


@cached(16_384)
def _group(url: str, by: Grouping) -> str:
    host = one_spelling((urlsplit(url).hostname or "").lower().removesuffix("."))
    return registrable(host) if by == "domain" else host


def one_spelling(host: str) -> str:
    """An address as it is usually written, a name as it is. `2130706433`, `0x7f.1` and any number of others mean
    127.0.0.1: each would be a host of its own, with a pace of its own, of one server."""
    if ":" not in host and not (host[host.rfind(".") + 1 :][:1].isdecimal() and host.isascii()):
        return host
    try:
        if ":" not in host:
            return inet_ntoa(inet_aton(host))
        address = IPv6Address(host.partition("%")[0])
    except (OSError, ValueError):
        return host
    return str(address.ipv4_mapped or address)


@cache
def _suffixes() -> TLDExtract:
    """The public suffix list that ships with tldextract: never downloaded."""
    from tldextract import TLDExtract  # 7 MB, with an HTTP client that is never used: a push does without

    return TLDExtract(suffix_list_urls=(), cache_dir=None)


@cached(65_536, longest=256)
def registrable(host: str) -> str:
    """`shop.example.co.uk` -> `example.co.uk`; an address or a bare name is returned as it is."""
    return _suffixes()(host).top_domain_under_public_suffix or host


@cached(65_536, longest=256)
def _site(host: str) -> str:
    return _suffixes()(host, include_psl_private_domains=True).top_domain_under_public_suffix or host


def same_site(url: str, other: str) -> bool:
    """Whether both URLs are of one site, as browsers define it: a registrable domain; customers of a host such as
    `github.io` have one each. What is no URL is of no site."""
    if url.split("/", 3)[:3] == other.split("/", 3)[:3]:  # the usual case, without parsing a URL
        return True
    try:
        return _site(group(url)) == _site(group(other))
    except ValueError:
        return False


def split(url: str) -> SplitResult:
    """The parts of *url*, each empty if it is no URL."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _shown(url: str) -> str:
    """For messages about an invalid URL, in which a password may end anywhere."""
    return shown(f"***@{url.rpartition('@')[2]}" if "@" in url else url)


def _host(host: str) -> str:
    host = host.lower().removesuffix(".")
    if ":" in host:
        return f"[{host}]"
    if host.isascii():
        return host
    return host.encode("idna").decode("ascii")


def without_dots(path: str) -> str:
    """*path* with its dot segments resolved."""
    if "/." not in path:
        return path
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if len(kept) > 1:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if path.endswith(("/.", "/..")):
        kept.append("")
    return "/".join(kept)


def is_front(url: str) -> bool:
    """Whether *url* is that of a site's front page."""
    path, _, query = url.partition("#")[0].partition("?")
    return not query and path.count("/") <= 3 and path.rpartition("/")[2] in ("", "index.html", "index.php")
