"""Product data in three forms: JSON-LD, microdata, and plain visible HTML."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from demo import catalogue
from demo.catalogue import Product, money

_IN_WORDS = {"InStock": "In stock", "OutOfStock": "Out of stock", "PreOrder": "Available for pre-order"}


def offer(product: Product, description: str) -> str:
    """The part of a product page that sells: title, price, availability, rating, sku."""
    match product.style:
        case catalogue.JSON_LD:
            return json_ld(product, description) + _visible(product, description)
        case catalogue.MICRODATA:
            return _microdata(product, description)
        case _:
            return _visible(product, description)


def json_ld(product: Product, description: str) -> str:
    """Product, breadcrumb and organisation in one `@graph`, as shop systems write it."""
    graph = [
        {"@type": "Organization", "name": product.store.name, "url": f"http://{product.store.host}/"},
        {
            "@type": "BreadcrumbList",
            "itemListElement": [
                {"@type": "ListItem", "position": place, "name": name}
                for place, name in enumerate(("Home", product.category, product.title), start=1)
            ],
        },
        _product_node(product, description),
    ]
    data = json.dumps({"@context": "https://schema.org", "@graph": graph}, ensure_ascii=False)
    return '<script type="application/ld+json">' + data.replace("</", "<\\/") + "</script>"


def _product_node(product: Product, description: str) -> dict[str, Any]:
    return {
        "@type": "Product",
        "name": product.title,
        "sku": product.sku,
        "gtin13": product.gtin,
        "brand": {"@type": "Brand", "name": product.brand},
        "category": product.category,
        "image": [image(product)],
        "description": description,
        "offers": {
            "@type": "Offer",
            "url": product.url,
            "price": str(product.price),
            "priceCurrency": product.store.currency,
            "availability": f"https://schema.org/{product.availability}",
            "itemCondition": "https://schema.org/NewCondition",
        },
        "aggregateRating": {
            "@type": "AggregateRating",
            "ratingValue": str(product.rating),
            "reviewCount": product.reviews,
        },
    }


def _microdata(product: Product, description: str) -> str:
    store = product.store
    return f"""<div class="product" itemscope itemtype="https://schema.org/Product">
<h1 itemprop="name">{escape(product.title)}</h1>
<p class="brand" itemprop="brand" itemscope itemtype="https://schema.org/Brand">
by <span itemprop="name">{escape(product.brand)}</span></p>
<img itemprop="image" src="{image(product)}" alt="{escape(product.title)}" width="600" height="450">
<p class="rating" itemprop="aggregateRating" itemscope itemtype="https://schema.org/AggregateRating">
<span itemprop="ratingValue">{product.rating}</span> of 5
(<span itemprop="reviewCount">{product.reviews}</span> reviews)</p>
<div class="buy" itemprop="offers" itemscope itemtype="https://schema.org/Offer">
{_was(product)}<span class="price"><meta itemprop="priceCurrency" content="{store.currency}">\
<span itemprop="price" content="{product.price}">{money(store, product.price)}</span></span>
<link itemprop="availability" href="https://schema.org/{product.availability}">\
<span class="stock">{_IN_WORDS[product.availability]}</span>
<button type="submit">Add to basket</button></div>
<p>SKU <span itemprop="sku">{product.sku}</span> · EAN <span itemprop="gtin13">{product.gtin}</span></p>
<div itemprop="description"><p>{escape(description)}</p></div>
</div>"""


def _visible(product: Product, description: str) -> str:
    return f"""<div class="product">
<h1>{escape(product.title)}</h1>
<p class="brand">by <a class="brand-name" href="/help/brands">{escape(product.brand)}</a></p>
<img class="product-image" src="{image(product)}" alt="{escape(product.title)}" width="600" height="450">
<p class="rating">{product.rating} of 5 ({product.reviews} reviews)</p>
<div class="buy">{_was(product)}<span class="price">{money(product.store, product.price)}</span>
<span class="stock">{_IN_WORDS[product.availability]}</span>
<button type="submit"{_disabled(product)}>Add to basket</button></div>
<p class="codes">SKU: <span class="sku">{product.sku}</span> · EAN: {product.gtin}</p>
<div class="description"><p>{escape(description)}</p></div>
</div>"""


def image(product: Product) -> str:
    """The absolute URL of the product's image (never fetched)."""
    return product.url.replace("/product/", "/images/") + ".jpg"


def _was(product: Product) -> str:
    return f'<del class="old-price">{money(product.store, product.was)}</del> ' if product.was else ""


def _disabled(product: Product) -> str:
    return " disabled" if product.availability == "OutOfStock" else ""
