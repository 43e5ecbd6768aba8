"""What stands below a text and is none of it, comments and related articles, and what is only named like these."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_page

SAID = "I have read this with great joy, and I will tell it to all of my friends at home. "
PROSE = "".join(
    f"<p>{word} {'is a sentence of the text, which is long enough to be read by people. ' * 2}</p>"
    for word in "abcdefgh"
)
BLOG = '<meta property="og:type" content="article">'


def said_in(html: str) -> bool:
    return "great joy" in (extract_page(html, "https://site.example/a").text or "")


@pytest.mark.parametrize("head", [BLOG, ""])
@pytest.mark.parametrize("name", ["comments", "wp-block-comments", "postcomments", "kommentare", "disqus_thread"])
def test_what_readers_say_is_no_text_of_an_article(head: str, name: str) -> None:
    said = f"<section id={name}><h2>2 comments</h2>{f'<p>{SAID}</p>' * 2}</section>"
    html = f"{head}<body><main><h1>On knives</h1>{PROSE}{said}</main>"
    assert not said_in(html)
    assert "2 comments" not in (extract_page(html, "https://site.example/a").text or "")


@pytest.mark.parametrize(
    "body",
    [
        f"<div class=with-comments><h1>On knives</h1><p>{SAID}</p></div>{PROSE}",
        f"<h1>On knives</h1><section id=discussion><h2>Discussion</h2><p>{SAID}</p></section>{PROSE}",
        f"<h1>On knives</h1>{PROSE}<div class=commentary><p>{SAID}</p></div>",
        f"<h1>On knives</h1>{PROSE}<div class=more-text><p>{SAID}</p></div>",
        f"<h1>On knives</h1><h2 id=comment-choisir>Of great joy</h2>{PROSE}",
        f"<h1>On knives</h1><p>{PROSE[:100]}<div class=comments>{f'<p>{SAID}</p>' * 9}</div>",
    ],
)
def test_what_is_only_named_like_comments_stays(body: str) -> None:
    assert said_in(f"{BLOG}<body><main>{body}</main>")


@pytest.mark.parametrize("name", ["related", "jp-relatedposts", "lire-aussi", "powiazane", "articulos-relacionados"])
def test_what_is_related_is_no_text_of_an_article(name: str) -> None:
    cards = "".join(f"<div><h3><a href=/{n}>Knives of the {n}th kind</a></h3><p>{SAID}</p></div>" for n in range(3))
    assert not said_in(f"{BLOG}<body><main><h1>On knives</h1>{PROSE}<div class={name}>{cards}</div></main>")


LINKED = "".join(f"<li><a href=/{n}>Knives of the north</a> and what they cut</li>" for n in range(4))


@pytest.mark.parametrize("head", [BLOG, ""])
@pytest.mark.parametrize(
    "section",
    [
        f"<section id=comments><h2>Comments</h2><p>{SAID}</p></section>",
        f"<section id=comment-choisir><h2>Comment choisir</h2><p>{SAID}</p></section>",
        f"<div class=editor-comment><p>{SAID}</p></div>",
        f"<section id=related-work><h2>Related work</h2><p>{SAID}</p><ul>{LINKED}</ul></section>",
        f"<div class=suggestions><h2>What we suggest</h2><p>{SAID}</p><ul>{LINKED}</ul></div>",
    ],
)
def test_a_section_amid_the_text_is_of_the_text(head: str, section: str) -> None:
    assert said_in(f"{head}<body><main><h1>On knives</h1>{PROSE}{section}{PROSE}</main>")


def test_a_last_section_is_named_related_but_no_teasers() -> None:
    section = f"<section id=next-steps><h2>Next steps</h2><p>{SAID * 2}</p><ul>{LINKED}</ul></section>"
    assert said_in(f"{BLOG}<body><main><h1>On knives</h1>{PROSE}{section}</main>")


def test_links_beside_a_text_do_not_make_it_a_part_of_the_page() -> None:
    menu = "".join(f"<p><a href=/{n}>A link to page {n} of this site</a></p>" for n in range(60))
    assert said_in(
        f"{BLOG}<body><div>{menu}</div><h1>On knives</h1><div class=comments-open>{f'<p>{SAID}</p>' * 4}</div>"
    )


def test_comments_above_a_line_about_the_author_are_no_text() -> None:
    said = (
        f"<div class=comments><p>{SAID}</p></div><div><p>Ann Lee writes on knives, and she lives by a lake.</p></div>"
    )
    assert not said_in(f"{BLOG}<body><main><h1>On knives</h1>{PROSE}{said}</main>")


def test_what_is_said_below_a_question_is_text() -> None:
    said = f"<div class=comments>{f'<p>{SAID}</p>' * 3}</div>"
    assert said_in(f"<body><main><h1>On knives</h1><div class=question>{PROSE}</div>{said}</main>")


TOLD = "".join(f"<p>{SAID}It is said to everybody who comes to this page, whatever they want of it.</p>" for _ in "abc")
DIALOGS = [
    "<div class='modal fade' id=termsModal tabindex=-1 role=dialog><div class=modal-body>{}</div></div>",
    "<div class=cli-modal id=cliSettingsPopup role=dialog><div class=cli-modal-content>{}</div></div>",
    "<section id=ensModalWrapper role=dialog aria-modal=true>{}</section>",
    "<div class=lightbox-dialog role=dialog hidden>{}</div>",
    "<div class='elementor-popup-modal' role=dialog><div class=dialog-message>{}</div></div>",
    "<div class='MuiDialog-paper' role=dialog><div class=MuiDialogContent-root>{}</div></div>",
    "<div class='ui-dialog' role=dialog><div class=ui-dialog-content>{}</div></div>",
    "<div id=didomi-notice role=dialog><div class=text>{}</div></div>",
    "<div id=privacy-layer role=alertdialog><div class=text>{}</div></div>",
    "<dialog class=newsletter-popup><div class=text>{}</div></dialog>",
    "<div class=modal role=dialog><h1 class=modal-title>We care</h1>{}</div>",
]
GOODS = '<meta property="og:type" content="product">'


@pytest.mark.parametrize("dialog", DIALOGS)
@pytest.mark.parametrize("head", [GOODS, BLOG, ""])
def test_what_a_dialog_says_is_no_text(dialog: str, head: str) -> None:
    said = dialog.format(TOLD)
    own = f"<p>{PROSE[3:150]}</p>" * 2
    for body in (f"<main><h1>On knives</h1>{own}{said}</main>", f"{said}<main><h1>On knives</h1>{own}</main>"):
        text = extract_page(f"{head}<body>{body}", "https://site.example/a").text or ""
        assert "great joy" not in text
        assert "a sentence of the text" in text


@pytest.mark.parametrize(
    "body",
    [
        f"<h1>On knives</h1>{PROSE}<div class='alert alert-info' role=alert><p>{SAID}</p></div>{PROSE}",
        f"<h1>On knives</h1>{PROSE}<div class=overlay><p>{SAID}</p></div>{PROSE}",
        f"<h1>On knives</h1>{PROSE}<div class=sheet role=dialog><p>{SAID}</p></div>{PROSE}",
        f"<div class=modal role=dialog aria-modal=true><h1>On knives</h1><p>{SAID}</p>{PROSE}</div>",
        f"<div class=modal role=dialog><p>{SAID}</p>{PROSE}</div>",
        f"<h1>On knives</h1><dialog class=modal open><p>{SAID}</p>{PROSE}</dialog>",
        f"<h1>On knives</h1>{PROSE}<h2>The <a class=popup role=dialog href=/x>dialog</a></h2><p>{SAID}</p>",
        f"<div class=page-with-modal><h1>On knives</h1><p>{SAID}</p>{PROSE}</div>",
        f"<h1>On knives</h1>{PROSE}<section id=dialog><h2>Dialog</h2><p>{SAID}</p></section>",
        f"<h1>On knives</h1>{PROSE}<p class=dialog>{SAID}</p>",
    ],
)
def test_a_page_in_a_dialog_and_what_is_only_named_like_one_stays(body: str) -> None:
    assert said_in(f"{BLOG}<body>{body}")
