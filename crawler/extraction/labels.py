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
    r"product item article catalog(?:ue)? stock store web listing auction prod(?:u[ckt]|ott|us)\w* arti[ckg]\w*"
    r" artí\w* artyk\w* art bestell order vare tuote tovar\w* towar\w* zbož\w* r[ée]f\w* term[ée]k cikk ürün stok"
    r" prec\w+ prek\w+ toote kauba товар\w* продукт\w* προϊόντος"
)
_WORDS: Final = (
    r"codes? numbers? num numm?er[oa]? numéro número nro? no n id k[oó]d\w{0,2} kood c[oó]d(?:igo|ice)? šifra szám"
    r" nummer numarası tunnus номер код κωδικός #"
)
_ALONE: Final = (
    r"sku asin ref réf[ée]ren[cç]\w+ ref[ée]ren[cç]\w+ артикул код indeks מק[\"״']?ט מספר_(?:פריט|מוצר)"
    r" رقم_(?:المنتج|الصنف) รหัสสินค้า 商品(?:{0}) 產品(?:{0}) 产品(?:{0}) 品(?:{0}) 货(?:{0}) 貨(?:{0})"
    r" 상품\s?(?:번호|코드) mã_(?:sản_phẩm|sp|hàng)"
).replace("{0}", "編號|编号|番号|号|號|ID|コード")
_FIRST: Final = "".join({phrase[0] + phrase[0].upper() for phrase in f"{_THINGS} {_WORDS} {_ALONE}".split()})
_THING, _WORD = any_of(_THINGS), any_of(_WORDS)
SKU_LABEL: Final = re.compile(
    rf"(?=[{_FIRST}])(?:{_THING}[\s./-]*+{_WORD}|{_WORD}[\s.º°]*+(?i:of|do|del|de la|de|du|della|dell')?\s*+{_THING}"
    rf"|{any_of(_ALONE)})(?![^\W\d_])[.:：#№º°\s)]*"
)
GTIN_LABEL: Final = re.compile(
    r"\b(gtin|ean|upc|isbn|jan)(-?\d{1,2})?\b|\bbarcode\b|штрих-?код|条形码|국제표준", re.IGNORECASE
)
_BRAND = (
    r"(?:brand|manufacturer|marke|hersteller|marque|marca|fabricante|produttore|merk|märke|mærke|merke|varemerke"
    r"|tuotemerkki|merkki|marka|producent|značka|výrobce|výrobca|márka|gyártó|марка|бренд|производитель|виробник"
    r"|zīmols|ražotājs|prekės ženklas|gamintojas|kaubamärk|bränd|tootja|מותג|יצרן|العلامة التجارية|品牌|ブランド"
    r"|メーカー|브랜드|제조사|แบรนด์|thương hiệu|merek)"
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
