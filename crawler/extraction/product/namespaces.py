"""What the names in an XML feed mean, whatever prefixes the feed writes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MOST: Final = 100  # prefixes that stand for others: each element that declares one copies them

# Namespaces without scheme and last slash, which feeds write as they like -> the prefix that rules call them by.
_PREFIXES: Final = MappingProxyType(
    {
        "base.google.com/ns/1.0": "g",
        "www.w3.org/2005/Atom": "",
        "purl.org/atom/ns#": "",  # Atom 0.3
        "purl.org/rss/1.0": "",
    }
)
_OTHER: Final = "*"  # for a known prefix in another namespace: no rule can say so


class Namespaces:
    """The namespaces in force where a feed is being read.

    Expat's own would not do: it gives up at a prefix that nobody declares, and such feeds can be read.
    """

    def __init__(self) -> None:
        self.rename = False  # whether any prefix has stood for another
        self._renamed: dict[str, str] = {}  # written prefix -> what rules call it, where that differs
        self._outer: list[tuple[int, dict[str, str]]] = []

    def enter(self, depth: int, attributes: Mapping[str, str]) -> None:
        """Heed what an element at *depth* declares; raises ValueError at more than MOST prefixes."""
        declared = {key[6:]: value for key, value in attributes.items() if is_declaration(key)}
        if not declared:
            return
        meant = {**self._renamed, **{prefix: _meant(prefix, value) for prefix, value in declared.items()}}
        renamed = {prefix: name for prefix, name in meant.items() if prefix != name}
        if len(renamed) > MOST:
            raise ValueError(f"more than {MOST} prefixes for known namespaces")
        if renamed != self._renamed:
            self.rename = True
            self._outer.append((depth, self._renamed))
            self._renamed = renamed

    def leave(self, depth: int) -> None:
        """Forget what an element at *depth* declared."""
        if self._outer and self._outer[-1][0] == depth:
            self._renamed = self._outer.pop()[1]

    def element(self, written: str) -> str:
        """The name of an element as rules have it: `g:price` for `goog:price`."""
        prefix, _, local = written.rpartition(":")
        meant = self._renamed.get(prefix)
        return written if meant is None else f"{meant}:{local}" if meant else local

    def attribute(self, written: str) -> str:
        """The same of an attribute, which is in no namespace without a prefix."""
        return self.element(written) if ":" in written else written


def is_declaration(attribute: str) -> bool:
    """Whether *attribute* declares a namespace."""
    return attribute.startswith("xmlns") and attribute[5:6] in {"", ":"}


def _meant(prefix: str, namespace: str) -> str:
    known = _PREFIXES.get(namespace.strip().rpartition("://")[2].rstrip("/"))
    if known is not None:
        return known
    return _OTHER if prefix and prefix in _PREFIXES.values() else prefix
