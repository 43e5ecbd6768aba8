"""Spiders as Scrapy's and scrapy-redis' documentation shows them, changed in nothing but their site."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import scrapy
from itemloaders.processors import Join, MapCompose, TakeFirst
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.spiders import CrawlSpider, CSVFeedSpider, Rule, SitemapSpider, XMLFeedSpider
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider

SITE = os.environ["TEST_SITE"].rstrip("/")


class QuotesSpider(scrapy.Spider):
    """Scrapy's tutorial."""

    name = "quotes"
    start_urls = [f"{SITE}/page/1/", f"{SITE}/page/2/"]

    def parse(self, response: Any) -> Iterator[Any]:
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "tags": quote.css("div.tags a.tag::text").getall(),
            }
        next_page = response.css("li.next a::attr(href)").get()
        if next_page is not None:
            yield response.follow(next_page, callback=self.parse)


class OldSpider(scrapy.Spider):
    """The tutorial's as it was until Scrapy 2.12."""

    name = "old"

    def start_requests(self) -> Iterator[Any]:
        for url in (f"{SITE}/page/1/", f"{SITE}/page/2/"):
            yield scrapy.Request(url=url, callback=self.parse)

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"title": response.css("title::text").get()}


class OldMiddleware:
    """A spider middleware as Scrapy's template had it until then."""

    def process_spider_output(self, response: Any, result: Any, spider: scrapy.Spider) -> Iterator[Any]:
        for one in result:
            yield one | {"marked": spider.name} if isinstance(one, dict) else one


class AuthorSpider(scrapy.Spider):
    """The tutorial's: two callbacks, authors that many pages link to."""

    name = "author"
    start_urls = [f"{SITE}/page/1/"]

    def parse(self, response: Any) -> Iterator[Any]:
        yield from response.follow_all(response.css(".author + a"), self.parse_author)
        yield from response.follow_all(response.css("li.next a"), self.parse)

    def parse_author(self, response: Any) -> Iterator[Any]:
        def extract_with_css(query: str) -> str:
            return str(response.css(query).get(default="")).strip()

        yield {"name": extract_with_css("h3.author-title::text"), "bio": extract_with_css(".author-description::text")}


class TagSpider(scrapy.Spider):
    """The tutorial's, with an argument."""

    name = "tagged"

    async def start(self) -> AsyncIterator[Any]:
        url = f"{SITE}/"
        tag = getattr(self, "tag", None)
        if tag is not None:
            url = url + "tag/" + tag
        yield scrapy.Request(url, self.parse)

    def parse(self, response: Any) -> Iterator[Any]:
        for quote in response.css("div.quote"):
            yield {"text": quote.css("span.text::text").get()}


class Quote(scrapy.Item):
    """An item with fields."""

    id = scrapy.Field()
    name = scrapy.Field(input_processor=MapCompose(str.strip), output_processor=Join())
    url = scrapy.Field(output_processor=TakeFirst())
    link_text = scrapy.Field()


class RuleSpider(CrawlSpider):
    """CrawlSpider's example."""

    name = "rules"
    allowed_domains = ["127.0.0.1"]
    start_urls = [f"{SITE}/page/1/"]
    rules = (
        Rule(LinkExtractor(allow=(r"/page/",))),
        Rule(LinkExtractor(allow=(r"/author/",)), callback="parse_item", cb_kwargs={"kind": "author"}),
    )

    def parse_item(self, response: Any, kind: str) -> scrapy.Item:
        item = Quote()
        item["id"] = kind
        item["name"] = response.css("h3.author-title::text").get()
        item["url"] = response.url
        item["link_text"] = response.meta["link_text"]
        return item


class ShopSitemapSpider(SitemapSpider):
    """SitemapSpider's example, with rules and URLs of its own beside."""

    name = "sitemap"
    sitemap_urls = [f"{SITE}/robots.txt"]
    sitemap_rules = [("/author/", "parse_author")]
    other_urls = [f"{SITE}/page/3/"]

    async def start(self) -> AsyncIterator[Any]:
        async for item_or_request in super().start():
            yield item_or_request
        for url in self.other_urls:
            yield scrapy.Request(url, self.parse_other)

    def parse_author(self, response: Any) -> Iterator[Any]:
        yield {"author": response.url}

    def parse_other(self, response: Any) -> Iterator[Any]:
        yield {"other": response.url}


class LoginSpider(scrapy.Spider):
    """FormRequest.from_response: cookies and a form."""

    name = "login"
    start_urls = [f"{SITE}/login"]

    def parse(self, response: Any) -> Any:
        return scrapy.FormRequest.from_response(
            response, formdata={"username": "john", "password": "secret"}, callback=self.after_login
        )

    def after_login(self, response: Any) -> Iterator[Any]:
        yield {"said": response.text}


@dataclass
class Author:
    """A dataclass for an item."""

    name: str
    url: str


class LoaderSpider(scrapy.Spider):
    """Item loaders, cb_kwargs, and a dataclass that two callbacks fill."""

    name = "loader"
    start_urls = [f"{SITE}/page/1/"]

    def parse(self, response: Any) -> Iterator[Any]:
        loader = ItemLoader(item=Quote(), response=response)
        loader.add_css("name", "small.author::text")
        loader.add_value("url", response.url)
        yield loader.load_item()
        for link in response.css(".author + a::attr(href)").getall():
            item = Author("?", response.url)
            yield response.follow(link, self.parse_author, meta={"item": item}, cb_kwargs={"origin": 1})

    def parse_author(self, response: Any, origin: int) -> Iterator[Any]:
        author: Author = response.meta["item"]
        author.name = f"{response.css('h3::text').get()} {origin} of {author.url}"
        author.url = response.url
        yield author


class ErrbackSpider(scrapy.Spider):
    """The documentation's errbacks, and a retry that a callback asks for."""

    name = "errback"

    async def start(self) -> AsyncIterator[Any]:
        for path in ("/page/1/", "/missing", "/empty"):
            yield scrapy.Request(SITE + path, callback=self.parse, errback=self.failed, dont_filter=True)

    def parse(self, response: Any) -> Iterator[Any]:
        if not response.text:
            again = get_retry_request(response.request, spider=self, reason="empty", max_retry_times=1)
            if again:
                yield again
            return
        yield {"url": response.url}

    def failed(self, failure: Any) -> Iterator[Any]:
        yield {"failed": failure.value.response.url, "status": failure.value.response.status}


class FeedSpider(XMLFeedSpider):
    """XMLFeedSpider's example."""

    name = "xml"
    start_urls = [f"{SITE}/feed.xml"]
    iterator = "iternodes"
    itertag = "item"

    def parse_node(self, response: Any, node: Any) -> dict[str, Any]:
        return {"id": node.xpath("@id").get(), "name": node.xpath("name/text()").get()}


class TableSpider(CSVFeedSpider):
    """CSVFeedSpider's example."""

    name = "csv"
    start_urls = [f"{SITE}/feed.csv"]
    delimiter = ";"
    quotechar = "'"
    headers = ["id", "name"]

    def parse_row(self, response: Any, row: Any) -> dict[str, Any]:
        return {"id": row["id"], "name": row["name"]}


class MySpider(RedisSpider):  # type: ignore[misc]
    """scrapy-redis' example of a spider that reads URLs from a Redis queue (myspider:start_urls)."""

    name = "myspider_redis"
    redis_key = "myspider:start_urls"
    max_idle_time = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        domain = kwargs.pop("domain", "")
        self.allowed_domains = filter(None, domain.split(","))
        super().__init__(*args, **kwargs)

    def parse(self, response: Any) -> dict[str, Any]:
        return {"name": response.css("title::text").extract_first(), "url": response.url}


class MyCrawler(RedisCrawlSpider):  # type: ignore[misc]
    """scrapy-redis' example of a crawl spider."""

    name = "mycrawler_redis"
    redis_key = "mycrawler:start_urls"
    max_idle_time = 1
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        domain = kwargs.pop("domain", "")
        self.allowed_domains = list(filter(None, domain.split(",")))
        super().__init__(*args, **kwargs)

    def parse_page(self, response: Any) -> dict[str, Any]:
        return {"name": response.css("title::text").extract_first(), "url": response.url}


class ManySpider(scrapy.Spider):
    """Start requests that pass no filter, twice the same; a link back to them."""

    name = "many"
    start_urls = [f"{SITE}/page/{number}/" for number in (1, 2, 3, 1)]
    part = ""  # given with -a

    def parse(self, response: Any) -> Iterator[Any]:
        yield {"url": response.url, "part": self.part}
        yield from response.follow_all(css="li.next a")
