"""What words beside two prices say, in elements without names, in the languages of most shops."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pytest

from crawler.extraction import extract_product

# language|a price|a lower one|buy button; then words at the price that is asked now, at the one asked before, and at
# others, that are no prices of one product for everybody. `#` is the price.
WORDS = """
en|$90.00|$72.00|Add to cart
now: Sale price #;Special price #;Now #;Offer price #;Our price #;Deal #;Today only #;Sale #
old: Was #;Regular price #;RRP #;List price #
not: Club price #;# with code SAVE20;# with coupon;Trade-in value up to #;Pay # today;4 x #;or 3 payments of #
not: # for members;Members pay #;Cash price #;Deposit #;Refill #;# each when you buy 3;Used from #
not: # off your first order;Bundle and save #;Gift wrap #;Extended warranty #;Student price #
not: Pick up today for #;Minimum order #
de|90,00 €|72,00 €|In den Warenkorb
now: Angebotspreis #;Sonderpreis #;Jetzt #;Aktionspreis #;Unser Preis #;Nur #;Jetzt nur #;Sale #;Preis: #
old: Statt #;UVP #;Alter Preis #;Bisher #
not: Clubpreis #;# mit Gutscheincode SPAR;Mit Coupon #;Inzahlungnahme bis #;4 x #;oder 3 Raten à #
not: # für Mitglieder;Bei Vorkasse #;Barzahlungspreis #;zzgl. # Pfand;Abholpreis #;ab 3 Stück je #;Im Set #
not: B-Ware ab #;Gebraucht ab #;Gratis-Versand ab #;Mindestbestellwert #;Montage #;Garantieverlängerung #
not: # Ersparnis;Skonto-Preis #
fr|90,00 €|72,00 €|Ajouter au panier
now: Prix promo #;Prix soldé #;Maintenant #;Prix remisé #;Notre prix #;Promo #;Prix : #
old: Au lieu de #;Prix conseillé #;Ancien prix #;Avant #
not: Prix club #;# avec le code PROMO;Reprise jusqu'à #;4x #;ou 3 fois #;# pour les adhérents;Prix adhérent #
not: dont éco-participation #;Occasion dès #;Livraison offerte dès #;Extension de garantie #;Prix en magasin #
not: Soit # le litre;Lot de 3 : # l'unité;Reconditionné à partir de #;# de remise;# remboursés;Cagnotte #
es|90,00 €|72,00 €|Añadir al carrito
now: Precio de oferta #;Precio especial #;Ahora #;Oferta #;Precio: #;Precio rebajado #
old: Antes #;Precio anterior #;PVP #;PVPR #
not: Precio club #;# con el código AHORRA;# con cupón;4 x #;o 3 cuotas de #;Precio socio #;Precio en efectivo #
not: Envío gratis desde #;Segunda mano desde #;Seguro #;Reacondicionado desde #;Precio por transferencia #
not: # pagando al contado;Ahorra #;Canje hasta #;Segunda unidad a #;Pedido mínimo #;Compra mínima de #
it|90,00 €|72,00 €|Aggiungi al carrello
now: Prezzo scontato #;Prezzo speciale #;Ora #;Prezzo: #;In offerta a #;Prezzo online #
old: Invece di #;Prezzo di listino #;Prima #
not: Prezzo club #;# con codice SCONTO;# con coupon;4 x #;o 3 rate da #;Prezzo soci #;Spedizione gratuita da #
not: Ricondizionato da #;Supervalutazione fino a #;Garanzia estesa #;Sconto #;Prezzo in contanti #
not: Prezzo con bonifico #
pt|R$ 90,00|R$ 72,00|Comprar
now: Por #;Por: #;Preço promocional #;Agora #;Por apenas #;Preço: #
old: De #;De: #;Preço antigo #
not: Preço clube #;# com cupom;4 x #;ou 3x de #;# à vista;# no boleto;# via Pix;# no pix
not: Frete grátis a partir de #;Garantia estendida #;Usado a partir de #;Ganhe # de cashback
not: # no cartão da loja;Preço sócio #
nl|€ 90,00|€ 72,00|In winkelwagen
now: Nu #;Aanbiedingsprijs #;Onze prijs #;Actieprijs #;Prijs: #;Nu voor #
old: Van #;Adviesprijs #;Was #;Normaal #
not: Clubprijs #;# met code KORTING;Inruilprijs #;4 x #;of 3 termijnen van #;Ledenprijs #
not: Gratis verzending vanaf #;Tweedehands vanaf #;Refurbished vanaf #;Garantie #;Statiegeld #;# cashback
not: Bij 3 stuks # per stuk;Prijs met pas #
sv|90,00 kr|72,00 kr|Köp
now: Nu #;Kampanjpris #;Reapris #;Pris: #;Vårt pris #;Extrapris #
old: Ord. pris #;Tidigare #;Förr #
not: Klubbpris #;# med kod REA;Medlemspris #;4 x #;eller 3 betalningar på #;Fri frakt över #;Begagnad från #
not: Pant #;Försäkring #;Inbyte upp till #;Studentpris #;2 för #;Jmf-pris #
da|90,00 kr.|72,00 kr.|Læg i kurv
now: Nu #;Tilbudspris #;Pris: #;Tilbud #;Kun #
old: Før #;Normalpris #;Vejl. pris #
not: Klubpris #;# med kode SALG;Medlemspris #;4 x #;eller 3 rater à #;Fri fragt over #;Pant #;Forsikring #
not: Ved køb af 3: #;2 for #
no|90,00 kr|72,00 kr|Kjøp
now: Nå #;Tilbudspris #;Pris: #;Kampanjepris #
old: Før #;Veil. pris #;Ordinær pris #
not: Klubbpris #;Medlemspris #;4 x #;Fri frakt over #;Pant #;2 for #;# med kode SALG
fi|90,00 €|72,00 €|Lisää ostoskoriin
now: Nyt #;Tarjoushinta #;Hinta: #;Alennettu hinta #
old: Norm. #;Ovh #;Ennen #
not: Klubihinta #;Jäsenhinta #;4 x #;Ilmainen toimitus yli #;Käytetty alkaen #;Pantti #;# koodilla ALE
not: Plussa-hinta #;3 kpl #
pl|90,00 zł|72,00 zł|Do koszyka
now: Cena promocyjna #;Nasza cena #;Teraz #;Cena: #;Promocja #;Cena brutto #
old: Cena regularna #;Stara cena #;Cena katalogowa #;Było #
not: Cena klubowa #;# z kodem RABAT;Cena z kartą #;4 x #;lub 3 raty po #;Darmowa dostawa od #;Używane od #
not: Kaucja #;Outlet od #;Ubezpieczenie #;Cena w aplikacji #;Przy zakupie 3 szt. #;Rata od #
cs|90,00 Kč|72,00 Kč|Do košíku
now: Akční cena #;Naše cena #;Nyní #;Cena: #;Cena po slevě #;Výprodej #
old: Původní cena #;Běžná cena #;DMOC #;MOC #
not: Klubová cena #;# s kódem SLEVA;4 x #;nebo 3 splátky po #;Doprava zdarma od #;Použité od #;Záloha #
not: Rozbaleno od #;Cena při odběru 3 ks #;S kartou #;Prodloužená záruka #;Bazar od #;Minimální objednávka #
sk|90,00 €|72,00 €|Do košíka
now: Akciová cena #;Naša cena #;Teraz #;Cena: #
old: Pôvodná cena #;Bežná cena #;MOC #
not: Klubová cena #;# s kódom ZLAVA;4 x #;Doprava zdarma od #;Použité od #;Rozbalené od #;Záloha #
hu|9 000 Ft|7 200 Ft|Kosárba
now: Akciós ár: #;Most #;Ár: #;Bruttó ár: #;Online ár #
old: Eredeti ár: #;Listaár: #;Korábbi ár: #
not: Klubár #;# kuponnal;4 x #;Ingyenes szállítás # felett;Használt: #;Hűségár #;Előre utalással #;Betétdíj #
ro|90,00 Lei|72,00 Lei|Adaugă în coș
now: Preț special #;Preț promoțional #;Acum #;Preț: #;Preț redus #
old: Preț vechi #;PRP #;Preț inițial #
not: Preț club #;# cu codul REDUCERE;4 x #;sau 3 rate de #;Transport gratuit peste #;Resigilat de la #
not: Preț cu card #;Garanție extinsă #
bg|90,00 лв.|72,00 лв.|Добави в количката
now: Промо цена #;Нова цена #;Сега #;Цена: #
old: Стара цена #;ПЦД #;Редовна цена #
not: Клубна цена #;# с код;4 x #;Безплатна доставка над #;Употребявани от #;Вноска #
el|90,00 €|72,00 €|Προσθήκη στο καλάθι
now: Τιμή προσφοράς #;Τώρα #;Τιμή: #;Τελική τιμή #;Τιμή web #
old: Αρχική τιμή #;Από #;Λιανική τιμή #
not: Τιμή club #;# με κουπόνι;4 x #;ή 3 δόσεις των #;Δωρεάν μεταφορικά άνω των #;Μεταχειρισμένο από #
not: Τιμή με μετρητά #;Δωρεάν αποστολή για αγορές άνω των #
ru|9 000 ₽|7 200 ₽|В корзину
now: Цена со скидкой #;Новая цена #;Сейчас #;Цена: #;Акция #;Цена по акции #
old: Старая цена #;Было #;Обычная цена #
not: Клубная цена #;# по промокоду;С картой #;4 x #;или 3 платежа по #;Бесплатная доставка от #;Оптовая цена #
not: При оплате онлайн #;Цена по карте #;Рассрочка #;Выгода #;При заказе от 3 шт #;Уценка #;Кэшбэк #
uk|90,00 грн|72,00 грн|Купити
now: Ціна зі знижкою #;Нова ціна #;Зараз #;Ціна: #;Акція #
old: Стара ціна #;Було #;Звичайна ціна #
not: Клубна ціна #;# з промокодом;4 x #;або 3 платежі по #;Безкоштовна доставка від #;Оптова ціна #
not: Вживані від #;Кешбек #;Уцінка #;При оплаті онлайн #
tr|90,00 TL|72,00 TL|Sepete Ekle
now: İndirimli fiyat #;Şimdi #;Fiyat: #;Kampanyalı fiyat #
old: Eski fiyat #;Liste fiyatı #;Piyasa fiyatı #
not: Kulüp fiyatı #;# kupon ile;Sepette #;4 x #;veya 3 taksit #;Havale ile #;Kapıda ödeme #
not: # üzeri ücretsiz kargo;Peşin fiyatına 3 x #;İkinci el #;Üye fiyatı #
he|₪90.00|₪72.00|הוסף לסל
now: מחיר מבצע #;עכשיו #;מחיר: #;מחיר אתר #
old: מחיר רגיל #;במקום #;מחיר מקורי #
not: מחיר מועדון #;# עם קופון;4 תשלומים של #;משלוח חינם מעל #;מחיר לחברי מועדון #
ja|9,000円|7,200円|カートに入れる
now: 特別価格 #;販売価格 #;セール価格 #;価格：#;今なら #
old: 通常価格 #;定価 #;参考価格 #
not: 会員価格 #;クーポン利用で#;月々#;#以上送料無料;中古 #から;定期購入 #;送料#;アプリ価格 #
ko|9,000원|7,200원|장바구니
now: 할인가 #;판매가 #;특가 #;즉시할인가 #
old: 정가 #;소비자가 #;정상가 #
not: 회원가 #;쿠폰 적용가 #;카드 할인가 #;월 #;# 이상 무료배송;중고 #;최대 혜택가 #;배송비 #
zh|¥90.00|¥72.00|加入购物车
now: 促销价 #;现价 #;活动价 #;价格：#;特价 #
old: 原价 #;市场价 #;划线价 #
not: 会员价 #;券后 #;满#包邮;分期 #;二手 #;运费 #;PLUS价 #;新人价 #
vi|90.000₫|72.000₫|Mua ngay
now: Giá khuyến mãi #;Giá bán: #;Giá: #;Chỉ còn #
old: Giá gốc #;Giá niêm yết #;Giá thị trường #
not: Giá thành viên #;# với mã giảm giá;Trả góp #;Miễn phí vận chuyển từ #;Hàng cũ từ #;Freeship đơn từ #
id|Rp90.000|Rp72.000|Beli Sekarang
now: Harga promo #;Sekarang #;Harga: #
old: Harga normal #;Harga asli #
not: Harga member #;# dengan kupon;Cicilan #;Gratis ongkir min. #;Bekas mulai #
hr|90,00 €|72,00 €|Dodaj u košaricu
now: Akcijska cijena #;Sada #;Cijena: #;Web cijena #
old: Redovna cijena #;Stara cijena #;MPC #
not: Klub cijena #;# s kodom;4 x #;Besplatna dostava iznad #;do 12 rata po #;Cijena za gotovinu #
sl|90,00 €|72,00 €|V košarico
now: Akcijska cena #;Zdaj #;Cena: #;Spletna cena #
old: Redna cena #;Stara cena #;PC #
not: Klubska cena #;4 x #;Brezplačna dostava nad #;na 3 obroke po #;Cena s kartico #
ar|90,00 ر.س|72,00 ر.س|أضف إلى السلة
now: السعر بعد الخصم #;الآن #;السعر: #
old: السعر قبل الخصم #;السعر الأصلي #;السعر القديم #
not: سعر النادي #;# مع الكوبون;4 دفعات بقيمة #;شحن مجاني فوق #;سعر الأعضاء #
sr|90,00 RSD|72,00 RSD|Dodaj u korpu
not: Klub cena #;4 x #;Besplatna dostava preko #;Cena za gotovinu #;Na rate #
"""


class Language(NamedTuple):
    code: str
    higher: str
    lower: str
    button: str
    words: dict[str, list[str]]

    def said(self, kind: str) -> list[str]:
        price = self.lower if kind != "old" else self.higher
        return [each.replace("#", price) for each in self.words[kind]]


def languages() -> list[Language]:
    found: list[Language] = []
    for line in WORDS.strip().splitlines():
        if "|" in line:
            code, higher, lower, button = line.split("|")
            found.append(Language(code, higher, lower, button, {"now": [], "old": [], "not": []}))
        else:
            kind, _, said = line.partition(": ")
            found[-1].words[kind] += said.split(";")
    return found


def misread(language: Language, pairs: Iterator[tuple[str, str]], price: str) -> list[tuple[str, str, str]]:
    """Those of the *pairs* of texts, and the same the other way round, of which another *price* is read."""
    wanted, wrong = "".join(filter(str.isdigit, price)), []
    for one, other in pairs:
        for texts in ((one, other), (other, one)):
            shown = "".join(f"<p>{text}</p>" for text in texts)
            page = f"<main><h1>Lamp X9</h1>{shown}<button>{language.button}</button></main>"
            html = f"<html lang={language.code}><title>Lamp X9</title><body>{page}"
            item = extract_product(html, "https://shop.example.com/product/lamp-x9")
            found = f"{item.price or 0:f}" if item is not None else ""
            if "".join(filter(str.isdigit, found)) != wanted:
                wrong.append((*texts, found))
    return wrong


@pytest.mark.parametrize("language", languages(), ids=lambda each: each.code)
def test_the_lower_one_is_asked_where_it_is_new_or_the_other_old(language: Language) -> None:
    now, old = language.said("now"), language.said("old")
    assert misread(language, product([*now, language.lower], old), language.lower) == []
    assert misread(language, product(now, [language.higher]), language.lower) == []


@pytest.mark.parametrize("language", languages(), ids=lambda each: each.code)
def test_the_higher_one_is_asked_where_the_other_is_not_for_all(language: Language) -> None:
    assert misread(language, product([language.higher], language.said("not")), language.higher) == []
