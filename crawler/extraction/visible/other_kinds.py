"""Signs that a page with a price is no product's: a recipe, an article, a forum, an event, a home.

Asked only of pages that otherwise look like a product's: most pages never are.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from crawler import urls
from crawler.extraction.tree.nodetext import around, text_of
from crawler.extraction.visible import view
from crawler.extraction.visible.view import View
from crawler.extraction.words import url_identifiers

KIND: Final = 2.0  # less for a URL that names another kind of page
DATED: Final = 2.0  # for an article's date or author by the heading
RECIPE: Final = 2.0  # for the markup of a recipe
OTHER: Final = 2.0  # for what stands by the heading: rooms and a size, tickets, quotes
BESIDE: Final = 8  # texts around the heading that may be its byline
NEAR: Final = 80  # texts after the heading that may say so
MAX_TEXT: Final = 200  # characters

# Parts of a path, in the languages of most sites.
_KINDS: Final = re.compile(
    r"recipes?|rezepte?|recettes?|recetas?|receitas?|ricett[ae]|recept(?:en|ek|y)?|przepisy?|opskrift(?:er)?"
    r"|oppskrift(?:er)?|reseptit?|рецепт\w*|recepti?|tarif(?:ler)?"
    r"|blogs?|news|nachrichten|actualites?|noticias?|notizie|nieuws|novosti|stor(?:y|ies)|magazine?|journal|ratgeber"
    r"|press(?:e|room|-releases?)?|wiki|lexikon|gloss(?:ar|ary|aire)|docs|documentation|tutorials?|how-?to|guides?"
    r"|reviews|forums?|foren|threads?|topics?|viewtopic\.php|showthread\.php|questions|discussions?|t"
    r"|jobs?|careers?|stellenangebote|events?|veranstaltung(?:en)?|evenements?|eventos?|eventi|concerts?|konzerte?"
    r"|films?|movies?|kino|cinema|courses?|kurse?|cursos?|corsi|webinars?|podcasts?|lookbooks?"
    r"|hotels?|restaurants?|speisekarte|menu|pricing|plans|tarife|donate|spenden|services?|leistungen|dienstleistungen"
    r"|tarifs|preise|preisliste|price-?list|cennik|cenik|ceny|precios|prezzi|listino|prijzen|priser|hinnasto|fiyatlar|цены"
    r"|uslugi|servicios|servizi|servicos|prestations|hizmetler(?:imiz)?|diensten|sluzby|reparatur(?:en)?|repairs?"
    r"|seminare?|szkolenia|skoleni"
    r"|propert(?:y|ies)|real-?estate|immobilien?|inmuebles?|imove(?:l|is)|immobili|apartments?|wohnungen?"
    r"|quotes?|currencies|wallpapers?|flights?|fluege|vuelos|vols|voli"
    # Lists of WooCommerce, whose products have addresses of their own:
    r"|product-(?:categor(?:y|ie)|tag)|produkt-(?:kategorie?|schlagwort)|categorie-produ(?:its?|s)"
    r"|categoria-(?:producto|produto|prodotto)"
    r"|kategoria-produktu|kategorie-produktu|produktkategori|vare-?kategori"
    r"|tuote-osasto|termekkategoria|urun-kategori|danh-muc(?:-san-pham)?|kategori-produk"
    r"|wunsch(?:liste|zettel)|verlanglijst(?:je)?|favori(?:s|ten|tos)|lista-de-(?:deseos|desejos)|lista-desideri|onskelista"
    r"|carts?|basket|checkout|orders?|wish-?lists?|compar(?:e|ison)s?|warenkorb|einkaufswagen|kasse|merkzettel"
    r"|vergleich\w*|panier|commande|comparat\w+|carrito|carrello|confront\w+|carrinho|winkel(?:wagen|mand(?:je)?)"
    r"|search(?:[-_]?results?)?|catalogsearch|such(?:e|en|ergebnis(?:se)?)|recherche|buscar?|buscador|busqueda|ricerca"
    r"|cerca|zoek(?:en|resultaten)?|szukaj|wyszukiwanie|hledat|hledani|vyhledavani|vyhladavanie|kereses|cautare"
    r"|poisk|tarsene|arama|s[oö]k|s[oø]g|haku|otsing|paieska|iskanje|pretraga|tim-kiem|cari|поиск|търсене"
    r"|koszyk|porownaj|porownanie|kosik|porovnani|varukorg|handlekurv|indkobskurv|ostoskori|korzina|sravnenie|sepet",
    re.IGNORECASE,
)
_SEARCHED = re.compile(r"(?:^|&)(?:s|q|query|search|keywords?)=")  # on a front page
_AGAINST = re.compile(r"\w (?:vs\.?|versus) \w", re.IGNORECASE)
# A whole heading of a cart or a list of wishes, and how that of a search begins.
_CART = re.compile(
    r"(?:(?:your|my|shopping)[- ])*(?:cart|basket|bag|trolley|wish ?list)|checkout|(?:(?:mein|ihr|dein)e? )?"
    r"(?:warenkorb|einkaufswagen|merkzettel|wunsch(?:liste|zettel))|(?:(?:mon|votre) )?panier"
    r"|(?:(?:mi|tu) )?(?:carrito|cesta)(?: de (?:la )?compras?)?"
    r"|(?:(?:il )?(?:mio|tuo) )?carrello|(?:(?:meu|seu) )?carrinho(?: de compras)?|winkel(?:wagen|mandje)|koszyk"
    r"|(?:nákupn[íý] )?koš[ií]k|kosár|coș(?:ul)?(?: de cumpărături)?|(?:моя )?корзина|(?:мій )?кошик|количка"
    r"|(?:το )?καλάθι(?: (?:μου|σας|αγορών))?|sepet(?:im)?|(?:varukorg|kundvagn|handlekurv|indkøbskurv)(?:en)?"
    r"|ostoskori"
    r"|ostukorv|(?:pirkumu )?grozs|(?:pirkinių )?krepšelis|košarica|корпа|korpa|(?:ショッピング)?カート"
    r"|買い物かご|장바구니"
    r"|購物車|购物车|ตะกร้าสินค้า|giỏ hàng|keranjang(?: belanja)?|سلة التسوق|עגלת קניות|סל (?:ה)?קניות|سبد خرید",
    re.IGNORECASE,
)
_RESULTS = re.compile(
    r"(?:\d+ )?(?:(?:search )?results? (?:for|of)|search results|suchergebnis|ergebnisse für"
    r"|résultats? (?:de|pour)|resultados? (?:de|para)"
    r"|risultat[io] (?:d|per)|zoekresultat|resultaten voor|wyniki|výsledky|találatok|rezultate|резултати|результат[иы]"
    r"|αποτελέσματα|arama sonu|sökresultat|søkeresultat|søgeresultat|hakutulokset|検索結果"
    r"|검색 ?결과|搜尋結果|搜索结果)",
    re.IGNORECASE,
)
_DATED = re.compile(r"/(?:19|20)\d\d/(?:0?[1-9]|1[012])/")
_RECIPE = re.compile(
    r"wprm-recipe|tasty-recipes|mv-create|recipeIngredient|recipeInstructions|h-?recipe\b|easyrecipe|zlrecipe"
    r"|recipe[-_]{1,2}(?:ingredient|instruction|direction|method|step)|schema\.org/Recipe"
)
_BYLINE = re.compile(
    r"byline|(?:entry|post|article|news|story)[-_]{0,2}(?:date|meta|author|info)|posted-on", re.IGNORECASE
)
# No "up to 40 m²", "bis 800 m²": a room or garden that a device is made for.
_AREA = re.compile(
    r"\d(?<![\d.,]\d)(?<!до \d)(?<!do \d)(?<! à \d)(?<!bis \d)(?<!tot \d)(?<!max \d)(?<!up to \d)(?<!till \d)[\d.,]*+"
    r"\s?(?:m²|m2\b|qm\b|sq\.? ?ft|sqft|м²|кв\. ?м)",
    re.IGNORECASE,
)
_ROOMS = re.compile(
    r"\b(?:bed(?:room)?s?|bath(?:room)?s?|hab\.?|habitaci\w+|dormitorios?|quartos?|zimmer|pièces?|chambres?|local[ie]|camer[ae]"
    r"|kamers?|poko(?:je|i|jů)|комнат\w*|кімнат\w*|szob\w+|izb[ay]|sob[aeu]|værelser|soverom|makuuhuone\w*|vani|odalı)\b"
    # Land has none, where it is said to be for building: a garden is what mowers are for.
    r"|baugrund|\bterrain (?:à bâtir|constructible)|\bterreno (?:edifica|urban)"
    r"|building plot|land for sale|zemljišt|építési telek|\barsa\b|byggetomt|\btomt\b|bouwgrond",
    re.IGNORECASE,
)
_RENTED: Final = (
    "kaltmiete", "warmmiete", "monthly rent", "loyer mensuel", "loyer hors charges", "kale huur", "huurprijs", "czynsz",
    "canone mensile", "alquiler mensual", "aluguel mensal", "månadshyra", "husleje", "kuukausivuokra",
)  # fmt: skip
_INGREDIENTS = re.compile(
    r"^(?:ingredients|zutaten|ingrédients|ingredientes|ingredienti|ingrediënten|ingredienser|składniki|ingredience"
    r"|suroviny|hozzávalók|ingrediente|ингредиенты|інгредієнти|malzemeler|ainekset|材料|食材|재료|المكونات|מצרכים)\b",
    re.IGNORECASE | re.MULTILINE,
)
_COOKED = re.compile(
    r"\b(?:prep(?:aration)? time|total time|zubereitungszeit|arbeitszeit|temps de prép|tiempo de prep|tempo de preparo"
    r"|tempo di prep|bereidingstijd|tillagningstid|czas przygotowania|doba přípravy|elkészítési idő|время приготовления"
    r"|hazırlama süresi)|作り方|做法|만드는",
    re.IGNORECASE,
)
_TICKETS = re.compile(
    r"\b(?:tickets?|eintrittskarten|billets|billetterie|entradas|biglietti|ingressos|bilhetes|bilety|vstupenky|билет\w*)\b",
    re.IGNORECASE,
)
_APPLIED = re.compile(  # for a job, a card, a loan
    r"^(?:apply (?:now|online|here|for (?!an? .{0,20}\bcredit card$).{1,30})"  # many shops have one
    r"|(?:jetzt |online )?bewerben|jetzt beantragen|postuler|je postule"
    r"|postular(?:me)?|inscribirme|solicitar (?:ahora|online)|candidati(?: ora)?|candidatar-se"
    r"|solliciteer(?: nu| direct)?|solliciteren|aplikuj|ansök(?: nu)?|søk (?:stillingen|nå)|søg jobbet"
    r"|hae (?:nyt|paikkaa)|откликнуться|відгукнутися|応募する|지원하기|立即應徵)$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(
    r"\b(?:market cap|previous close|prev\.? close|trading volume|24h volume|ISIN\W{0,3}[A-Z]{2}[A-Z\d]{9}\d)\b",
    re.IGNORECASE,
)


def outweigh(page: View, evidence: float) -> bool:
    """Whether more speaks against a product than this *evidence* for one; the whole source is read only if that may
    decide."""
    is_another = _names_a_kind(page.document.url) or _is_headed(page)
    against = KIND * is_another + DATED * _is_dated(page) + OTHER * _is_told(page)
    return against > evidence or (against + RECIPE > evidence and _has_recipe(page.document.markup))


def _has_recipe(markup: str) -> bool:
    is_likely = "ecipe" in markup or "mv-create" in markup  # seen in a tenth of the pattern's time
    return is_likely and _RECIPE.search(markup) is not None


def _names_a_kind(url: str) -> bool:
    """Whether the path names another kind of page, and no product after it."""
    parts = urls.split(url)
    path = unquote(parts.path)
    if _DATED.search(path) or (path in ("", "/", "/index.php") and _SEARCHED.search(parts.query)):
        return True
    segments = [each for each in path.split("/") if each]
    kinds = [at for at, each in enumerate(segments) if _KINDS.fullmatch(each)]
    return bool(kinds) and not url_identifiers.names_product(segments[kinds[-1] + 1 :])


def _is_headed(page: View) -> bool:
    """Whether the heading is that of a cart or a search, or sets one thing against another."""
    heading = text_of(page.heading, view.MAX_HEADING) if page.heading is not None else ""
    is_cart = _CART.fullmatch(heading) or _RESULTS.match(heading)
    return is_cart is not None or _AGAINST.search(heading) is not None


def _is_dated(page: View) -> bool:
    """Whether a date or an author stands by the heading."""
    at = page.heading_index
    near = page.texts[max(0, at - BESIDE // 2) : at + BESIDE] if at >= 0 else ()
    return any(_is_byline(node) for _, node in near)


def _is_byline(node: LexborNode) -> bool:
    return any(each.tag == "time" or _BYLINE.search(each.attributes.get("class") or "") for each in around(node, 1))


def _is_told(page: View) -> bool:
    """Whether the texts after the heading are those of a recipe, an event, a home, a rent, a job or a quote."""
    start = max(0, page.heading_index)
    near = [each for each in page.texts[start : start + NEAR] if len(each[0]) <= MAX_TEXT]
    told = "\n".join(text for text, _ in near)
    if _TICKETS.search(told) and any(
        _TICKETS.search(text) and page.flags(node) & (view.BUTTON | view.LINK) for text, node in near
    ):
        return True
    is_home = _AREA.search(told) is not None and _ROOMS.search(told) is not None
    lower = told.lower()
    is_rented = any(each in lower for each in _RENTED)
    is_recipe = _INGREDIENTS.search(told) is not None and _COOKED.search(told) is not None
    return is_home or is_rented or is_recipe or any(sign.search(told) for sign in (_APPLIED, _QUOTED))
