"""Formulas: what pages of MediaWiki, LaTeXML, KaTeX and MathJax show, once."""

from __future__ import annotations

import pytest

from crawler.extraction import Document
from crawler.extraction.content.markdown import markdown
from crawler.extraction.content.walk import passages

URL = "https://site.example/a/b"
TEX = r"\frac{a_1}{b}"
NOTE = '<annotation encoding="application/x-tex">{}</annotation>'
ROW = "<mrow><msub><mi>a</mi><mn>1</mn></msub><mo>/</mo><mi>b</mi></mrow>"
STYLED = rf"{{\displaystyle {TEX}}}"
WRITTEN = {
    "MediaWiki": f"<span><span style='display: none'><math alttext='{STYLED}'><semantics>{ROW}{NOTE.format(STYLED)}"
    f"</semantics></math></span><img src=/m.svg alt='{STYLED}'></span>",
    "LaTeXML": f"<math alttext='{TEX}'><semantics>{ROW}<annotation-xml><ci>a</ci></annotation-xml></semantics></math>",
    "KaTeX": f"<span><span class=katex-mathml><math><semantics>{ROW}{NOTE.format(TEX)}</semantics></math></span>"
    "<span class=katex-html aria-hidden=true><span class=base>a<span>1</span>b</span></span></span>",
}


def texts(html: str) -> list[str]:
    return [each.text for each in passages(Document(html, URL))]


@pytest.mark.parametrize("formula", WRITTEN.values(), ids=WRITTEN)
def test_a_formula_is_its_tex_once(formula: str) -> None:
    html = f"<p>So {formula} <b>of</b> it</p><div>{formula}</div><p>is</p>"
    document = Document(html, URL)
    assert texts(html) == [f"So ${TEX}$ of it", f"${TEX}$", "is"]
    assert markdown(document, passages(document), images=True) == (f"So $`{TEX}`$ **of** it\n\n$`{TEX}`$\n\nis")


@pytest.mark.parametrize("inside", [ROW, f"<semantics>{ROW}<annotation-xml><ci>c</ci></annotation-xml></semantics>"])
def test_one_without_tex_is_its_signs(inside: str) -> None:
    assert texts(f"<p>So <mjx-math></mjx-math><math>{inside}</math> is <math></math>it") == ["So a1/b is it"]


def test_what_follows_a_formula_is_read() -> None:
    html = f"<p><span>{WRITTEN['LaTeXML']}</span><span class=x>and</span><img src=/i.png alt=other> more</p>"
    (found,) = passages(Document(html, URL))
    assert (found.text, len(found.images)) == (f"${TEX}$and more", 1)
