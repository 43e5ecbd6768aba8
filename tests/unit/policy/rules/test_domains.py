"""The rules file: what it says, and how it is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from crawler.errors import ConfigError
from crawler.policy import toml_text
from crawler.policy.rules.domain_values import FIELDS
from crawler.policy.rules.domains import DomainRules, load_rules, parse_rules

SHIPPED = Path(__file__).parents[4] / "settings" / "domains.toml"
LAYERS = """
[default]
delay_seconds = 2
required = ["title"]
fields.title = "h1"

["example.com"]
max_tier = "browser"
fields.price = "b.price"

["shop.example.com"]
delay_seconds = 0.5
product = "/p/"
fields.title = ["h2", "h3::attr(title)"]
"""


def test_the_nearest_table_counts_and_has_the_rest_from_those_around_it() -> None:
    rules = parse_rules(LAYERS)
    shop = rules.for_url("https://WWW.shop.example.com:8080/p/1")
    assert (shop.delay_seconds, shop.max_tier, shop.required) == (0.5, "browser", ("title",))
    assert [rule.css for rule in shop.fields["title"]] == ["h2", "h3"]
    assert [rule.attribute for rule in shop.fields["title"]] == [None, "title"]
    assert shop.fields["price"][0].css == "b.price"
    assert rules.for_url("https://www.example.com/").delay_seconds == 2
    assert rules.for_url("https://www.example.com/").max_tier == "browser"
    assert rules.for_url("https://example.org/") is rules.default
    assert rules.default.max_tier is None


def test_a_tier_above_the_highest_one_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match=re.escape("line 3: [example.com] tier = 'api' is invalid")):
        parse_rules('["example.com"]\nmax_tier = "browser"\ntier = "api"\n')


def test_product_patterns() -> None:
    rules = parse_rules(LAYERS)
    assert rules.for_url("https://shop.example.com/").is_product("https://shop.example.com/p/1")
    assert not rules.for_url("https://shop.example.com/").is_product("https://shop.example.com/c/1")
    assert not rules.default.names_products()


def test_without_rules_all_is_left_to_the_settings() -> None:
    assert parse_rules("").for_url("https://example.com/") == DomainRules()


def test_a_file_is_parsed_once_and_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "domains.toml"
    path.write_text("[default]\ndelay_seconds = 1\n", encoding="utf-8")
    assert load_rules(path) is load_rules(path)
    path.write_text("[default]\ndelay_seconds = 2\n", encoding="utf-8")
    assert load_rules(path).default.delay_seconds == 2


def test_the_shipped_file_is_valid_and_so_is_its_example() -> None:
    assert load_rules(SHIPPED) == parse_rules("")
    text = SHIPPED.read_text("utf-8")
    example = re.sub(r"^# ?", "", text[text.index("# [default]") :], flags=re.MULTILINE)
    shop = parse_rules(example).for_url("https://www.shop.example.com/artikel/1")
    assert set(shop.fields) == {"title", "price", "currency", "sku", "image"}
    assert (shop.max_tier, shop.group_by_domain, shop.concurrency) == ("browser", True, 1)


def test_the_head_of_the_shipped_file_names_every_key_and_field() -> None:
    text = SHIPPED.read_text("utf-8")
    for name in (*DomainRules.__dataclass_fields__, *FIELDS):
        assert re.search(rf"^#.*\b{name}\b", text, re.MULTILINE), name


@pytest.mark.parametrize(
    ("text", "where", "value", "allowed"),
    [
        ("[default]\ndelay_seconds = -1", "line 2: [default] delay_seconds", -1, "0 to 86400"),
        ("[default]\ndelay_seconds = true", "line 2: [default] delay_seconds", True, "0 to 86400"),
        ("[default]\nconcurrency = 1.5", "line 2: [default] concurrency", 1.5, "integer from 1 to 1000"),
        ('["a.b"]\n\nmax_tier = "ftp"', "line 3: [a.b] max_tier", "ftp", "http, browser, api"),
        ('["a.b"]\nobey_nofollow = "no"', "line 2: [a.b] obey_nofollow", "no", "true or false"),
        ("[default]\nburst = 0", "line 2: [default] burst", 0, "integer from 1 to 1000"),
        ("[default]\nbudget = 5", "line 2: [default] budget", 5, "a table of requests"),
        ('["a.b"]\npoliteness_group = "c.d"', "line 2: [a.b] politeness_group", "c.d", "without dots"),
        ("[default]\nspeed = 1", "line 2: [default] key", "speed", "delay_seconds"),
        ('# c\n[default.fields]\ntitle = "h1"\nprice = "a["', "line 4: [default] fields.price", "a[", "CSS selector"),
        ('["a.b".fields]\nprize = "b"', "line 2: [a.b] fields.prize", "prize", "title, price"),
        (
            '["a.b"]\nfields = { sku = { css = "p", pattern = "(" } }',
            "line 2: [a.b] fields.sku",
            "(",
            "regular expression",
        ),
        ('["a.b"]\nfields.sku = { css = "p", attr = "x" }', "line 2: [a.b] fields.sku", None, "css, pattern, value"),
        ('["a.b"]\nfields.sku = { value = 5 }', "line 2: [a.b] fields.sku", None, "alone"),
        ('["a.b"]\nfields.sku = { pattern = "x" }', "line 2: [a.b] fields.sku", None, "css"),
        ('["a.b"]\nfields = 5', "line 2: [a.b] fields", 5, "a table of fields"),
        ('["a.b"]\nfollow = ["ok", "("]', "line 2: [a.b] follow", "(", "regular expression"),
        ('["a.b"]\nfollow = ""', "line 2: [a.b] follow", "", "regular expression"),
        ('["a.b"]\nexclude = { css = "a" }', "line 2: [a.b] exclude", {"css": "a"}, "regular expression"),
        ('["a.b"]\nrequired = "name"', "line 2: [a.b] required", "name", "title"),
        ('["a.b"]\nrequired = { css = "::text" }', "line 2: [a.b] required", "::text", "CSS selector"),
        ("[shop.example.com]\nconcurrency = 1", "line 1: table", "shop", "quotes"),
        ('["https://a.b/"]', "line 1: table", "https://a.b/", "host name"),
        ('["A.b"]', "line 1: table", "A.b", "lower case"),
        ("x = 1", "line 1: table", "x", "host name"),
        ("[default]\n\na = ", "line 3", "a =", "valid TOML"),
        ("[default\n", "line 1", "[default", "valid TOML"),
        ("[default]\na = 1\na = 2", "line 3", "a = 2", "valid TOML"),
        ("\n".join(["[default]", "a = " + "[" * 5_000]), "line 2", None, "brackets are nested too deep"),
        (f"[default]\nburst = {'9' * 5_000}", "line 2", None, "5000 digits"),
        ('["bücher.example"]\n["xn--bcher-kva.example"]', "line 2: table", "xn--bcher-kva.example", "'bücher.example'"),
        (f'["{"a" * 64}.example"]', "line 1: table", None, "host name"),
        ('["bücher.example"]\ntier = "api"\nmax_tier = "http"', "line 2: [bücher.example] tier", "api", "max_tier"),
    ],
)
def test_a_broken_file_is_refused_with_line_key_and_what_is_allowed(
    text: str, where: str, value: object, allowed: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules(text, "rules.toml")
    assert str(caught.value).startswith(f"rules.toml, {where} = ")
    assert allowed in caught.value.expected
    assert value is None or caught.value.value == value
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    "url", ["https://bücher.example.com/", "https://shop.BÜCHER.example.com/", "http://straße.example"]
)
def test_a_host_in_its_own_script_is_the_host_of_its_urls(url: str) -> None:
    rules = parse_rules('["bücher.example.com"]\nburst = 2\n["straße.example"]\nburst = 2')
    assert rules.for_url(Request(url).url).burst == 2


def test_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "windows.toml").write_text('["a.example"]\r\nburst = 2\r\n', "utf-8-sig")
    assert load_rules(tmp_path / "windows.toml").for_host("a.example").burst == 2


def test_lines_are_looked_up_for_errors_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> int:
        raise AssertionError("it reads the whole text: 1,000 domains took 45 s")

    monkeypatch.setattr(toml_text, "line_of", never)
    assert parse_rules('["a.example"]\nburst = 2\n["b.example"]\nburst = 3').for_host("b.example").burst == 3


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"DOMAINS_FILE = .*none\.toml.* \(No such file"):
        load_rules(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes("# é".encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_rules(tmp_path / "latin.toml")
    (tmp_path / "bad.toml").write_text("x = 1")
    with pytest.raises(ConfigError, match=r"bad\.toml, line 1"):
        load_rules(tmp_path / "bad.toml")


@given(st.text(alphabet="[]{}=\"\n.#ab1 _-'", max_size=120) | st.text(max_size=60))
def test_any_text_is_rules_or_one_clear_error(text: str) -> None:
    try:
        clear = isinstance(parse_rules(text).for_url("https://a.b/"), DomainRules)
    except ConfigError as error:
        clear = "line" in error.name
    assert clear


def test_hosts_may_share_a_politeness_group() -> None:
    rules = parse_rules('["a.b"]\npoliteness_group = "shops"')
    assert rules.for_url("http://a.b/").politeness_group == "shops"
