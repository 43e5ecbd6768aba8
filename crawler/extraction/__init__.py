"""Turns HTML and its URL into fields and links. Pure: no files, no network, no Scrapy.

    document = Document(html, url)                  # parsed once, shared by all readers
    item = extract_product(document, url, rules)    # ProductItem, or None when it is no product page
    found = links(document, url, rules)             # Links(product, pagination, listing)
    lacking = missing_required(document, item, rules)
    page = extract_page(document, url)              # PageItem, any page
    if is_feed(text, rules): feed = Feed(document, rules)   # ProductItems, one by one

`rules` are a domain's, from `crawler.policy.rules.domains.load_rules(path).for_url(url)`.
"""

from crawler.extraction.content.page import extract_page
from crawler.extraction.links import Links, links
from crawler.extraction.product.feeds import Feed, is_feed
from crawler.extraction.product.product import extract_product
from crawler.extraction.product.rules import missing_required
from crawler.extraction.tree.document import Document

__all__ = ["Document", "Feed", "Links", "extract_page", "extract_product", "is_feed", "links", "missing_required"]
