"""What one saves, or what others pay, is not what one pays."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from crawler.extraction import extract_product

SAVINGS = {
    "en": "You save £3 | Saving £3 | Discount: £3 | Your saving: £3",
    "de": "Sie sparen 3 € | Rabatt: 3 € | Ersparnis: 3 € | 3 € gespart",
    "fr": "Vous économisez 3 € | Remise : 3 € | Remise immédiate de 3 €",
    "es": "Ahorras 3 € | Ahorro: 3 € | Descuento: 3 €",
    "it": "Risparmi 3 € | Sconto: 3 €",
    "pt": "Você economiza R$ 3 | Desconto: R$ 3 | Economia de R$ 3",
    "nl": "U bespaart € 3 | Korting: € 3 | Voordeel € 3",
    "pl": "Oszczędzasz 3 zł | Rabat: 3 zł | Zniżka 3 zł",
    "cs": "Ušetříte 3 Kč | Sleva 3 Kč | Úspora: 3 Kč",
    "sk": "Ušetríte 3 € | Zľava 3 €",
    "hu": "Megtakarítás: 3 Ft | Kedvezmény: 3 Ft",
    "ro": "Economisești 3 lei | Reducere: 3 lei",
    "bg": "Спестявате 3 лв. | Отстъпка: 3 лв.",
    "ru": "Экономия 3 ₽ | Скидка 3 ₽ | Выгода: 3 ₽",
    "uk": "Економія 3 грн | Знижка 3 грн | Вигода 3 грн",
    "el": "Κερδίζετε 3 € | Έκπτωση 3 € | Όφελος 3 €",
    "tr": "Kazancınız 3 TL | İndirim 3 TL | Tasarruf: 3 TL",
    "sv": "Du sparar 3 kr | Rabatt: 3 kr",
    "no": "Du sparer 3 kr | Rabatt: 3 kr",
    "da": "Du sparer 3 kr. | Rabat: 3 kr.",
    "fi": "Säästät 3 € | Alennus: 3 €",
    "et": "Säästad 3 € | Soodustus 3 €",
    "lv": "Ietaupi 3 € | Atlaide 3 €",
    "lt": "Sutaupote 3 € | Nuolaida 3 €",
    "hr": "Ušteda 3 € | Popust 3 €",
    "sl": "Prihranek 3 € | Popust 3 €",
    "sr": "Уштеда 3 дин. | Попуст 3 дин. | Popust 3 din.",
    "ja": "3円お得 | 3円OFF | 割引 3円",
    "ko": "3원 할인 | 할인금액 3원",
    "zh": "現省 NT$3 | 折扣 NT$3 | 省 NT$3",
    "th": "ประหยัด ฿3 | ส่วนลด ฿3",
    "vi": "Tiết kiệm 3₫ | Giảm 3₫",
    "id": "Hemat Rp3 | Diskon Rp3",
    "ar": "وفر 3 ر.س | خصم 3 ر.س",
    "he": "חסכת 3 ₪ | הנחה 3 ₪",
    "fa": "تخفیف 3 تومان | سود شما 3 تومان",
}
_AMOUNT = re.compile(
    r"(?:£|R\$ |€ |NT\$|฿|Rp)3|3(?: ?(?:€|zł|Kč|Ft|lei|лв\.|₽|грн|TL|kr|din\.|дин\.|円|원|₫|ر\.س|₪|تومان))"
)
# Words like these at a price that is paid.
PAID = {
    "en": "Discount price: £3 | <b>Sale</b> <b>£3</b>",
    "de": "<b>Rabatt</b> <b>3 €</b>",
    "cs": "<b>Sleva</b> <b>3 Kč</b> | Cena po slevě: 3 Kč",
    "hu": "Kedvezményes ár: 3 Ft",
    "tr": "İndirimli fiyat 3 TL",
    "ru": "Цена со скидкой: 3 ₽",
    "ja": "お得な価格 3円 | 割引価格 3円",
    "ko": "할인가 3원",
    "zh": "折扣價 NT$3",
    "vi": "Giảm còn 3₫",
    "fa": "قیمت با تخفیف 3 تومان",
}


def price(lang: str, body: str) -> Decimal | None:
    html = f"<html lang={lang}><title>X-200 | Shop</title><h1>X-200</h1>{body}<form><button>Add to cart</button></form>"
    item = extract_product(html, "https://shop.example.com/product/x-200")
    return item.price if item is not None else None


@pytest.mark.parametrize("lang", SAVINGS)
def test_what_one_saves_is_no_price(lang: str) -> None:
    for each in SAVINGS[lang].split(" | "):
        amount = _AMOUNT.search(each)
        assert amount is not None
        assert price(lang, f"<p>{each}</p><p>{amount[0].replace('3', '9')}</p>") == 9, each


@pytest.mark.parametrize("lang", PAID)
def test_what_one_pays_is_a_price_with_such_words_too(lang: str) -> None:
    for each in PAID[lang].split(" | "):
        assert price(lang, f"<p>{each}</p>") == 3, each


@pytest.mark.parametrize(
    ("lang", "own", "others"),
    [
        ("en", "£9", "Trade price £7"),
        ("ru", "Розничная цена: 9 ₽", "Оптовая цена: 7 ₽"),
        ("uk", "9 грн", "Опт 7 грн"),
        ("de", "9 €", "Großhandelspreis 7 €"),
        ("fr", "9 €", "Prix adhérent 7 €"),
        ("pl", "9 zł", "Cena hurtowa 7 zł"),
        ("cs", "9 Kč", "Velkoobchodní cena 7 Kč"),
        ("tr", "9 TL", "Toptan fiyatı 7 TL"),
        ("zh", "NT$9", "批發價 NT$7"),
    ],
)
def test_what_dealers_and_members_pay_stands_aside(lang: str, own: str, others: str) -> None:
    assert price(lang, f"<p>{own}</p><p>{others}</p>") == 9
    assert price(lang, f"<p>{others}</p><p>{own}</p>") == 9
    assert price(lang, f"<p>{others}</p>") == 7
