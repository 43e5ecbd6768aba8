"""Whether a name is the site's own, by its address and what it calls itself."""

from __future__ import annotations

import re
from typing import Final

from crawler import urls
from crawler.extraction.structured import opengraph
from crawler.extraction.tree.document import Document

SURE: Final = 5  # letters of a name that its site's address has
LEAST: Final = 3  # letters of a site's whole name
MAX_WORDS: Final = 5  # less words of a name
MAX_TEXT_WORDS: Final = 20  # of a text that may have one
_PREPOSITION: Final = re.compile(  # in small letters: "Pro" is a model's name
    r"of|for|with|in|from|to|d[eaou]|di|des|del|dell[ao]|all[ae]|a[li]|à|aux?|en|con|per|por|para|pour|avec|für|mit|aus"
    r"|von|im|zu[mr]|voor|van|met|uit|till?|för|med|a[vf]|från|ze?|na|w|dla|od|pro|[skvu]|za|iz|с|для|из|на|от|к|з|із|до"
)
_SHOP: Final = re.compile(
    r"(?:e-?|on-?line|web)?(?:shop|store|market|mart|markt|laden|versand|haus|welt|winkel|sklep|tienda|loja|negozio|boutique"
    r"|magasin|butik|kauppa|obchod|bolt|magazin|mağaza)|corner|world|direct|express|depot|cent(?:er|re)|outlet|house|land"
    r"|pro|hub|zone|on-?line|discount|warehouse|supplies|supply|company|co\.?",
    re.IGNORECASE,
)
_END: Final = re.compile(r"\s[-–—|·•»]\s")
_SLOGAN: Final = re.compile(r"\s+[-–—|·•:]\s+|:\s+")


def is_site(name: str, document: Document) -> bool:
    """Whether *name* is in the page's host, is one of its labels, or is what the site calls itself, with a slogan or
    without, or words of that."""
    return _is_called(name, _called(document), document)


def _is_called(name: str, called: str, document: Document) -> bool:
    letters = squeezed(name)
    host = urls.split(document.url).netloc.lower()
    if len(letters) > 1 and ((len(letters) >= SURE and letters in squeezed(host)) or letters in host.split(".")[:-1]):
        return True
    if not letters or letters not in (whole := squeezed(called)):
        return False
    return letters in (whole, squeezed(_SLOGAN.split(called)[0])) or named_in(called, letters) is not None


def without_slogan(name: str, document: Document) -> str:
    """*name* up to a dash or colon, if what stands before it is the site's own name: `Acme - tools since 1920`."""
    parts = _SLOGAN.split(name, maxsplit=1)
    return parts[0] if len(parts) > 1 and is_site(parts[0], document) else name


def without_site(title: str, document: Document) -> str:
    """*title* without the site's own name at its end: `Knife — Acme`."""
    ends = list(_END.finditer(title))
    if not ends:
        return title
    called = opengraph.metas(document).get("og:site_name", "")
    return title[: ends[-1].start()] if _is_called(title[ends[-1].end() :], called, document) else title


def squeezed(text: str) -> str:
    """Its letters and digits, in lower case."""
    return "".join(filter(str.isalnum, text)).lower()


def named_in(text: str, letters: str) -> str | None:
    """Some, not all, of the words of *text* that have just these *letters* (as of `squeezed`), as it writes them."""
    words = text.split()[:MAX_TEXT_WORDS]
    runs = (words[at : at + size] for size in range(1, min(len(words), MAX_WORDS)) for at in range(len(words)))
    return next((" ".join(run) for run in runs if squeezed("".join(run)) == letters), None)


def _called(document: Document) -> str:
    """What the site calls itself: its og:site_name, else the end of the page's title."""
    return opengraph.metas(document).get("og:site_name") or _titled(document)


def _titled(document: Document) -> str:
    """What stands last in the page's title, as the names of sites do; empty if nothing parts it from another."""
    _, *parts = _END.split(document.written_title)
    return parts[-1].strip() if parts else ""


def maker(title: str, document: Document) -> str | None:
    """The name with which a product's *title* begins, if it is what the site calls itself, or else the end of the
    page's title, and in its address, too: its maker's own shop.

    Of a longer name the first word is enough: `Solara G3` of `Solara Hair Tools`. A name before a preposition is that
    of a thing, and so is a word that the site's name has before a shop: `Lamp for the garden`, `Lamp Store`.
    """
    called = _SLOGAN.split(_called(document).strip(" -–—|·•"))[0]
    words, named = title.split(), called.split()
    host = squeezed(urls.split(document.url).netloc)
    is_shop = any(_SHOP.fullmatch(each) for each in named[1:])
    for count, least in ((len(named), LEAST), (1, SURE))[: 2 - is_shop] if 0 < len(named) < MAX_WORDS else ():
        letters = squeezed("".join(words[:count]))
        if least <= len(letters) and letters in host and letters == squeezed("".join(named[:count])):
            is_brand = count < len(words) and _PREPOSITION.fullmatch(words[count]) is None
            return " ".join(words[:count]) if is_brand else None
    return None
