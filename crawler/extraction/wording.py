"""What shops write, in the main languages of Europe and Asia: stock, buy buttons, labels, price words.

Each pattern is a search, in lower case, over one short text. Added words cost nothing elsewhere: the texts
that are looked at lie close to the product's title and price.
"""

from __future__ import annotations

import re
from typing import Final


def _any(*lines: str) -> re.Pattern[str]:
    return re.compile("|".join(lines), re.IGNORECASE)


OUT_OF_STOCK: Final = _any(
    r"out[ -]of[ -]stock|sold[ -]out|(currently|temporarily) (unavailable|not available)|not in stock|no stock",
    r"\bunavailable\b|not available (for|at|right|online)|(item|product) is not available|auction (has )?ended",
    r"ausverkauft|nicht (mehr )?(auf lager|verfügbar|lieferbar|vorrätig|erhältlich)|vergriffen",
    r"rupture( de stock)?|épuisée?\b|indisponible|(plus|pas|non) disponible|en rupture",
    r"agotad[oa]|sin (stock|existencias)|no disponible|fuera de stock|esgotad[oa]|indisponível",
    r"sem (stock|estoque)|esaurit[oa]|non (è )?disponibile|uitverkocht|niet (op voorraad|leverbaar|beschikbaar)",
    r"slutsåld|slut i lager|(ej|inte) i lager|udsolgt|utsolgt|ikke på lager|loppuunmyyty|ei varastossa",
    r"niedostępn|brak (w magazynie|towaru|na stanie)|wyprzedan|vyprod[aá]n|vypredan|nen[ií] sklad[eo]m",
    r"nie je skladom|nedostupn|elfogyott|nincs (készleten|raktáron)|nem (elérhető|kapható|rendelhető)",
    r"stoc epuizat|epuizat|indisponibil|nu (este|e) [iî]n stoc|изчерпан|няма (в )?наличност|не е (в )?налич",
    r"εξαντλ|μη διαθέσιμ|нет в наличии|распродан|товар (закончился|отсутствует)|нет на складе|недоступен",
    r"немає в наявності|розпродано|tükendi|stokta yok|nav (pieejam|noliktavā)|izpārdots|išparduota",
    r"nėra (sandėlyje|prekyboje)|läbi müüdud|otsas\b|pole saadaval|ei ole saadaval",
    r"אזל|(לא|אינו|אינה) (במלאי|זמין)|אין במלאי|נגמר|نفد|نفذ|غير (متوفر|متاح)",
    r"缺货|缺貨|售罄|无货|無貨|(已)?售完|补货中|補貨中|无库存|已下架|完售|銷售一空|暫停銷售|已結束",
    r"在庫(切れ|なし|がありません)|売り切れ|売切|品切れ|完売|販売終了|품절|재고 ?없음|판매 ?종료",
    r"สินค้าหมด|หมดสต็อก|hết hàng|stok habis|habis terjual|उपलब्ध नहीं",
)
DISCONTINUED: Final = _any(
    r"discontinued|no longer (available|sold|stocked)|nicht mehr im sortiment|eingestellt\b",
    r"descatalogad|descontinuad|fuori produzione|plus commercialisé|снят с производства|生産終了|停产|단종",
)
PRE_ORDER: Final = _any(
    r"\bpre-?orders?\b|available for pre|vorbestell|précommand|reserva anticipada|pré-(venda|encomenda)",
    r"preordin|prenotalo|preventa|förbeställ|forudbestil|ennakkotilaa|przedsprzeda|předobjedn|predobjedn|előrendel",
    r"precomand|предзаказ|передзамовлення|预售|預購|预订|予約(受付|注文|商品)|예약 ?(구매|판매)|ön sipariş",
)
BACK_ORDER: Final = _any(
    r"\bback-?order(ed)?\b|nachbestellt|auf bestellung|sur commande|su ordinazione|bajo pedido|sob encomenda",
    r"beställningsvara|bestillingsvare|na zamówienie|na objednávku|под заказ|取り寄せ|入荷待ち",
)
IN_STOCK: Final = _any(
    r"\bin[ -]stock\b|\bavailable (now|for|to|online|in)\b|ready to ship|ships (in|within|today)|only \d+ left",
    r"\b(auf lager|sofort (verfügbar|lieferbar)|lieferbar|vorrätig|verfügbar)\b|\ben stock\b|\bdisponible\b",
    r"\b(em|in|en) (stock|estoque|existencia|voorraad)\b|disponibil[ei]\b|disponível|op voorraad|leverbaar",
    r"\bi lager\b|\bpå lager\b|varastossa|saatavilla|dostępn|na stanie|w magazynie|\bsklad[eo]m\b|dostupn",
    r"készleten|raktáron|elérhető|[iî]n stoc\b|в наличност|наличен|διαθέσιμ|άμεσα|в наличии|есть на складе",
    r"в наявності|stokta\b|mevcut\b|ir noliktavā|pieejam|yra sandėlyje|\blaos\b|saadaval|במלאי|متوفر|متاح",
    r"有货|有貨|現貨|现货|有库存|在庫(あり|有)|재고 ?있음|มีสินค้า|còn hàng|tersedia|उपलब्ध",
)
BUY: Final = _any(
    r"\badd (item )?to (my |your |shopping )?(cart|basket|bag|trolley)|^buy( it)?( now)?$|place bid|bid now|book now",
    r"in den (waren|einkaufs)(korb|wagen)|jetzt kaufen|zum warenkorb|ajouter au panier|acheter\b|(a|ñ)adir (al|a la) ",
    r"\bcomprar\b|agregar al|adicionar ao|aggiungi al|acquista|in (mijn )?winkel(wagen|mand)|in mandje",
    r"lägg i|\bköp\b|læg i|legg i|\bkjøp\b|lisää (ostos)?kori|osta\b|do koszyka|kup teraz|do ko[sš][ií]k",
    r"kosárba|adaug[aă] [iî]n co[sș]|cumpăr|купи|в корзину|добави в|до кошика|sepete ekle|satın al|στο καλάθι",
    r"(ielikt|pievienot) groz|į krepšelį|ostukorvi|הוסף לסל|הוספה לסל|קנה|לרכישה|أضف|اشتر",
    r"加入购物车|加入購物車|放入購物車|立即(购买|購買)|我要買|カートに|購入(する|手続)|장바구니|구매하기|바로 ?구매",
    r"หยิบใส่|เพิ่มลง|ซื้อเลย|thêm vào giỏ|mua ngay|tambah ke|(masukkan|tambah) keranjang|beli sekarang",
)
_THING = (
    r"(?:product|item|article|catalog(?:ue)?|stock|store|web|listing|auction|prod(?:u[ckt]|ott|us)\w*|arti[ckg]\w*"
    r"|artí\w*|artyk\w*|art|bestell|order|vare|tuote|tovar\w*|towar\w*|zbož\w*|r[ée]f\w*|term[ée]k|cikk|ürün|stok|prec\w+"
    r"|prek\w+|toote|kauba|товар\w*|продукт\w*|προϊόντος)"
)
_WORD = (
    r"(?:codes?|numbers?|num|numm?er[oa]?|numéro|número|nro?|no|n|id|k[oó]d\w{0,2}|kood|c[oó]d(?:igo|ice)?|šifra|szám"
    r"|nummer|numarası|tunnus|номер|код|κωδικός|#)"
)
SKU_LABEL: Final = re.compile(
    rf"(?:{_THING}[\s./-]*{_WORD}|{_WORD}[\s.º°]*(?:of|do|del|de la|de|du|della|dell')?\s*{_THING}|sku|asin|ref"
    r"|r[ée]f[ée]ren[cç]\w+|артикул|код|indeks|מק[\"״']?ט|מספר (?:פריט|מוצר)|رقم (?:المنتج|الصنف)|รหัสสินค้า"
    r"|(?:商品|產品|产品|品|货|貨)(?:編號|编号|番号|号|號|ID|コード)|상품\s?(?:번호|코드)|mã (?:sản phẩm|sp|hàng))"
    r"(?![^\W\d_])[.:：#№º°\s)]*",
    re.IGNORECASE,
)
GTIN_LABEL: Final = _any(r"\b(gtin|ean|upc|isbn|jan)(-?\d{1,2})?\b|\bbarcode\b|штрих-?код|条形码|국제표준")
_BRAND = (
    r"(?:brand|manufacturer|marke|hersteller|marque|marca|fabricante|produttore|merk|märke|mærke|merke|varemerke"
    r"|tuotemerkki|merkki|marka|producent|značka|výrobce|výrobca|márka|gyártó|марка|бренд|производитель|виробник"
    r"|zīmols|ražotājs|prekės ženklas|gamintojas|kaubamärk|bränd|tootja|מותג|יצרן|العلامة التجارية|品牌|ブランド"
    r"|メーカー|브랜드|제조사|แบรนด์|thương hiệu|merek)"
)
BRAND_LABEL: Final = re.compile(rf"^{_BRAND}\s*[:：]?\s*$", re.IGNORECASE)
BRAND_PREFIX: Final = re.compile(rf"^.{{0,40}}\b{_BRAND}\s*[:：]\s*", re.IGNORECASE)
PAST_PRICE: Final = _any(
    r"\b(was|rrp|msrp|list price|reg(ular)?\.? price|old price|before|retail|compare at|original(ly)?|you save|save)\b",
    r"\b(statt|uvp|vorher|bisher|ehemals|au lieu de|prix (barré|conseillé)|avant|antes|pvpr|precio anterior|de:)\b",
    r"\b(invece di|anziché|prezzo (consigliato|precedente)|adviesprijs|van:|tidigare|ord\. ?pris|før|norm(ál|al))\b",
    r"cena (katalogowa|regularna|przed)|najniższa cena|původní cena|pôvodná cena|bežná cena|prp\b|pret vechi",
    r"старая цена|原價|原价|市價|市价|定價|建議售價|定価|通常価格|정가|was:|מחיר מקורי|liste fiyatı",
)
OTHER_PRICE: Final = _any(
    r"shipping|delivery|deposit|estimate|starting (price|bid)|per month|/ ?mo(nth)?\b|monthly|a month|installments?",
    r"cashback|coupon|gift card|trade-?in",
    r"versand|lieferung|monat|\brate\b|livraison|/ ?mois|par mois|envío|cuotas|al mes|\bmes(es)?\b|spedizione|consegna",
    r"portes|entrega|parcel|\d+ ?x de|verzend|bezorg|per maand|frakt|fragt|leveran|toimitus|wysyłk|dostaw|\brat[ay]\b",
    r"doprav|splátk|szállítás|livrare|rat[eă]\b|доставк|в месяц|/ ?мес|kargo|taksit|מש(לוח|לוחים)|תשלומים|شحن",
    r"運費|运费|分期|/期|期 ?x|送料|円/月|배송비|무이자|ค่าจัดส่ง|phí",
    r"per (kg|100|l\b|unit|item|litre|liter|m²|m2)|/ ?(kg|100|l|st|m²|m2|stk|pc)\b",
)
