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
    r"product item article catalog(?:ue)? stock store web listing auction prod(?:u[ckti]|ott|us)\w* arti[ckg]\w*"
    r" artí\w* artyk\w* art bestell order vare tuote tovar\w* towar\w* zbož\w* r[ée]f\w* term[ée]k cikk ürün stok"
    r" prec\w+ prek\w+ toote kauba товар\w* продукт\w* προϊόντος proizvod\w* izdelk\w* artikl\w* obj\w* best"
    r" katal\w+ kat артикул\w* каталож\w+ кат barang"
)
_WORDS: Final = (
    r"codes? numbers? num numm?er[oa]? numéro número nro? no n id k[oó]d\w{0,2} koodi? c[oó]d(?:igo|ice)? šifra"
    r" sz(?:ám)? nummer numarası tunnus номер код κωδικός # broj číslo číslice numer"
)
_ALONE: Final = (
    r"sku asin r[ée]f r[ée]f[éeê]r[eê]n[cç]\w+ riferimento артикул код indeks מק[\"״']?ט מספר_(?:פריט|מוצר)"
    r" رقم_(?:المنتج|الصنف|الموديل) رمز_(?:المنتج|الصنف) كود_(?:المنتج|الصنف)"
    r" کد_(?:محصول|کالا) شناسه_(?:محصول|کالا) उत्पाद_कोड รหัสสินค้า"
    r" 商品(?:{0}) 產品(?:{0}) 产品(?:{0}) 品(?:{0}) 货(?:{0}) 貨(?:{0})"
    r" 상품\s?(?:번호|코드) mã_(?:sản_phẩm|sp|hàng)"
).replace("{0}", "編號|编号|番号|番|号|號|ID|コード")
_FIRST: Final = "".join({phrase[0] + phrase[0].upper() for phrase in f"{_THINGS} {_WORDS} {_ALONE}".split()})
_THING, _WORD = any_of(_THINGS), any_of(_WORDS)
SKU_LABEL: Final = re.compile(
    rf"(?=[{_FIRST}])(?:{_THING}[\s./-]*+{_WORD}|{_WORD}[\s.º°]*+(?i:of|do|del|de la|de|du|della|dell'|на)?\s*+{_THING}"
    rf"|{any_of(_ALONE)})(?![^\W\d_])[.:：#№º°\s)]*"
)
# Those that also stand before other codes: they need a colon, and count if the page has none of the others.
_DOUBTED: Final = (
    r"codes? k[oó]d[esa]? kood cod cód código codice rif šifra sifra kodas? κωδικός κωδ symbol artikkel artikuls арт"
    r" 型番 型号 型號 nr num_art obj art"
)
DOUBTFUL_LABEL: Final = re.compile(rf"{any_of(_DOUBTED)}(?:\.?\s?[:：#№]|\.(?:\s|$)|$)\s*")
# How a label may begin: most texts do not.
SKU_FIRST: Final = frozenset(_FIRST) | {letter for each in _DOUBTED.split() for letter in (each[0], each[0].upper())}
GTIN_LABEL: Final = re.compile(
    r"\b(gtin|ean|upc|isbn|jan)(-?\d{1,2})?\b|\bbarcode\b|штрих-?код|条形码|국제표준", re.IGNORECASE
)
_BRAND = (
    r"(?:brand|brand name|manufacturer|producer|marke|hersteller|marque|fabricant|marca|fabricante|produttore|merk"
    r"|fabrikant|märke|varumärke|tillverkare|mærke|merke|varemerke|merkevare|produsent|tuotemerkki|merkki|brändi"
    r"|valmistaja|marka|producent|značka|výrobce|výrobca|márka|gyártó|марка|бренд|производитель|производител|виробник"
    r"|торговая марка|произвођач|brend|proizvođač|robna marka|znamka|blagovna znamka|proizvajalec|producător"
    r"|zīmols|ražotājs|prekės ženklas|gamintojas|kaubamärk|bränd|tootja|μάρκα|κατασκευαστής|üretici|מותג|יצרן"
    r"|العلامة التجارية|الماركة|الشركة المصنعة|برند|سازنده|ब्रांड|निर्माता|品牌|品牌名称|品牌名稱|ブランド|ブランド名"
    r"|メーカー|メーカー名|브랜드|제조사|แบรนด์|ยี่ห้อ|thương hiệu|hãng|hãng sản xuất|merek|jenama"
    r"|manufactured by|vendor)"
)
BRANDS: Final = frozenset(_BRAND.removeprefix("(?:").removesuffix(")").split("|"))  # in lower case
BRAND_PREFIX: Final = re.compile(rf"^.{{0,40}}\b{_BRAND}\s*[:：]\s*", re.IGNORECASE)
# Labels before a statement about the whole product's stock.
STOCK_LABEL: Final = re.compile(
    r"^(?:product |stock )?(?:availability|stock status|status|stock|verfügbarkeit|lagerstatus|lagerbestand|bestand"
    r"|disponibilité|disponibilidad|existencias|disponibilidade|disponibilità|beschikbaarheid|voorraad|tillgänglighet"
    r"|lagerstatus|lager|tilgængelighed|tilgjengelighet|saatavuus|varastotilanne|dostępność|stan magazynowy|dostupnost"
    r"|dostupnosť|stav skladu|sklad|elérhetőség|készlet|raktárkészlet|disponibilitate|stoc|наличност|διαθεσιμότητα"
    r"|наличие|наявність|stok durumu|stok|pieejamība|prieinamumas|likutis|saadavus|laoseis|זמינות|מלאי"
    r"|التوفر|حالة التوفر"
    r"|庫存|库存|在庫|재고|tình trạng|ketersediaan|razpoložljivost|zaloga|доступност|достапност|мавжудлиги|vəziyyət)"
    r"[ \n]?[:：][ \n]?",
    re.IGNORECASE | re.MULTILINE,
)
