"""Denials of stock that hold for one place or one way of delivery only."""

from __future__ import annotations

import pytest

from crawler.extraction.tree.document import Document
from crawler.extraction.visible import visible_stock
from crawler.extraction.visible.view import View
from crawler.extraction.words import wording

ELSEWHERE = {
    "en": (
        "Not available in Belgium | Unavailable at Leeds Kirkgate | Express delivery not available | "
        "In store: out of stock | Sold out in Boston | Gift wrapping is not available"
    ),
    "de": (
        "In Österreich nicht lieferbar | Nicht lieferbar nach Norwegen | Im Markt Köln ausverkauft | "
        "Abholung: nicht verfügbar | Für Expressversand nicht verfügbar"
    ),
    "fr": (
        "Non disponible en Belgique | Indisponible en magasin | Livraison express non disponible | "
        "Épuisé dans votre boutique"
    ),
    "es": "No disponible en Canarias | Agotado en tienda | Recogida en tienda: no disponible",
    "pt": "Indisponível para retirada na loja | Não disponível em Portugal | Entrega expressa indisponível",
    "it": "Non disponibile in negozio | Non disponibile in Svizzera | Ritiro in negozio: esaurito",
    "nl": (
        "Niet op voorraad in winkel Utrecht | Niet beschikbaar in België | Afhalen niet beschikbaar | "
        "Uitverkocht in filiaal Gent"
    ),
    "sv": "Ej tillgänglig i butik | Slutsåld i Malmö | Expressleverans ej tillgänglig",
    "da": "Ikke på lager i butik | Udsolgt i Odense",
    "no": "Ikke på lager i butikk | Utsolgt i Bergen",
    "fi": "Nouto ei saatavilla | Ei varastossa myymälässä",
    "pl": "Odbiór osobisty niedostępny | Niedostępny w Twoim kraju",
    "cs": "Není skladem na prodejně Brno | Osobní odběr: nedostupné | Vyprodáno na pobočce",
    "sk": "Vypredané na predajni | Nie je skladom v predajni",
    "hu": "Nincs készleten az üzletben | Személyes átvétel: nem elérhető",
    "ro": "Indisponibil în magazin | Ridicare personală indisponibilă",
    "bg": "Изчерпан в магазин Варна",
    "el": "Μη διαθέσιμο στο κατάστημα",
    "ru": "Нет в наличии в магазине на Тверской | Самовывоз недоступен",
    "uk": "Немає в наявності в магазині | Самовивіз недоступний",
    "tr": "Mağazada stokta yok | Ülkenizde mevcut değil",
    "lv": "Nav pieejams veikalā",
    "lt": "Neturime parduotuvėje",
    "et": "Ei ole laos kaupluses | Otsas poes",
    "he": "לא במלאי בסניף תל אביב",
    "ar": "غير متوفر في الفرع | غير متوفر في بلدك",
    "zh": "门店无货 | 門市缺貨",
    "ja": "店舗在庫なし | 店舗受取は在庫なし",
    "ko": "매장 재고 없음 | 매장 픽업 불가 품절",
    "th": "สินค้าหมดที่สาขาสยาม",
    "vi": "Hết hàng tại chi nhánh Hà Nội",
    "id": "Stok habis di toko Bandung",
    "hi": "आपके क्षेत्र में उपलब्ध नहीं",
    "hr": "Nedostupno u poslovnici",
    "sr": "Nije dostupno u prodavnici | Није доступно у продавници",
    "bs": "Nedostupno u poslovnici",
    "sl": "Ni na zalogi v poslovalnici",
    "mk": "Нема на залиха во продавница",
    "sq": "Nuk ka stok në dyqan",
    "is": "Uppselt í verslun Kringlunni",
    "az": "Filialda stokda yoxdur",
    "kk": "Филиалда қоймада жоқ",
    "uz": "Filialda mavjud emas",
    "ka": "ფილიალში არ არის მარაგში",
    "fa": "ناموجود در شعبه تهران",
    "bn": "দোকানে স্টক নেই",
    "ms": "Stok habis di kedai KL",
    "ca": "Esgotat a la botiga de Girona",
    "hy": "Առկա չէ մասնաճյուղում",
    "mn": "Салбарт дууссан",
    "be": "Няма ў наяўнасці ў краме",
}
EVERYWHERE = {
    "en": (
        "Not available at the moment | Out of stock in our store | Sold out. Free pick-up in store | "
        "Sold out online and in stores | Not in stock | Not available for delivery | Unavailable for purchase | "
        "Currently unavailable | Sold out - see our Boston store | Out of stock at the supplier | "
        "Sold out in all sizes | This item is not available in our online shop"
    ),
    "de": (
        "In allen Filialen ausverkauft | In Kürze nicht lieferbar | Derzeit nicht verfügbar | "
        "Nicht auf Lager, Abholung nach Vereinbarung | Nicht lieferbar in den nächsten Wochen | "
        "In unserem Laden ausverkauft"
    ),
    "fr": (
        "Indisponible en ce moment | Indisponible en ligne | Épuisé. Retrait en magasin possible | "
        "Épuisé dans tous nos magasins"
    ),
    "es": "No disponible en este momento | Agotado en nuestra tienda | Agotado, recogida no posible",
    "it": "Non disponibile in magazzino | Esaurito al momento",
    "nl": "Niet beschikbaar in onze winkel | Uitverkocht",
    "pt": "Indisponível no momento | Não disponível em estoque",
    "pl": "Niedostępny w magazynie | Chwilowo niedostępny",
    "sv": "Slut i lager",
    "da": "Udsolgt i øjeblikket",
    "no": "Utsolgt i nettbutikken",
    "ru": "Нет в наличии на складе | Нет в наличии в нашем интернет-магазине",
    "ja": "在庫なし | オンライン・店舗とも在庫なし",
    "cs": "Není skladem | Momentálně nedostupné",
    "tr": "Mağazamızda stokta yok",
    "ro": "Indisponibil în stoc",
}


def each(texts: dict[str, str]) -> list[tuple[str, str]]:
    """(language, text) of all."""
    return [(language, text) for language, joined in texts.items() for text in joined.split(" | ")]


def stock(lang: str, body: str) -> str | None:
    page = f'<html lang="{lang}"><title>Knife | Shop</title><body><h1>Knife</h1>{body}'
    return visible_stock.shown_availability(View(Document(page, "https://shop.example.com/x")))


@pytest.mark.parametrize(("language", "text"), each(ELSEWHERE))
def test_a_denial_of_one_place_is_not_the_products(language: str, text: str) -> None:
    lexicon = wording.lexicon(frozenset((language, "en")))
    assert lexicon.availability(text) not in ("OutOfStock", "Discontinued")
    assert lexicon.denies(text.lower()) or lexicon.in_stock.search(text.lower())


@pytest.mark.parametrize(("language", "text"), each(EVERYWHERE))
def test_a_denial_of_the_whole_shop_is(language: str, text: str) -> None:
    assert wording.lexicon(frozenset((language, "en"))).availability(text) == "OutOfStock"


def test_all_languages_have_words_for_places() -> None:
    assert {*ELSEWHERE} >= wording.LANGUAGES


@pytest.mark.parametrize(
    ("expected", "body"),
    [
        ("InStock", "<p>Not available in Belgium</p><p>In stock</p>"),
        ("InStock", "<dl><dt>Store pick-up</dt><dd>Sold out</dd><dt>Home</dt><dd>In stock</dd></dl>"),
        ("InStock", "<p>Store Leeds:</p><p>out of stock</p><p>Online:</p><p>in stock</p>"),
        ("InStock", "<div class=pickup-availability><p>Leeds</p><p>Sold out</p></div><p>In stock</p>"),
        (None, "<p>Not available for express delivery</p>"),
        (None, "<p>Home delivery: currently unavailable</p><p>Click &amp; Collect: today</p>"),
        ("OutOfStock", "<p>Free pick-up in store</p><p>Sold out</p>"),
        ("OutOfStock", "<p>Store pick-up: not available</p><p>Sold out</p>"),
        ("OutOfStock", "<dl><dt>Online</dt><dd>Sold out</dd></dl>"),
    ],
)
def test_what_stands_behind_the_label_of_a_place_is_of_it(expected: str | None, body: str) -> None:
    assert stock("en", body) == expected


def test_a_denial_of_one_place_is_still_a_sign_of_a_product() -> None:
    page = Document("<title>Knife</title><body><h1>Knife</h1><p>Sold out in Leeds</p>", "https://shop.example.com/x")
    assert visible_stock.is_out(View(page))
