"""Product pages that state nothing for machines, as shops of many countries show them."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_product

# host|language|name|price|stock|button|another button|amount|currency|availability
SHOPS = """
shop.hr|hr|Čekić za meso|149,00 Kn|Dostupno|Kupi|Dodaj na listu želja|149.00|HRK|InStock
shop.kz|ru|Молоток стальной|12 990 тг.|Есть в наличии|Купить|В избранное|12990|KZT|InStock
shop.bg|bg|Стоманен чук|25,90 лв.|Няма в наличност|Уведоми ме|Любими|25.90|BGN|OutOfStock
shop.mk|mk|Челичен чекан|1.290 ден|На залиха|Додади во кошничка|Омилени|1290|MKD|InStock
shop.uz|uz|Po'lat bolg'a|90 000 so'm|Mavjud|Savatga|Saralangan|90000|UZS|InStock
shop.ae|en|Steel hammer|Dhs. 45|In stock|Add to cart|Add to wishlist|45|AED|InStock
shop.ke|en|Steel hammer|KSh 1,200|Out of stock|Notify me|Add to wishlist|1200|KES|OutOfStock
shop.sn|fr|Marteau en acier|15 000 FCFA|En stock|Ajouter au panier|Ajouter à mes favoris|15000|XOF|InStock
shop.qa|en|Steel hammer|QR 45.00|Available now|Add to basket|Wishlist|45.00|QAR|InStock
shop.com.sa|ar|مطرقة فولاذية|1,299 ر.س|متوفر|أضف إلى السلة|أضف إلى المفضلة|1299|SAR|InStock
shop.bh|en|Steel hammer|BD 2.500|In stock|Buy now|Wishlist|2.500|BHD|InStock
shop.com.kw|en|Steel hammer|KD 4.750|Sold out|Sold out|Wishlist|4.750|KWD|OutOfStock
shop.bo|es|Martillo de acero|Bs. 350,00|Disponible|Añadir al carrito|Añadir a la lista de deseos|350.00|BOB|InStock
shop.eg|ar|مطرقة فولاذية|450 L.E.|غير متوفر|أعلمني|المفضلة|450|EGP|OutOfStock
shop.pt|pt|Martelo de aço|19,90 €|Não disponível|Avise-me|Favoritos|19.90|EUR|OutOfStock
shop.cz|cs|Ocelové kladivo|499 Kč|Neni skladem|Hlídat|Do oblíbených|499|CZK|OutOfStock
shop.it|it|Martello in acciaio|19,90 €|Non in stock|Avvisami|Aggiungi alla lista desideri|19.90|EUR|OutOfStock
shop.com.tr|tr|Çelik çekiç|1.299,90 TL|Stokta var|Sepete Ekle|Favorilere ekle|1299.90|TRY|InStock
shop.rs|sr|Čelični čekić|1.299,00 RSD|Na stanju|Dodaj u korpu|Lista želja|1299.00|RSD|InStock
shop.si|sl|Jekleno kladivo|19,90 €|Na zalogi|V košarico|Seznam želja|19.90|EUR|InStock
shop.com|sv|Stålhammare|199 kr|I lager|Köp|Önskelista|199|SEK|InStock
shop.vn|vi|Búa thép|199.000 ₫|Còn hàng|Mua ngay|Yêu thích|199000|VND|InStock
shop.id|id|Palu baja|Rp 199.000|Stok tersedia|Masukkan keranjang|Wishlist|199000|IDR|InStock
shop.co.th|th|ค้อนเหล็ก|199 บาท|มีสินค้า|หยิบใส่ตะกร้า|รายการโปรด|199|THB|InStock
shop.ir|fa|چکش فولادی|1,299,000 ریال|موجود|افزودن به سبد خرید|علاقه‌مندی|1299000|IRR|InStock
shop.com.bd|bn|ইস্পাত হাতুড়ি|৳ 499|স্টকে আছে|কার্টে যোগ করুন|পছন্দ|499|BDT|InStock
shop.ge|ka|ფოლადის ჩაქუჩი|49.90 ₾|მარაგშია|კალათაში დამატება|რჩეული|49.90|GEL|InStock
shop.az|az|Polad çəkic|49.90 AZN|Stokda var|Səbətə at|Seçilmişlər|49.90|AZN|InStock
shop.by|ru|Молоток|49,90 р.|В наличии|В корзину|Сравнить|49.90|BYN|InStock
shop.ua|uk|Сталевий молоток|499 грн|Немає в наявності|Повідомити|Обране|499|UAH|OutOfStock
shop.ro|ro|Ciocan din oțel|49,90 lei|În stoc|Adaugă în coș|Favorite|49.90|RON|InStock
shop.hu|hu|Acél kalapács|4 990 Ft|Raktáron|Kosárba|Kedvencek|4990|HUF|InStock
shop.is|is|Stálhamar|4.990 kr|Til á lager|Setja í körfu|Óskalisti|4990|ISK|InStock
shop.ma|fr|Marteau|399 DH|En stock|Acheter|Favoris|399|MAD|InStock
shop.dz|fr|Marteau|1500 DA|Disponible|Commander|Favoris|1500|DZD|InStock
shop.pk|en|Steel hammer|Rs. 1,500|In stock|Add to cart|Wishlist|1500|PKR|InStock
shop.lk|en|Steel hammer|Rs 1,500.00|In stock|Add to cart|Wishlist|1500.00|LKR|InStock
shop.co.za|en|Steel hammer|R 149.90|In stock|Add to cart|Wishlist|149.90|ZAR|InStock
shop.ng|en|Steel hammer|₦ 15,000|In stock|Add to cart|Wishlist|15000|NGN|InStock
shop.gh|en|Steel hammer|GH₵ 150.00|In stock|Add to cart|Wishlist|150.00|GHS|InStock
shop.com.py|es|Martillo|Gs. 150.000|Disponible|Comprar|Lista de deseos|150000|PYG|InStock
shop.pe|es|Martillo|S/ 49.90|En stock|Agregar al carrito|Lista de deseos|49.90|PEN|InStock
shop.cr|es|Martillo|₡15.000|En stock|Agregar al carrito|Lista de deseos|15000|CRC|InStock
shop.com.gt|es|Martillo|Q 149.90|Agotado|Avisarme|Lista de deseos|149.90|GTQ|OutOfStock
shop.mn|mn|Ган алх|49,900 ₮|Нөөцөд байгаа|Сагслах|Хүсэл|49900|MNT|InStock
shop.am|hy|Պողպատե մուրճ|4,900 ֏|Առկա է|Ավելացնել զամբյուղ|Հավանած|4900|AMD|InStock
shop.al|sq|Çekiç çeliku|1,500 Lek|Në stok|Shto në shportë|Lista e dëshirave|1500|ALL|InStock
shop.ba|bs|Čelični čekić|49,90 KM|Na stanju|Dodaj u korpu|Lista želja|49.90|BAM|InStock
shop.com.my|ms|Tukul keluli|RM 49.90|Ada stok|Tambah ke troli|Senarai hajat|49.90|MYR|InStock
shop.ph|en|Steel hammer|₱499.00|Available now|Add to cart|Wishlist|499.00|PHP|InStock
shop.np|en|Steel hammer|Rs. 1,500|In stock|Add to cart|Wishlist|1500|NPR|InStock
shop.co.il|he|פטיש פלדה|149.90 ₪|אזל מהמלאי|עדכנו אותי|מועדפים|149.90|ILS|OutOfStock
shop.gr|el|Ατσάλινο σφυρί|19,90 €|Μη διαθέσιμο|Ενημέρωσέ με|Αγαπημένα|19.90|EUR|OutOfStock
shop.jp|ja|鋼のハンマー|1,980円|在庫あり|カートに入れる|お気に入り|1980|JPY|InStock
shop.kr|ko|강철 망치|19,900원|품절|재입고 알림|찜|19900|KRW|OutOfStock
shop.cn|zh|钢锤子工具|¥199.00|有货|加入购物车|收藏|199.00|CNY|InStock
shop.ma|fr|Marteau en acier|399 Dhs|En stock|Acheter|Favoris|399|MAD|InStock
shop.dk|da|Hammer af stål|349,-|Ikke på lager|Giv mig besked|Ønskeliste|349|DKK|OutOfStock
shop.se|sv|Stålhammare|349:-|I lager|Köp|Önskelista|349|SEK|InStock
"""
PAGE = """<html lang="{language}"><head><title>{name} | Shop</title></head><body><header><a href="/">Shop</a></header>
<main><h1>{name}</h1><div class="{style}">{price}</div><p>{stock}</p><button>{button}</button><a href="#">{other}</a>
<p>{name}.</p></main><section class="related"><h2>xx</h2><a href="/p/1">yy</a> <span class="price">{less}</span>
<button>{button}</button></section></body></html>"""


@pytest.mark.parametrize("style", ["price-old-live", "c1"])
@pytest.mark.parametrize("shop", SHOPS.strip().splitlines())
def test_what_a_shop_shows(shop: str, style: str) -> None:
    host, language, name, price, stock, button, other, amount, currency, availability = shop.split("|")
    values = {
        "name": name,
        "price": price,
        "less": price.replace("9", "5"),
        "stock": stock,
        "button": button,
        "other": other,
    }
    item = extract_product(PAGE.format(language=language, style=style, **values), f"https://www.{host}/p/hammer-77123")
    assert item is not None
    assert (item.title, str(item.price), item.currency, item.availability) == (name, amount, currency, availability)


# language|label of the identifier|label of the brand|another price beside it
LABELS = """
de|Best.-Nr.:|Marke:|Netto: 41,93 €
fr|Code produit :|Fabricant :|Prix HT : 41,58 €
es|Código:|Marca:|Sin IVA: 41,24 €
it|Rif.:|Produttore:|41,93 € al litro
pt|Referência:|Fabricante:|15,48 € / kg
nl|Artikelcode|Fabrikant:|Excl. btw: 41,24 €
pl|Kod:|Producent:|15,48 € za 1 l
cs|Katalogové číslo:|Výrobce:|Bez DPH: 41,24 €
sk|Kód:|Výrobca:|15,48 € / kg
hu|Cikksz.:|Gyártó:|Nettó: 41,24 €
ro|Cod:|Producător:|Fără TVA: 41,24 €
bg|Код на продукта:|Производител:|Без ДДС: 41,24 €
el|Κωδ.:|Κατασκευαστής:|Χωρίς ΦΠΑ: 41,24 €
tr|Stok Kodu|Üretici:|KDV Hariç: 41,24 €
ru|Арт.|Производитель:|41,24 € / кг
sr|Šifra proizvoda:|Proizvođač:|Bez PDV-a: 41,24 €
hr|Kat. broj:|Robna marka:|Cijena za 1 l: 41,24 €
sl|Šifra izdelka:|Blagovna znamka:|Brez DDV: 41,24 €
lt|Kodas:|Gamintojas:|Be PVM: 41,24 €
lv|Artikuls:|Ražotājs:|41,24 € / kg
et|Kood:|Kaubamärk:|41,24 € / kg
fi|Tuotekoodi:|Valmistaja:|Alv 0%: 41,24 €
sv|Art.nr:|Varumärke:|Exkl. moms: 41,24 €
no|Varenr:|Merkevare:|Eks. mva: 41,24 €
ar|رمز المنتج:|الماركة:|41,24 € / كجم
fa|کد کالا:|سازنده:|41,24 € / کیلو
hi|उत्पाद कोड:|ब्रांड:|41,24 € / किग्रा
th|รหัสสินค้า|ยี่ห้อ:|41,24 € / กก.
vi|Mã SP:|Hãng sản xuất:|41,24 € / kg
ms|Kod produk:|Jenama:|41,24 € / kg
ja|品番:|ブランド名:|41,24 €/個
zh|货号：|品牌：|41,24 €/斤
"""


@pytest.mark.parametrize("form", ["<li>{label} {value}</li>", "<li><b>{label}</b> <i>{value}</i></li>"])
@pytest.mark.parametrize("shop", LABELS.strip().splitlines())
def test_what_a_shop_labels(shop: str, form: str) -> None:
    language, code, brand, aside = shop.split("|")
    labelled = form.format(label=code, value="HK-20451") + form.format(label=brand, value="Stanley")
    body = f"<h1>Hammer Pro</h1><ul><li><h2>49,90 €</h2></li><li>{aside}</li></ul><ul>{labelled}</ul>"
    item = extract_product(f"<html lang={language}><title>Hammer Pro</title>{body}", "https://shop.example.com/p/7123")
    assert item is not None
    assert (str(item.price), item.sku, item.brand) == ("49.90", "HK-20451", "Stanley")


def test_a_coupon_is_no_identifier_where_there_is_one() -> None:
    labelled = "<p>Code: SAVE20</p><p>Art.-Nr. HK-20451</p>"
    item = extract_product(
        f"<h1>Hammer</h1><b>49,90 €</b>{labelled}<button>Kaufen</button>", "https://shop.de/p/hammer"
    )
    assert item is not None
    assert item.sku == "HK-20451"


def test_a_brand_beside_the_heading() -> None:
    body = "<a href=/acme>Acme</a><h1>Steel hammer</h1><b>$49.90</b><button>Add to cart</button>"
    item = extract_product(f"<title>Acme Steel hammer | Shop</title>{body}", "https://shop.example.com/p/7123")
    assert item is not None
    assert item.brand == "Acme"


def test_a_lower_price_in_a_later_sentence_is_not_the_price() -> None:
    rest = "<p>or 12 payments worth $19.95</p><button>Add to cart</button>"
    item = extract_product(f"<h1>Steel hammer</h1><b>$49.90</b>{rest}", "https://shop.example.com/p/7123")
    assert item is not None
    assert str(item.price) == "49.90"


@pytest.mark.parametrize(
    "price",
    [
        "<span>€</span><span>49</span><span>,90</span>",
        "<span>€</span><span>49</span><span>.</span><span>90</span>",
        "<sup>€</sup>49<sup>90</sup>",
        "€ 49,<sup>90</sup>",
        "<span>49</span><span>,90</span> <span>€</span>",
        "<span>49,</span><span>90</span> <span>€</span>",
        "<span>EUR</span> <span>49<sup>90</sup></span>",
    ],
)
@pytest.mark.parametrize("style", ["price", "c1"])
def test_cents_in_elements_of_their_own(price: str, style: str) -> None:
    body = f"<h1>Steel hammer</h1><p class={style}>{price}</p><button>Add to cart</button>"
    item = extract_product(body, "https://shop.example.com/p/7123")
    assert item is not None
    assert (str(item.price), item.currency) == ("49.90", "EUR")


# Of prices in elements that all look the same, the one that is asked: language|country|its text|the texts around it
ALIKE = """
en|au|$499.00|or 4 interest-free payments of $124.75#Free shipping over $150
el|gr|24,90 €|Δωρεάν μεταφορικά άνω των 40€
et|ee|39,90 €|Järelmaks al. 3,99 €/kuu
sv|se|249 kr|Ord. pris 349 kr#Lägsta pris senaste 30 dagarna: 229 kr#Delbetala från 48 kr/mån
hu|hu|24 990 Ft|(19 677 Ft + ÁFA)#Ingyenes szállítás 20 000 Ft felett
es|cl|$49.990|Precio normal $69.990#Precio tarjeta $44.990
da|dk|299 kr.|Medlemspris 249 kr.#Førpris 399 kr.
"""


@pytest.mark.parametrize("shop", ALIKE.strip().splitlines())
def test_the_price_among_others_that_look_like_it(shop: str) -> None:
    language, country, price, others = shop.split("|")
    beside = "".join(f"<p>{other}</p>" for other in others.split("#"))
    button = {"en": "Add to cart", "el": "Στο καλάθι", "et": "Lisa ostukorvi", "sv": "Köp", "hu": "Kosárba",
              "es": "Agregar al carro", "da": "Læg i kurv"}[language]  # fmt: skip
    body = f"<h1>Hammer Pro</h1><p>{price}</p><button>{button}</button>{beside}"
    page = f"<html lang={language}><title>Hammer Pro</title><body>{body}</body></html>"
    item = extract_product(page, f"https://shop.{country}/p/7123")
    assert item is not None
    assert item.price is not None
    assert f"{item.price:f}".replace(".", "") == "".join(filter(str.isdigit, price))


def test_the_heading_of_a_recommended_product_is_not_the_page_s() -> None:
    page = """<html><title>Phone X 128 GB | Shop</title>
    <div><h1>Case for Phone X</h1><b class=price>$19.00</b></div>
    <div><h2>Phone X 128 GB</h2><b class=price>$599.00</b><button>Add to cart</button></div></body></html>"""
    item = extract_product(page, "https://shop.example.com/p/7123")
    assert item is not None
    assert (item.title, str(item.price)) == ("Phone X 128 GB", "599.00")


def test_a_number_in_the_name_is_no_identifier() -> None:
    page = "<html><title>Puzzle 1000 pieces</title><h1>Puzzle 1000 pieces</h1><b>$14.99</b><button>Buy now</button>"
    item = extract_product(page, "https://shop.example.com/p/puzzle-1000-pieces")
    assert item is not None
    assert item.sku is None


def test_a_price_called_old_by_its_name_and_its_text_is_old() -> None:
    page = """<html><title>Steel Mug</title><h1>Steel Mug</h1><p class="price price--rrp">MSRP: $25.00</p>
    <p class="price price--withoutTax">$18.00</p><button>Add to cart</button>"""
    item = extract_product(page, "https://shop.example.com/p/7123")
    assert item is not None
    assert str(item.price) == "18.00"


def test_a_dash_for_no_cents_in_an_element_of_its_own() -> None:
    page = "<html lang=sv><title>Hylla</title><h1>Hylla</h1><p class=price><b>499</b><i>:-</i></p><button>Köp</button>"
    item = extract_product(page, "https://shop.se/p/7123")
    assert item is not None
    assert (str(item.price), item.currency) == ("499", "SEK")


@pytest.mark.parametrize(
    ("language", "host", "path", "price", "button"),
    [
        ("es", "clinica.es", "limpieza-dental", "Precio: 49 €", "Reservar cita"),
        ("pl", "dom.pl", "pranie-tapicerki", "Cena od 150 zł", "Zamów usługę"),
        ("ru", "remont.ru", "remont-iphone", "4 500 руб.", "Заказать звонок"),
        ("de", "host.de", "domain-de", "0,49 € im ersten Jahr", "Jetzt bestellen"),
        ("fr", "musee.fr", "tarifs", "Plein tarif 14 €", "Réserver"),
    ],
)
def test_a_service_is_no_product(language: str, host: str, path: str, price: str, button: str) -> None:
    body = f"<title>Angebot</title><h1>Angebot</h1><p>{price}</p><button>{button}</button>"
    assert extract_product(f"<html lang={language}>{body}", f"https://{host}/{path}") is None


def test_a_sign_behind_the_heading_is_the_prices() -> None:
    shown = "<h1>保温杯 500ml</h1><div class=price><span>¥</span><span>199.00</span></div><button>加入购物车</button>"
    item = extract_product(
        f"<html lang=zh-CN><title>保温杯 500ml</title><main>{shown}", "https://shop.example.cn/item/1"
    )
    assert item is not None
    assert (str(item.price), item.currency) == ("199.00", "CNY")
