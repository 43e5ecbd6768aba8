"""Pages that cost a parser more than their size suggests. Each is made of as many pieces as fit in the given size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count, cycle, islice, repeat

Bomb = Callable[[int], str]
LD = '<script type="application/ld+json">'
VALUES = 'a="a longer value" b="a longer value" c="a longer value"'
TITLE = "<i><h3><a href=/p/#{}>Fork</a></h3>$9</i>"
SHARED = "<div>" * 6 + "".join(map(TITLE.format, "abcdefghijk")) + "<p class=price>$#.99</p>" * 9
DEEP = f"<div>{'<i>' * 80}{TITLE.format('a')}{'</i>' * 80}{TITLE.format('b')}<b>$#.99</b><b>$9.#</b></div>"
PRODUCT = f'<h1>x</h1>{LD}{{"@type":"Product","name":"x",'


def filled(begin: str, piece: str, end: str = "", most: int = 1_000_000) -> Bomb:
    """*piece* again and again, `#` in it a running number, between *begin* and *end*."""
    pieces = (piece.replace("#", str(n)) for n in count()) if "#" in piece else repeat(piece)
    return lambda size: begin + "".join(_some(pieces, min(size, most) - len(begin) - len(end))) + end


def after(begin: str, piece: str, times: int, then: str) -> Bomb:
    """*piece* some *times*, then as much as fits of *then*."""
    return filled(begin + "".join(piece.replace("#", str(n)) for n in range(times)), then)


def _some(pieces: Iterator[str], size: int) -> Iterator[str]:
    for piece in pieces:
        size -= len(piece)
        if size < 0:
            return
        yield piece


def _products(size: int) -> str:
    headings = "".join(f"<h1>Heading {n}</h1>" for n in range(10))
    names = ",".join(_some((f'{{"@type":"Product","name":"Name {n}"}}' for n in count()), int(size * 0.95)))
    return f"{headings}{LD}[{names}]</script>"


def _body_attributes(size: int) -> str:
    names = (f"a{n}" for n in count())
    tags = (f"<body {' '.join(next(names) for _ in range(490))}>" for _ in count())
    return "".join(_some(tags, size))


def _names(each: int, first: str = "") -> Bomb:
    """Tags with *each* attributes of unique names."""

    def build(size: int) -> str:
        names = (f"a{n:x}" for n in count())
        return "".join(_some((f"<a {first}{' '.join(islice(names, each))}>" for _ in count()), size))

    return build


def _hidden(value: str = "", begin: str = "", tag: str = "a", each: int = 690) -> Bomb:
    """The same with a *value* for each, behind *begin*: its form tells nobody what is a tag and what is a value."""

    def build(size: int) -> str:
        names = (f"a{n:x}{value} " for n in count())
        return begin + "".join(_some((f"<{tag} {''.join(islice(names, each))}>" for _ in count()), size - len(begin)))

    return build


def _metas(size: int) -> str:
    names = cycle(("og:title", "og:type", "product:brand", "robots", "description", "product:price:amount"))
    return "<title>x</title>" + "".join(_some((f'<meta {"a" * 7_900} name="{n}">' for n in names), min(size, 58_000)))


def _links(begin: str, piece: str, end: str) -> Bomb:
    path = (piece * 4_000)[:3_900]
    return filled("", f'<a href="{begin}{path}{end}#">x</a>')


def _straddling(size: int) -> str:
    """Elements that nest, but for comments at all places where a piece of 64,000 would begin if it were not random."""
    deep, page = "<path/></nav>", "<p>Some text</p>" * 3_999
    while len(page) < size:
        page += "x" * (-(len(page) + 4) % 64_000 % len(deep)) + deep * (-(len(page) + 4) % 64_000 // len(deep))
        page += "<!--<svg>-->"
    return page[:size]


def _closed_late(size: int) -> str:
    """All formatting elements are closed in the end, and many are open at once."""
    many = size // 40
    return "<span>" * many + "<b>x" * (many // 2) + "</span>x" * many + "</b>" * (many // 2)


HIDDEN: dict[str, Bomb] = {
    "names in end tags": _hidden(tag="/a"),
    "names with <": _hidden("<"),
    "names beside <": _hidden('="<"'),
    "names beside tags": _hidden("='<p x>'"),
    "names beside both quotes": _hidden("=\"'<p x='>\""),
    "names of 30 beside tags": _hidden('="<p x>"', each=30),
    "names behind a script in upper case": _hidden('="<"', "<SCRIPT></script>"),
    "names in the style of svg": _hidden('="<"', "<svg><style>"),
    "names behind the style of svg and a textarea": _hidden('="<"', '<svg><style/></svg><textarea><a b="</textarea>'),
    "names behind what is no tag": _hidden('="<p x>"', '<!x <a b=">'),
    "names behind a comment": _hidden('="<p x>"', '<!-- <a b="-->'),
    "names behind text": lambda size: _hidden('="<"', "<p>text " * (size // 20))(size),
}
# elements that stay open, though something seems to end them; each end tag of another name looks at all of them
NESTING: dict[str, Bomb] = {
    f"deep {piece} behind {begin or 'nothing'}": filled(begin, f"{piece}</nav>")
    for begin, piece in (
        ("", "<path>"),
        ("", "<div><!--</div>-->"),
        ("", '<div><a title="</div>">'),
        ("", "<div><noembed></div></noembed>"),
        ("", "<span><li></span></li>"),
        ("", "<span><p></span></p>"),
        ("", "<span><form></span></form>"),
        ("", "<h1><div><h2></h1>"),
        ("", "<caption><div></caption>"),
        ("", "<div><select></div></select>"),
        ("", "<div><math><mi></div>"),
        ("", "<svg><section><div></section>"),
        ("<svg>", "<g><title/>"),
        ("<svg>", "<g><![CDATA[</g>]]>"),
        ("<svg></svg>", "<path/>"),
        ("<table>", "<q></q><div>"),
        ("<template>", "<form>"),
    )
} | {
    "deep beside comments where pieces begin": _straddling,
    "deep in an icon in a value": filled('<a b="<svg><path d="x"/>', "<path/></g>", "</svg>"),
    "deep in an icon": filled("<svg>", "<g></path>", "</svg>"),
    "deep beside shapes that seem closed": filled("<svg>", "<g a=b/></path>", "</svg>"),
}
# texts that grow piece by piece, as nothing parts them
GROWING: dict[str, Bomb] = {
    "values of end tags": filled("<div>", "</b a=b>text"),
    "values behind a comment": filled("<!-- --!>", "</b a=b>text"),
    "values behind a script in a script": filled("<script><!--<script></script><title>--></script>", "</b a=b>text"),
    "values of cells outside tables": filled("<div>", "<td a=b>text </td>"),
    "values of forms in a form": filled("<form>", "<FORM a=b>text</i>"),
    "texts between rows": filled("<table>", "text<tr><td>y</td></b>"),
    "spaces between rows": filled("<table>", " </i a=b>"),
    "comments between rows": filled("<table>", "text<!--c-->"),
    "hidden inputs between rows": filled("<table>", "text<input type=hidden>"),
    "templates between rows": filled("<select><table></select>", "text<template>a</template>"),
    "comments behind the body": filled("", "text</body><!--c-->"),
    "values in framesets": filled("<frameset>", " <b a=b>"),
    "values behind framesets": filled("<FRAMESET></frameset>", " <b a=b>"),
}
# the same, where the parser can reuse nothing of the memory
COPIED: dict[str, Bomb] = {
    "three values of end tags": filled("<div>", "</b a=b c=d e=f>some text"),
    "three values after a long text": lambda size: after("<p>", "by ", size // 8, f"</b {VALUES}>some text")(size),
    "spaces between cells outside tables": filled("<p>", "<td a=b c=d e=f>        "),
    "spaces between images": filled("<p>", "<image a=b c=d e=f>        "),
    "text that begins the page": lambda size: after("", "by ", size // 8, "</b a=b c=d e=f>some text")(size),
    "less-than signs after a long text": lambda size: after("<p>", "by ", size // 8, "</b a=b c=d e=f>< ")(size),
    "values that look like scripts": filled("<p>", "</b a=<script b=c d=e>some text"),
}
BOMBS: dict[str, Bomb] = {
    "states in attributes": filled("<h1>x</h1>", '<a b=\'{"name": "x y", "price": #, "deep": [[[[{}]]]]}\'>'),
    "values of end tags in svg": filled("<svg><title>", "</b a=b>text"),
    # selectors that climb
    "names deep inside": after("<article><p>text</p>", "<span>", 9_000, "<i itemprop=name></i>"),
    "inputs deep inside": after(
        "<h1>A lamp</h1><b class=price>EUR 9.99</b><button>Add to cart</button>", "<span>", 9_000, "<input name=x>"
    ),
    # microdata
    "items under several names": filled(
        "<h1>x</h1>", "<rtc itemscope itemtype=schema.org/Product itemprop='offers price name sku' content=#>x"
    ),
    "properties in properties": filled(
        "<div itemscope itemtype=Product typeof=Product>", "<span itemprop=name property=name>a<i>b</i>"
    ),
    # unclosed formatting elements, opened again in every block
    "44 KB of b": after("<p>", "<b id=#>", 1_900, "<p>x"),
    "few of b": after("<p>", "<b id=#>", 300, "<p>x"),
    "kinds of formatting": after("<p>", "<b id=#><font id=#><i id=#><u id=#><code id=#>", 200, "<p>x"),
    "formatting in upper case": after("<P>", "<B ID=#>", 1_900, "<P>x"),
    "formatting without attributes": filled("", "<b><i><u><s><em><tt><big><code><font><small><strike><strong><p>x"),
    "end tags in attributes": after("", '<b id=# title="></b>">', 1_900, "<p>x"),
    "end tags in quotes that are none": after("", '<b ="a=" id=# ></b>" x>', 1_900, "<p>x"),
    "end tags in quotes behind others": after("", '<b id=# a=b="x y="></b>" >', 1_900, "<p>x"),
    "formatting behind a template": after("<template><col><xmp></template>", "<b id=#>", 1_900, "<p>x"),
    "formatting in the style of svg": after("<svg><style>", "<b id=#></b><b id=#>", 1_900, "<p>x"),
    "formatting that is closed late": _closed_late,
    **{
        f"formatting in {begin}": filled(begin, "<path/></code></mi><dd><a><strike id=#>", most=600_000)
        for begin in ("<iframe>", "<!--", "<p a='")
    },
    "end tags behind tables": after("", "<b id=#><table></b>", 300, "<td><p>x"),
    "end tags that find blocks": after("", "<b id=#>", 100, "<div></b>x"),
    "few of them": after("", "<b id=#>", 40, "<div></b>x"),
    "end tags far from blocks": lambda size: (
        "".join(f"<b id={n}>" for n in range(40)) + "<div>" * 3_000 + "</b>x" * 4_900
    ),
    "more of them": after("".join(f"<b id={n}>" for n in range(20)), "<div>", 1_900, "</b>x"),
    "foster parents": filled("<table>", "x<b>"),
    "nobr": filled("", "<nobr><table><td>"),
    # depth
    **{
        f"deep {name}": filled("", f"<{name}>")
        for name in ("div", "span", "h1", "form", "table", "select", "template", "a", "button", "svg", "x-y")
    },
    "deep lists": filled("", "<ul><li>"),
    "deep cells": filled("", "<table><tr><td>"),
    "deep behind tables": filled("", "<div><table></div>"),
    "deep behind cells": filled("", "<div><table><tr><td></div>"),
    "deep behind forms": filled("", "<form><div></form>"),
    "deep behind blocks": filled("", "<span><div></span>"),
    "deep behind noscript": filled("", "<noscript><div></noscript>"),
    "deep and end tags": after("", "<div>", 1_900, "</b>"),
    "deep and list items": after("", "<span>", 1_900, "<li>"),
    **{
        f"{depth:,} deep {element} and {piece}": after("", element, depth, piece)
        for depth in (4_900, 9_900)
        for element, piece in (
            ("<div>", "<li>"),
            ("<span>", "</p>"),
            ("<svg>", "</b>"),
            ("<table><tr><td>", "</form>"),
            ("<div>", "<h1>"),
            ("<table><tr><td>", "<a>"),
            ("<svg>", "x"),
            ("<template>", "</i>"),
            ("<math>", "<mi>"),
            ("<span>", "<option>"),
        )
    },
    **NESTING,
    "voids in math": after("", "<td><math> a#", 1_400, "</noscript></title><wbr>"),
    "formatting in math": after("", "<td><math> a#", 1_400, "</noscript>&amp;</title><code y#>"),
    "inputs in svg": after("<svg>", "<input>", 20_000, "</x>"),
    "cells in svg": filled("<svg>", "<td></x></y>"),
    "nested links": filled("", "<a href=/#><div>"),
    "framesets": filled("", "<frameset>"),
    "plain text": filled("", "<plaintext>"),
    # attributes
    "attributes": filled("<a ", "a#=1 ", ">x</a>"),
    "attributes in quotes": filled("<a ", 'a#="1" ', ">x</a>"),
    "attributes with tags": filled("<a ", 'a#="<i>" ', ">x</a>"),
    "attributes by slashes": filled("<a/", "a#/", ">x</a>"),
    **{
        f"attributes with {hidden} in quotes": filled("<a ", f"a#={hidden} ", ">x</a>")
        for hidden in ('">"', "'>'", '"><i>"', '"</script>"', '"<script>"', '"<!--"', '"-->"', "'\">'")
    },
    "attributes behind a script in quotes": filled('<a b="<script>" c="> <style> ', "a# ", '</style>">x</a>'),
    **{
        f"attributes behind {hiding}": filled(f"{hiding}<a ", "a#=1 ", ">x</a>")
        for hiding in (
            "<svg><style>",
            "<svg><title/>",
            "<svg><![CDATA[><!--]]>",
            '<svg><style/></svg><textarea><a b="</textarea>',
            '<math><style/></math><svg><title/></svg><title><a b="</title>',
        )
    },
    "attributes behind a comment": filled('<!-- <a b=" --><a ', "a# ", '>x</a>" >'),
    "attributes in textareas": filled('<textarea><a b="</textarea><a ', "a# ", '>x</a>" >'),
    "attributes with few quotes": lambda size: (
        "<a " + "".join(_some((f"a{n} " if n % 500 else '"=">" ' for n in count()), size - 9)) + ">x</a>"
    ),
    "the same attribute": after("<a ", "a# ", 5_000, "zz "),
    "the same attribute with values": after("<a ", "a#='>' ", 5_000, "zz='>' "),
    "attributes without space": filled("<a ", 'a#=""', ">x</a>"),
    "700 attributes": filled("", f"<a {' '.join(f'a{n}' for n in range(690))}>"),
    "2,000 attributes": filled("", f"<a {' '.join(f'a{n:x}' for n in range(2_000))}>"),
    "3,900 attributes": filled("", f"<a b='>' {' '.join(f'a{n:x}' for n in range(3_900))}>"),
    **{f"names of {each}": _names(each) for each in (1, 2, 4, 6, 12, 100, 490)},
    **HIDDEN,
    "hidden names": _names(6, 'b="><i>" '),
    "names of elements": filled("", "<x#>"),
    "names of closed elements": filled("", "<x#></x#>"),
    "names in svg": filled("<svg>", "<x# a#/>"),
    "names with prefixes": filled("<p>x</p><svg>", "<x#:a y#:b=1 />"),
    "attributes of body": _body_attributes,
    "attributes of html": lambda size: _body_attributes(size).replace("body", "HTML"),
    "a long attribute": filled('<a href="', "x", '">x</a>'),
    "a long class": filled('<h1>x</h1><p class="', "price-old ", '">9.99 EUR</p>'),
    "open quotes": filled('<a b="', "<a b='"),
    "no tag": filled("", "<a"),
    # many of a kind
    "options": filled("<select>", "<option>"),
    "options with words": filled("<select>", "<option>a"),
    "cells": filled("<table><tr>", "<td>x"),
    "headings": filled("", "<h1>x</h1>"),
    "long headings": filled("", f"<h1>{'word ' * 3_800}</h1>"),
    "texts": filled("<h1>x</h1>", "<p>Some text</p>"),
    "lines": filled("<h1>x</h1><p>", "Some text<br>"),
    "images": filled("<h1>x</h1><p>Some text</p>", "<p><img src=/#.png>"),
    "images and texts": filled("<h1>x</h1>", "<figure><a href=/#><img src=/#.png></a></figure><p>Some text</p>"),
    "images deep inside": filled("<h1>x</h1><p>Some text</p>" + "<i><div>" * 400, "<div><img src=/#.png></div>"),
    "cards that share elements": filled("<header><h1>x</h1></header>", SHARED + "</div>" * 6),
    "buttons beside cards": filled("<header><h1>x</h1></header>", SHARED + "<button>Buy</button>" * 80 + "</div>" * 6),
    "deep titles of cards": filled("<header><h1>x</h1></header>", DEEP),
    "prices": filled("<h1>x</h1>", "<p class='price c#'>#.99 EUR</p>"),
    "numbers": filled("<h1>x</h1>", f"<p>{'1 ' * 38}</p>"),
    "groups of digits": filled("<h1>x</h1>", f"<p>1{' 111' * 19}</p>"),
    "digits": filled("<h1>x</h1><p>", "1"),
    "price in pieces": filled("<h1>x</h1><p class=price>", "<sup>1</sup>"),
    "labels": filled("<h1>x</h1>", "<p>sku: 12345</p>"),
    "near labels": filled("<h1>x</h1>", f"<p>numéro{' ' * 100}x</p>"),
    "buttons": filled("<h1>x</h1>", "<button>Add to cart</button>"),
    "dates": filled("<h1>x</h1>", "<p>posted 1/2/2020 10:00</p>"),
    "numbers like dates": filled("<h1>x</h1><p>", "20200101"),
    "entities": filled("", "&amp;"),
    "no entities": filled("", "&"),
    "one entity": filled("&#", "9", ";"),
    "nulls": filled("", "\0"),
    "comments": filled("", "<!--"),
    # metas
    "metas": _metas,
    "links in the head": filled("", "<link rel=canonical "),
    "bases": filled("", "<base href "),
    "links from a long base": filled(f"<base href='/{'a/' * 20_000}'>", "<a href=../x>y</a>"),
    "languages": filled("<html ", "lang "),
    "quotes in metas": filled("", "<meta a='\"<meta a=\"'"),
    "equals signs in metas": filled("<meta ", "="),
    # main text
    "blocks in a link": filled("<a href=/>", "<p>Some text</p>"),
    "links around blocks": filled("", "<a href=/#><h3>Some text</h3></a>"),
    "cells of many rows": filled("<table>", "<tr><td rowspan=99999 colspan=9>Some text<td>"),
    "rows beside a high cell": filled(f"<table><tr>{'<td rowspan=99999>x' * 99}", "<tr><td>Some text"),
    "letters without spaces": filled("<p>", "\u65e5"),
    "lines without spaces": filled("", "<p>\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e"),
    "dates of all forms": filled("<h1>x</h1>", "<p class=date>2. 1. 2020. 1. 2 1/2/2020 1 de mayo de 2020"),
    "bylines in comments": filled("", "<div class=comment><b class=author>"),
    # links
    "links": filled("", "<a href=/#>x</a>"),
    "open links": filled("", "<a href=/#>"),
    "hosts": filled("", f"<a href=http://{'a.' * 100}#.example.com/>x</a>"),
    "hosts in other letters": filled("", f"<a href=http://{'ä.' * 20}#.example.com/>x</a>"),
    **{
        f"links of {begin}{piece}..{end}": _links(begin, piece, end)
        for begin, piece in zip(
            repeat("/"), ("a-", "1-", "a-1", "p", "p/", "1", "x1111", "?p=1&", "/..", "c/", "%25"), strict=False
        )
        for end in ("", "x.html")
    },
    # structured data
    "spaces in JSON": filled(f'{LD}{{"@type":', " ", "</script>"),
    "spaces around colons": filled(f"{LD}{{", f'"@type"{" " * 50}:{" " * 50}', "</script>"),
    "spaces behind names": filled(f'{LD}{{"@type": "Product", ', f'"name"{" " * 100}', "</script>"),
    "quotes in JSON": filled(f'{LD}{{"@type": "Product", "name": "', '\\"', "</script>"),
    "commas in JSON": filled(f"{LD}{{x", f",{' ' * 98}", "</script>"),
    "lines in JSON": filled(f"{LD}{{x", " \n\t", "</script>"),
    "keys of prices that are none": filled("<script>var a = {", '"rice":1,', "}</script>"),
    "lists in JSON": filled(LD, "[", "</script>"),
    "closed lists in JSON": lambda size: f"{LD}{'[' * (size // 2)}{']' * (size // 2)}</script>",
    "objects in JSON": filled(LD, '{"a":', "</script>"),
    "broken blocks": filled("", f"{LD}{{x</script>"),
    "open blocks": filled("", '<script type="application/ld+json"'),
    "types of blocks": filled("", "ld+json"),
    "tags with types of blocks": filled("", f"<script type={'x' * 900} ld+json"),
    "products": _products,
    "offers": filled(f'{PRODUCT}"offers":[{{}}', ',{"price":#,"url":"/x?a=b","sku":"s"}', "]}</script>"),
    "variants": filled(f'{PRODUCT}"hasVariant":[{{}}', ',{"name":"a","offers":{"price":#}}', "]}</script>"),
    "a long price": filled(f'{PRODUCT}"offers":{{"price":', "1", "}}</script>"),
    "5,000 digits": filled(f'{PRODUCT}"sku":', "1", "}</script>", most=5_200),
    "a long rating": filled(f'{PRODUCT}"aggregateRating":{{"ratingValue":"', "1 ", '"}}</script>'),
    "a long availability": filled(f'{PRODUCT}"offers":{{"price":1,"availability":"', "in", '"}}</script>'),
    "a long description": filled(f'{PRODUCT}"description":"', "<", '"}</script>'),
    "a long brand": filled(f'{PRODUCT}"brand":"', "brand: ", '"}</script>'),
    "a long type": filled(f'{LD}{{"@type":"', "/", '"}</script>'),
    "surrogates": filled(f'{PRODUCT}"sku":"', "\\ud800", '"}</script>'),
    "deep items": filled("", "<div itemscope itemprop=a>"),
    "items": filled("<div itemscope itemtype=Product>", "<i itemprop=name>x</i>"),
    "names of items": filled("<div itemscope itemtype=Product><i itemprop='", "a ", "'>x</i>"),
    "items in items": filled("<div itemscope>", "<div itemprop=name>x"),
    "properties far from items": after("<i itemscope itemtype=Product>", "<div>", 1_500, "<b itemprop=x>x</b>"),
    **GROWING,
    **COPIED,
    "values in columns of templates": filled("<template><col>", " <b a=b>"),  # whose texts are in no tree
    "references in a circle": filled(
        f'{PRODUCT}"@id":"a","offers":[{{"@id":"a"}}', ',{"@id":"a"},{"@id":"b#","offers":{"@id":"a"}}', "]}</script>"
    ),
}


def all_of_them(chosen: str = "") -> Iterator[tuple[str, Bomb]]:
    """(name, bomb) of those whose names have *chosen* in them."""
    return chain((name, bomb) for name, bomb in BOMBS.items() if chosen in name)
