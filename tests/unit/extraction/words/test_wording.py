"""What shops say of stock and what they write on buttons, in many languages."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from crawler.extraction.words import labels, values, wording


def lexicon(language: str) -> wording.Lexicon:
    return wording.lexicon(frozenset((language, "en")))


def pairs(**texts: str) -> list[tuple[str, str]]:
    """(text, language) of each language's texts."""
    return [(text, language) for language, joined in texts.items() for text in joined.split(" | ")]


@pytest.mark.parametrize(
    ("text", "language"),
    pairs(
        pt="Não disponível | Nao disponivel",
        cs="Není skladem | Neni skladem | 0 ks skladem | Zboží nelze objednat",
        sk="Nie je skladom | Momentálne nie je možné produkt kúpiť",
        it="Non in stock | Non disponibile",
        en="Not in stock | Not currently in stock | In stock: 0 | 0 in stock | In stock: No | It cannot be ordered"
        " | In stock (0) | In Stock(0 pcs.)",
        de="nicht vorrätig | Leider nicht sofort lieferbar | Auf Lager: nein | Kann derzeit nicht bestellt werden"
        " | Auf Lager (0 Stück)",
        fr="Pas en stock | N'est pas disponible",
        es="Sin stock | No hay existencias",
        nl="niet leverbaar",
        sv="Ej i lager",
        da="Ikke på lager",
        no="Ikke tilgjengelig",
        fi="Ei varastossa",
        pl="Niedostępny | Dostępny (0 szt.) | Nie ma w magazynie",
        hu="Nincs raktáron",
        ro="Nu este în stoc | Nu mai este in stoc",
        bg="Не е в наличност",
        el="Μη διαθέσιμο",
        ru="Нет в наличии",
        uk="Немає в наявності",
        tr="Stokta yok | Mevcut değil",
        lv="Nav pieejams",
        lt="Nėra sandėlyje",
        et="Ei ole laos",
        he="לא במלאי",
        ar="غير متوفر",
        zh="暂无现货",
        ja="在庫なし",
        ko="재고 없음",
        th="สินค้าหมด",
        vi="Không còn hàng",
        id="Tidak tersedia",
        hi="उपलब्ध नहीं",
        hr="Nije dostupno",
        sr="Nije na stanju | Нема на лагеру",
        sl="Ni na zalogi",
        mk="Нема на залиха",
        sq="Nuk ka stok",
        **{"is": "Ekki til á lager"},
        az="Stokda yoxdur",
        kk="Қоймада жоқ",
        fa="ناموجود",
        bn="স্টক নেই",
        ms="Kehabisan stok",
        ca="Fora d'estoc",
        ka="არ არის მარაგში",
    ),
)
def test_a_denial_is_no_promise(text: str, language: str) -> None:
    assert lexicon(language).availability(text) == "OutOfStock"
    assert values.availability(text) == "OutOfStock"


@pytest.mark.parametrize(
    ("text", "language"),
    pairs(
        pt="Disponível | Vendido por Shop. Em stock",
        cs="Skladem | 10 ks skladem",
        it="Disponibile",
        en="10 in stock | In stock: 20 | Not sold online. In stock | Item no. 5\nIn stock"
        " | In stock (10) | In stock (0 minutes away) | In stock (0.5 kg) | In stock (0 reviews) | In stock (0 sold)",
        de="Auf Lager",
        tr="Stokta var",
        sl="Na zalogi",
        hr="U zalihi - na zalihi",
        sr="На лагеру",
        ru="На складе",
        bg="В наличност",
        ar="متوفر",
        zh="有货",
        ja="在庫あり",
        **{"is": "Á lager"},
        th="มีสินค้า",
        el="Έτοιμο: διαθέσιμο",
        fr="Vendu par Shop\nEn stock",
        fi="10 kpl varastossa",
    ),
)
def test_a_promise_is_one(text: str, language: str) -> None:
    assert lexicon(language).availability(text) == "InStock"


@pytest.mark.parametrize(
    ("label", "language"),
    pairs(
        en="Add to cart | Place in basket | Add 1 to cart",
        de="In den Warenkorb",
        fr="Ajouter au panier | Achat immédiat",
        es="Añadir a la cesta | Meter en la cesta",
        pt="Adicionar ao carrinho",
        it="Aggiungi al carrello",
        nl="In winkelwagen",
        sv="Köp",
        da="Læg i kurv | Tilføj til indkøbskurv",
        no="Legg i handlekurv",
        fi="Lisää ostoskoriin | Ostoskoriin",
        pl="Dodaj do koszyka | Dodaj do torby",
        cs="Do košíku | Do kosiku",
        sk="Pridať do košíka",
        hu="Kosárba | Hozzáadás a kosárhoz | Azonnali vásárlás",
        ro="Adaugă în coș | Adaugă în coş | Adauga in cos",
        bg="Купи",
        el="Προσθήκη στο καλάθι",
        ru="В корзину",
        uk="Купити",
        tr="Sepete ekle | Şimdi al",
        lv="Ielikt grozā",
        lt="Į krepšelį",
        et="Lisa korvi",
        he="הוסף לסל",
        ar="أضف إلى السلة",
        zh="加入购物车",
        ja="カートに入れる",
        ko="장바구니 담기",
        th="เพิ่มลงตะกร้า",
        vi="Mua ngay",
        id="Tambah ke keranjang",
        hi="कार्ट में डालें",
        hr="Kupi | Dodaj u košaricu",
        sr="Dodaj u korpu | У корпу",
        sl="V košarico",
        mk="Во кошничка",
        sq="Shto në shportë",
        **{"is": "Setja í körfu"},
        az="Səbətə at",
        kk="Себетке қосу",
        uz="Savatga",
        ka="კალათაში დამატება",
        fa="افزودن به سبد خرید",
        bn="কার্টে যোগ করুন",
        ms="Tambah ke troli",
        ca="Afegir a la cistella",
    ),
)
def test_a_buy_button(label: str, language: str) -> None:
    assert lexicon(language).buys(label.lower())


@pytest.mark.parametrize(
    ("label", "language"),
    pairs(
        en="Add to wish list | Add to list | Compare",
        de="Auf die Wunschliste",
        es="Añadir a la lista de deseos",
        pt="Adicionar aos favoritos",
        it="Aggiungi alla lista desideri",
        fr="Ajouter à mes envies",
        sv="Lägg i önskelista",
        da="Læg i ønskeliste",
        bg="Добави в любими",
        ru="В избранное | Заказать звонок",
        ar="أضف إلى المفضلة",
        zh="加入收藏",
        ja="お気に入りに追加",
        pl="Dodaj do ulubionych",
        sl="Dodaj na listo želja",
        id="Tambah ke wishlist",
        tr="Favorilere ekle",
    ),
)
def test_other_buttons(label: str, language: str) -> None:
    assert not lexicon(language).buys(label.lower())
    assert not wording.lexicon().buys(label.lower())


def test_every_phrase_is_found_by_its_first_letter() -> None:
    """Otherwise every position of a text is tried, at five times the cost; a `|` outside a group would split a
    phrase."""
    grouped = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
    phrases = [each for kinds in wording._PHRASES.values() for kind in kinds.values() for each in kind]
    assert [each for each in phrases if "|" in grouped.sub("", each)] == []
    for kind in ("out_of_stock", "in_stock", "buy", "past_price", "other_price"):
        assert getattr(wording.lexicon(), kind).pattern[0] not in "(["
    with pytest.raises(ValueError, match="letter first"):
        list(wording._begun("(?:no|not) there"))


def _is_plain(phrase: str) -> bool:
    return phrase.replace(" ", "").isalpha()


def test_no_phrase_is_found_by_a_shorter_one_of_its_kind() -> None:
    anywhere = ("buy", "other_button", "price", "past_price", "other_price", "side_price")
    at_the_start = ("out_of_stock", "discontinued", "pre_order", "back_order")
    needless = [
        (language, kind, phrase)
        for language, kinds in wording._PHRASES.items()
        for kind in (*anywhere, *at_the_start)
        for phrase, other in permutations(filter(_is_plain, kinds.get(kind, ())), 2)
        if (other in phrase if kind in anywhere else phrase.startswith(other))
    ]
    assert needless == []


@pytest.mark.parametrize(
    ("phrase", "found", "elsewhere"),
    [
        ("^buy\\b", "buy it", "to buy"),
        ("[eé]puis", "épuisé", "puisé"),
        ("\\d ?x", "3 x 4", "x"),
        ("\\+ ?a", "+ a", "a"),
    ],
)
def test_what_a_phrase_may_begin_with(phrase: str, found: str, elsewhere: str) -> None:
    pattern = re.compile(wording._by_first([phrase, "(?m:^sold[.!]?$)".strip()]))
    assert pattern.search(found)
    assert pattern.search("a\nsold!")
    assert not pattern.search(elsewhere)


@pytest.mark.parametrize(
    ("text", "language"),
    pairs(en="Almost sold out", de="Fast ausverkauft", nl="Bijna uitverkocht, nog 2 stuks", es="Casi agotado"),
)
def test_nearly_sold_out_is_no_denial(text: str, language: str) -> None:
    assert lexicon(language).availability(text) != "OutOfStock"


@pytest.mark.parametrize(
    "label",
    [
        "EAN",
        "GTIN-13:",
        "UPC Code",
        "Kod kreskowy",
        "Vonalkód",
        "Штрихкод",
        "Código de barras",
        "バーコード",
        "باركود",
        "Streckkod",
    ],
)
def test_labels_of_gtins(label: str) -> None:
    assert labels.GTIN_LABEL.search(label)
    assert not labels.GTIN_LABEL.search("Jane, clean ocean")
