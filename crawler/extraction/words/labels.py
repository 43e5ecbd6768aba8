"""Labels of identifiers and brands in all languages at once, matched at the start of a text."""

from __future__ import annotations

import re
from typing import Final


def any_of(phrases: str) -> str:
    """A case-insensitive pattern for the space-separated *phrases*; most texts fail at the first letter."""
    rest: dict[str, list[str]] = {}
    for phrase in phrases.split():
        rest.setdefault(phrase[0], []).append(phrase[1:].replace("_", " "))
    each = (rf"[{first}{first.upper()}](?i:{'|'.join(more)})" for first, more in rest.items())
    return f"(?:{'|'.join(each)})"


_THINGS: Final = (
    r"product item style article cat(?:alog(?:ue)?)? stock store web internet listing ad auction sku prod material"
    r" prod(?!uttor|ucent|uc[aă]tor|uctor)(?:u[ckti]|ott|us)\w* arti[ckg]\w*"
    r" artí\w* artyk\w* art bestell? order vare tuote tovar\w* towar\w* zbož\w* r[ée]f\w* term[ée]k cikk ürün stok"
    r" prec\w+ prek\w+ toote kauba товар\w* продукт\w* προϊόντος proizvod\w* izdelk\w* artikl\w* obj\w* best"
    r" katal\w+ kat rendelés\w* varu ofert\w* είδους производ\w* артикл\w* каталошк\w+ артикул\w* каталож\w+"
    r" каталогу кат арт barang waren tilaus beställnings bestillings"
    # Of what private people sell:
    r" anzeigen? inserats? annon(?:ce|s) annuncio an[uú]ncio publicaci[oó]n advertentie ogłoszeni\w+ inzer[aá]t\w*"
    r" hirdetés\w* ilan İlan finn объявлени\w* оголошенн\w*"
)
_WORDS: Final = (
    r"codes? numbers? num numm?er[oa]? numéro número nro? no n id sku nomor numeris č br k[oó]d\w{0,2} koodi?"
    r" c[oó]d(?:igo|ice)? šifra sz(?:ám)? шифра број κωδ nummer numarası tunnus номер код κωδικός # broj číslo"
    r" číslice numer"
)
_ALONE: Final = (
    r"ugs sku asin r[ée]f r[ée]f[éeê]r[eê]n(?:[cç]\w+|tie|s|z) referans referin[tț][aă] varukod sipariş_kodu"
    r" internal_reference interne_referen(?:z|tie) riferimento артикул код indeks מק[\"״']?ט מספר_(?:פריט|מוצר)"
    r" رقم_(?:المنتج|الصنف|القطعة) رمز_(?:المنتج|الصنف|السلعة) كود_(?:المنتج|الصنف|السلعة)"
    r" کد_(?:محصول|کالا) شناسه_(?:محصول|کالا) उत्पाद_कोड उत्पाद_आईडी"
    r" एसकेयू পণ্য(?:ের)?_কোড এসকেইউ รหัสสินค้า รหัสผลิตภัณฑ์"
    r" קוד_(?:מוצר|פריט) מספר_קטלוגי vörunúmer vnr kodi_i_produktit პროდუქტის_კოდი არტიკული ապրանքի_կոդ"
    r" məhsul(?:un)?_kodu mahsulot_kodi бараан(?:ы)?_код тауар_коды šifra_(?:proizvoda|artikla|izdelka)"
    r" kataloški_broj αρ\._προϊόντος αριθμός_προϊόντος 제품\s?(?:번호|코드) 품번"
    r" 品番・型番 管理(?:{0}) 商品[货貨]?(?:{0}) 製品(?:{0}) 產品(?:{0}) 产品(?:{0}) 品(?:{0}) 货(?:{0}) 貨(?:{0})"
    r" 款(?:{0}) 商品料號 자체\s?상품코드 mã_số رمز_التخزين"
    r" 상품\s?(?:번호|코드) mã_(?:sản_phẩm|sp|hàng)"
).replace("{0}", "編號|编号|番号|番|号|號|ID|コード|代碼|代码")
_OTHERS: Final = r"(?:ASIN|CAS|EAN|GTIN|HSN|ISBN|JAN|MPN|NSN|OEM|PZN|UPC)"  # codes that are not the shop's own
_FIRST: Final = "".join({phrase[0] + phrase[0].upper() for phrase in f"{_THINGS} {_WORDS} {_ALONE}".split()})
_THING, _WORD = any_of(_THINGS), any_of(_WORDS)
SKU_LABEL: Final = re.compile(
    rf"(?=[{_FIRST}])(?:{_THING}[\s./-]*+{_WORD}"
    rf"|{_WORD}[\s.º°]*+(?i:of|do|del|de la|de l['’]|de|du|della|dell['’]|d['’]|на|по)?\s*+{_THING}"
    rf"|{any_of(_ALONE)}(?:[.\s]{{1,2}}(?:(?i:del? |do |della )?{_THING}|(?i:intern[aeo]))(?![^\W\d_-]))?)"
    rf"(?![^\W\d_])(?: ?\((?:(?i:sku)|(?!{_OTHERS}\))[A-Z]{{3,6}})\))?[.:：#№º°ª\s)]*"
)
# Those that also stand before other codes: they need a colon, and count if the page has none of the others.
_DOUBTED: Final = (
    r"codes? k[oó]d[esa]? kood cod cód código codice rif šifra sifra kodas? κωδικός ΚΩΔΙΚΟΣ κωδ symbol artikkel"
    r" artikuls арт koodi artikulas 型番 型号 型號 nr num_art obj art mã کد رمز كود رقم รหัส კოდი կոդ шифра kodi"
    r" código_interno cod_intern azonosító pzn"
)
# Mostly the maker's, in some shops their own: they need a colon.
_MODELS: Final = (
    "part part_no\\.? part_number part_nr\\.? model modell modelo modèle modello modelis mudel malli модель модел"
    " modeli μοντέλο رقم_الموديل 모델번호 الموديل موديل مدل דגם รุ่น 모델 모델명 मॉडल"
)
MODEL_LABEL: Final = re.compile(rf"{any_of(_MODELS)}\s?(?:[:：#№]|$)\s*")
# Words for the thing itself, which say a number only before one that can be nothing else: `Item 1488221`.
_BARE: Final = "item style article artikel artículo articolo id № объявление anuncio"
DOUBTFUL_LABEL: Final = re.compile(
    rf"(?:{any_of(_DOUBTED)}(?:\.?\s?[:：#№]|\.(?:\s|$)|$)|(?:型番|型号|型號)\s(?=[!-~]+(?:\s|$)))\s*"
    rf"|{any_of(_BARE)}(?:\s?[:：#№]\s?|\s)(?:№\s?|n[º°]\s?)?(?=[A-Z]{{0,4}}\d{{5,12}}(?![\w.,]))"
    rf"|{any_of(_BARE)}\s?[:：#№]\s?(?=[A-Z\d]{{2,12}}(?:-[A-Z\d]{{1,12}}){{1,4}}(?![\w.,]))"
)
# How a label may begin: most texts do not.
SKU_FIRST: Final = frozenset(_FIRST) | {
    letter for each in f"{_DOUBTED} {_BARE} {_MODELS}".split() for letter in (each[0], each[0].upper())
}
# A label in front of an identifier, not one that the identifier begins with.
SKU_PREFIX: Final = re.compile(rf"(?:{SKU_LABEL.pattern}(?<=[\s:：#№)])|{DOUBTFUL_LABEL.pattern})(?=.)")
GTIN_LABEL: Final = re.compile(
    r"\b(?:gtin|ean|upc|isbn|jan|barcode|strichcode)(?:[- ]?(?:8|1[0-4]|code|nr|no|num\w*|numm\w*))?(?![^\W\d_])"
    r"|\bbar ?code\b|штрих-?\s?код|штрыхкод|баркод|bar-?kod|kod kreskowy|kod paskowy|čárov[ýé] kód"
    r"|čiarov[ýé] kód|vonalkód"
    r"|code[- ]barres?|c[oó]digo de barr\w+|codi de barres|codice a barre|cod(?:ul)? de bare|streepjescode"
    r"|streckkod|stregkode|strekkode|viivakoodi|strikamerki|br[uū]kšnin\w+ kod|svītrkod|svītru kod|triipkood|ribakood"
    r"|črtn[aiu] kod|crtični kod|prugasti kod|γραμμω\w+ κώδικα|γραμμωτός κωδικός|բարկոդ|შტრიხ-?კოდ|ბარკოდ"
    r"|ברקוד|באר ?קוד"
    r"|باركود|الباركود|الرمز الشريطي|بارکد|बारकोड|বারকোড|บาร์โค้ด|รหัสแท่ง|mã vạch|kode ?batang|kod bar"
    r"|(?:jan|ean)\s?コード"
    r"|条形码|条码|條碼|國際條碼|バーコード|国際標準|국제표준|바코드|국제 ?표준 ?도서 ?번호|국제표준도서번호"
    r"|국제표준|国际标准书号|國際標準書號",
    re.IGNORECASE,
)
# Who makes drinks.
_CELLARS = (
    r"winery|winemaker|brewery|distillery|roaster|weingut|winzer|brauerei|domaine|château|brasserie"
    r"|bodega|cervecería|vinícola|cantina|birrificio|wijnhuis|brouwerij|winnica|browar|vinařství"
    r"|vinárstvo|pivovar|borászat|pincészet|cramă|crama|винодельня|виноробня|vinarija|οινοποιείο|ワイナリー"
    r"|蔵元|酒蔵|酒庄|酒莊|와이너리"
)
# Who brings out a game, or a book: no brand of that.
_PUBLISHERS = (
    r"maison d'édition|casa editrice|εκδοτικός οίκος|הוצאה לאור|دار النشر|nhà xuất bản|publisher"
    r"|imprint|verlag|éditeur|editeur|editorial|editora|editore|uitgever|uitgeverij|förlag|forlag"
    r"|utgiver|kustantaja|kustantamo|wydawnictwo|wydawca|nakladatel|nakladatelství|vydavateľ"
    r"|vydavateľstvo|kiadó|editură|editura|издателство|издател|εκδότης|εκδόσεις|издательство|издатель"
    r"|видавництво|видавець|yayınevi|yayıncı|nakladnik|izdavač|založba|založnik|издавач|botuesi"
    r"|útgefandi|leidykla|izdevējs|izdevniecība|kirjastus|הוצאה|الناشر|ناشر|प्रकाशक|প্রকাশক|প্রকাশনী"
    r"|สำนักพิมพ์|nxb|penerbit|出版社|出版商|出版社名|출판사"
)
_MAKERS = (
    r"brand|brand name|manufacturer|producer|marke|hersteller|marque|fabricant|marca|fabricante|produttore|merk"
    r"|fabrikant|märke|varumärke|tillverkare|mærke|merke|varemerke|merkevare|produsent|tuotemerkki|merkki|brändi"
    r"|valmistaja|marka|producent|značka|výrobce|výrobca|márka|gyártó|марка|бренд|производитель|производител|виробник"
    r"|торговая марка|произвођач|brend|proizvođač|robna marka|znamka|blagovna znamka|proizvajalec|producător"
    r"|zīmols|ražotājs|prekės ženklas|gamintojas|kaubamärk|bränd|tootja|μάρκα|κατασκευαστής|üretici|מותג|יצרן"
    r"|العلامة التجارية|الماركة|الشركة المصنعة|برند|سازنده|ब्रांड|निर्माता|品牌|品牌名称|品牌名稱|ブランド|ブランド名"
    r"|メーカー|メーカー名|브랜드|제조사|แบรนด์|ยี่ห้อ|thương hiệu|hãng|hãng sản xuất|merek|jenama"
    r"|maker|made by|produced by|designer brand|markenname|herstellername|fabrikat"
    r"|produzent|fabriqué par|producteur|nom de la marque"
    r"|fabricado por|productor|marca comercial|produtor|marca registrada|casa produttrice"
    r"|marchio|azienda produttrice|merknaam|varemærke"
    r"|merkenavn|brandi|tuottaja|nazwa marki"
    r"|výrobce / značka|značka / výrobce|márkanév"
    r"|marcă|marca produsului|producator|търговска марка|бранд"
    r"|изготовитель|торгова марка"
    r"|üretici firma|markası|proizvodjač|proizvodjac|brand/proizvođač"
    r"|prodhuesi|brendi|vörumerki|framleiðandi|prekinis ženklas"
    r"|kaubamärgid|יצרן/מותג|שם המותג|ماركة"
    r"|البراند|علامة تجارية|مارک|تولید کننده|تولیدکننده|نام تجاری|ब्रैंड"
    r"|ब्रांड नाम|ব্র্যান্ড|ব্রান্ড|প্রস্তুতকারক|নির্মাতা|ผู้ผลิต|nhà sản xuất"
    r"|nhãn hiệu|produsen|pengeluar|品牌名|廠牌|厂商|廠商|製造商|制造商|生产商"
    r"|生產商|製造元|発売元"
    r"|製造者|브랜드명|제조원|제조업체|ბრენდი|მწარმოებელი|ապրանքանիշ|արտադրող|բրենդ"
    r"|istehsalçı|marka adı"
    r"|өндіруші|ishlab chiqaruvchi|брэнд|үйлдвэрлэгч|вытворца|fabricant/marca"
    r"|manufactured by"
)
# Who sells it to the shop: in small ones often what others call the brand, else a company.
_SUPPLIERS = "vendor|fornitore|fournisseur|proveedor|fornecedor|leverancier|leverandør|leverantör"
COMPANY: Final = re.compile(  # who makes or imports it, not its brand
    r"\b(?:gmbh|ltd|limited|inc|llc|corp|kg|ag|ug|s\.?a\.?s?|s\.?r\.?l|s\.?l\.?u?|s\.?p\.?a|b\.?v|n\.?v|a/?s|oy|oyj"
    r"|s\.?r\.?o|kft|sp\. ?z|ооо|оао|тов|株式会社|有限公司)\b|[,;@]|\d{4}",
    re.IGNORECASE,
)
_NAMES: Final = f"{_MAKERS}|{_CELLARS}|{_PUBLISHERS}|{_SUPPLIERS}"
_BRAND: Final = f"(?:{_NAMES})"
BRANDS: Final = frozenset(_NAMES.split("|"))  # in lower case
SUPPLIERS: Final = frozenset(_SUPPLIERS.split("|"))
PUBLISHERS: Final = frozenset(_PUBLISHERS.split("|"))
# What only pages of books say.
BOOK: Final = re.compile(
    r"\be?isbn|^(?:authors?|autor(?:es|en|a|ka)?|auteurs?|autor[ei]|författare|forfatter|kirjailija|автор|szerző|yazar"
    r"|συγγραφέας|autorius|autors|avtor|tác giả|penulis|pengarang|ผู้แต่ง|作者|著者|저자|المؤلف|מחבר|نویسنده)(?!\w)",
    re.IGNORECASE,
)
BRAND_IN_SOURCE: Final = re.compile(
    rf">\s*+(?=[{''.join(sorted({each[0] + each[0].upper() for each in BRANDS}))}])"
    rf"{any_of(' '.join(each.replace(' ', '_') for each in sorted(BRANDS)))}\s?+(?:[:：<])"
)
BRAND_PREFIX: Final = re.compile(rf"^.{{0,40}}\b{_BRAND}\s*[:：]\s*", re.IGNORECASE)
# Labels before a statement about the whole product's stock.
STOCK_LABEL: Final = re.compile(
    r"^(?:product |stock )?(?:availability|stock status|status|stock|verfügbarkeit|lagerstatus|lagerbestand|bestand"
    r"|disponibilité|disponibilidad|existencias|disponibilidade|disponibilità|beschikbaarheid|voorraad|tillgänglighet"
    r"|lagerstatus|lager|tilgængelighed|tilgjengelighet|saatavuus|varastotilanne|dostępność|stan magazynowy"
    r"|dostupnost"
    r"|dostupnosť|stav skladu|sklad|elérhetőség|készlet|raktárkészlet|disponibilitate|stoc|наличност|διαθεσιμότητα"
    r"|наличие|наявність|stok durumu|stok|pieejamība|prieinamumas|likutis|saadavus|laoseis|זמינות|מלאי"
    r"|التوفر|حالة التوفر"
    r"|庫存|库存|在庫|재고|tình trạng|ketersediaan|razpoložljivost|zaloga|доступност|достапност|мавжудлиги|vəziyyət)"
    r"[ \n]?[:：][ \n]?",
    re.IGNORECASE | re.MULTILINE,
)
