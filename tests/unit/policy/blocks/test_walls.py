"""Walls that a site puts before its pages, and pages that have the same words; all made up."""

from __future__ import annotations

import pytest

from crawler.policy.blocks import DENIERS, Block, detect
from tests.effort import cpu_seconds
from tests.unit.policy.blocks.block_pages import page

AGES = """
Malthouse|<h1>Are you old enough?</h1><p>Our whisky is for people of legal drinking age.</p>
Age check|<p>Please state your date of birth.</p><select><option>1999</select><input name=year>
Kellerei|<h1>Bist du schon 18?</h1><p>Wein gibt es hier nur für Volljährige.</p>
Cave|<p>Avez-vous plus de 18 ans ?</p>
Bodega|<h2>¿Eres mayor de edad?</h2>
Adega|<p>Você precisa ter 18 anos. Confirme para continuar.</p>
Cantina|<h1>Sei maggiorenne?</h1>
Slijterij|<p>Ben je 18 of ouder?</p>
Winnica|<p>Czy masz ukończone 18 lat?</p>
Вино|<h1>Вам исполнилось 18 лет?</h1>
Şarap|<p>18 yaşından büyük müsünüz?</p>
酒|<p>您是否已年满18岁？</p>
酒蔵|<h1>年齢確認</h1><p>あなたは20歳以上ですか？</p>
Vinkällare|<p>Har du fyllt 18 år?</p>
"""
WORKS = """
Back soon|<h1>We are polishing the shelves</h1><p>The shop is closed for an hour. Please come back later.</p>
Wartung|<h1>Kurze Pause</h1><p>Wir bauen um. Bitte versuchen Sie es in ein paar Minuten erneut.</p>
Manutenção|<p>Voltamos em alguns minutos. Obrigado pela paciência.</p>
Przerwa techniczna|<p>Sklep wróci za godzinę. Przepraszamy.</p>
メンテナンス中|<p>しばらくしてから再度アクセスしてください。</p>
점검 안내|<p>서비스 점검 중입니다. 잠시 후 다시 이용해 주세요.</p>
ปิดปรับปรุง|<p>เว็บไซต์ปิดปรับปรุง กรุณากลับมาใหม่ภายหลัง</p>
Manutenzione|<p>Il sito è in manutenzione: torna tra qualche minuto.</p>
"""
CHOICES = """
Your privacy|<h1>Choose how we use your data</h1><p>Partners set cookies. Agree to go on, or see settings.</p>
Zeitung|<h1>Bevor Sie fortfahren</h1><p>Wir verwenden Cookies und Daten für Werbung. Akzeptieren oder ablehnen?</p>
Journal|<p>Acceptez les cookies de nos partenaires pour accéder au site, ou abonnez-vous.</p>
"""
CONTROLS = """
Verify|<label><input type=checkbox><span>Verify you are human</span></label><script src=/v.js></script>
|<button>Continue to the site</button><script src=/go.js></script>
Hold|<button>I am no robot</button>
Lamps|<h4>Press the button to go on shopping</h4><form><input type=hidden><button>Continue shopping</button></form>\
<a href=/terms>Conditions of use</a> <a href=/help/page>Help</a>
"""
# Small pages with such words, title and body.
SMALL = """
Sommerkonzert|<h1>Sommerkonzert</h1><p>Am Samstag ab 18 Uhr im Park.</p><button>Karten</button>
Krabbelgruppe|<h1>Krabbelgruppe</h1><p>Für Kinder ab 18 Monaten.</p><button>Weiter</button>
Lee Roofing|<h1>Lee Roofing</h1><p>We have mended roofs for over 25 years.</p><button>Call us</button>
Faure|<h1>Menuiserie Faure</h1><p>Depuis 18 ans, nous posons vos fenêtres.</p><a href=/devis>Devis</a>
Taller|<h1>Taller Ruiz</h1><p>18 años reparando bicicletas.</p><a href=/cita>Pide cita</a>
Meble|<h1>Meble Nowak</h1><p>Każdy człowiek od 18 lat wie, co dobre.</p><button>Kontakt</button>
Obec|<h1>Obec Lhota</h1><p>Starosta přeje všem klidné svátky.</p><a href=/deska>Deska</a>
Viajes|<h1>Viaje a Rusia</h1><p>Ocho días a orillas del Nevá.</p><button>Reservar</button>
קפה|<h1>מבצע</h1><p>קפה רגיל במחצית המחיר.</p><button>להזמנה</button>
إعلان|<h1>إعلان</h1><p>جمعنا مبالغ كبيرة.</p><button>تبرع</button>
成人式|<h1>成人式のお知らせ</h1><p>一月の第二月曜日、市民会館にて。</p><a href=/form>申し込み</a>
猫粮|<h1>猫粮</h1><p>适合成年猫。</p><button>购买</button>
Йога|<h1>Йога</h1><p>Для любого возраста.</p><button>Записаться</button>
Swimming|<h1>Swimming</h1><p>Lessons for adults, and for boys under 18.</p><button>Book</button>
Draw|<h1>Win a bicycle</h1><p>For residents aged 18 or over. Closes in May.</p><button>Enter now</button>
Vans|<h1>Rent a van</h1><p>Drivers must be 21 or over. To continue, pick a day.</p><button>Continue</button>
Horoskop|<h1>Dein Horoskop</h1><p>Gib dein Geburtsdatum ein.</p><input type=date><button>Los</button>
Rioja|<h1>Rioja</h1><p>Plums and oak. Only for adults over 18.</p><button>Add to basket</button>
Casting|<p>Hai 18 anni? Puoi votare.</p><a href=/come>Come si vota</a> <a href=/dove>Dove</a>
Lesson|<p>Well done!</p><button>Continue</button>
Tour|<p>Click the arrow to continue the tour of our farm.</p><button>Next</button>
Basket|<h1>Your basket is empty</h1><p>Click below to continue shopping.</p><button>Continue shopping</button>
Not found|<h1>Page not found</h1><p>Press the button to continue.</p><button>Continue</button>
Carrito|<p>Tu carrito está vacío.</p><p>Pulsa para continuar.</p><button>Continuar</button>
Support|<h1>Support</h1><p>Our bot is asleep.</p><button>Talk to a human</button>
Invoice|<p>Invoice 12, total 40.00</p><button>Continue</button>
Lift|<h1>Lift out of service</h1><p>Under maintenance until Friday. Please come back to the shop by the stairs.</p>
Website maintenance|<h1>Website maintenance</h1><p>We keep your site fast. Call us, do not wait.</p>
Mantenimiento web|<h1>Mantenimiento web</h1><p>Cuidamos tu tienda. Respuesta en una hora.</p>
Fahrradwartung|<h1>Wartung</h1><p>Warten Sie Ihr Rad jedes Jahr. Wieder da sind wir im Mai.</p>
Café|<h1>Back soon</h1><p>Our café is closed today; the shop next door sells bread. Come back tomorrow.</p>
Patch|<h1>Patch 1.4</h1><p>Servers are down for maintenance. Wait, we will be back online soon.</p>
Ana|<button onclick=t()>Dark</button><p>Ana</p><script>function t(){document.cookie="t=d";location.reload()}</script>
Bye|<p>You are logged out.</p><script>document.cookie="s=";setTimeout(()=>location.href="/",3e3)</script>
Photo|<img src=/p.jpg><script>document.cookie="seen=1";if(innerWidth<500)location.href="/m/p"</script>
Snake|<canvas></canvas><p>Snake</p><script>document.cookie="best=3";onkeydown=()=>location.reload()</script>
"""
ONLY_AGES = """
Spirits|<h1>Welcome</h1><p>You must be 18 or older to enter this website.</p><button>I am 18 or older</button>
Brauhaus|<p>Bitte bestätige, dass du mindestens 16 bist, um fortzufahren.</p><a href=?y>Ja, bin ich</a>
Domaine|<p>Pour visiter notre site, vous devez avoir l'âge légal.</p><a href=/ok>J'ai plus de 18 ans</a>
Browar|<p>Wchodząc na stronę potwierdzasz, że masz ukończone 18 lat.</p><button>Wchodzę</button>
เหล้า|<p>คุณอายุเกิน 20 ปีหรือไม่</p><button>ใช่</button><button>ไม่ใช่</button>
Ούζο|<p>Είστε άνω των 18 ετών;</p><button>Ναι</button><button>Όχι</button>
"""
YES_NO = "<button>OK</button><button>–</button>"
LAMP = "<h1>Oak lamp</h1><p>A lamp of oak with a shade of paper, forty centimetres high.</p>"
PAGES = {
    "a bottle behind a dialog": "<div><h2>Are you 18?</h2><button>Yes</button></div><h1>Red wine</h1><p>€ 9.50</p>",
    "a bottle before a dialog": "<h1>Red wine</h1><p>Plums and oak, dry, from old vines on a hill above the river.</p>"
    "<p>Decanted for an hour it goes with lamb and with cheese, and it keeps for ten years.</p>"
    "<p>Grown, pressed and bottled by one family.</p><div>Are you over 18? <button>Yes</button></div>",
    "a survey": "<h1>How old are you?</h1><input type=radio>under 18<input type=radio>over 18<button>Next</button>",
    "a sign-up": "<p>I am over 18 and want an account.</p><input type=password><button>Join</button>",
    "an age without a question": "<h1>Minors</h1><p>Under 18? Bring a parent along when you visit our cellar.</p>",
    "a dialog about cookies": f"<p>We use cookies. Accept all to continue?</p>{YES_NO}{LAMP}",
    "cookies above text": f"<p>We use cookies. Accept all to continue?</p>{YES_NO}"
    "<p>Our lamps are turned from oak, oiled twice, and wired by hand. Each takes a day, and lasts for decades.</p>"
    "<p>Visit the workshop on the canal from Tuesday to Saturday, and bring the lamp that you want mended.</p>",
    "works that are announced": "<h1>Maintenance on Sunday</h1><p>The shop rests from 2 to 4 a.m., orders wait.</p>"
    "<p><a href=/news>All news</a></p>",
    "a manual": "<h1>Maintenance</h1><p>Oil the hinge monthly. Wait until it is dry, and later wipe it.</p>",
    "a garage": "<h1>Maintenance</h1><p>We mend vans. Be back on the road in an hour.</p><p>Call 555 0100.</p>",
    "a recipe": "<h1>Lamp cookie</h1><p>Continue with sugar. Agree on a sort of cookie.</p><button>Print</button>",
    "a right, and cookies": "<h1>For staff</h1><p>Ask a manager.</p><p>Accept cookies and advertising?</p><button>OK",
    "thanks for an order": "<p>Thank you, we received your order.</p><button>Continue shopping</button>",
    "a service": "<h1>Wartung</h1><p>Wir warten Ihre Heizung gleich morgen. Ab 89 € im Jahr.</p>",
    "one button of a shop": "<p>R2 cleans. Are you a robot fan?</p><b>$199</b><button>Buy now</button>",
    "one button of a list": "<p>You will get no more letters.</p><button>Undo</button>",
}


def walls(lines: str, rest: str = "") -> list[str]:
    parts = (line.partition("|") for line in lines.strip().splitlines())
    return [page(title, body + rest) for title, _, body in parts]


@pytest.mark.parametrize("body", [*walls(AGES, YES_NO), *walls(ONLY_AGES)])
@pytest.mark.parametrize("status", [200, 403])
def test_a_page_that_only_asks_for_an_age_is_a_wall(body: str, status: int) -> None:
    assert detect(status, {}, body.encode(), "") is not None
    assert detect(200, {}, body.encode(), "") == Block("age", "denial")


@pytest.mark.parametrize("body", walls(WORKS))
def test_works_on_a_site_are_no_page_where_the_status_says_that_all_is_well(body: str) -> None:
    assert detect(200, {}, body.encode(), "") == Block("maintenance", "denial")
    assert detect(503, {}, body.encode(), "") is None


@pytest.mark.parametrize("body", walls(CHOICES, YES_NO))
def test_a_page_that_only_asks_for_a_consent_is_a_wall(body: str) -> None:
    assert detect(200, {}, body.encode(), "") == Block("consent", "challenge")


@pytest.mark.parametrize("body", walls(CONTROLS))
def test_one_thing_to_press_and_no_more_is_a_challenge(body: str) -> None:
    found = detect(200, {}, body.encode(), "")
    assert found is not None
    assert found.vendor == "captcha"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_asks_and_has_more_to_say_is_none(name: str) -> None:
    assert detect(200, {}, page("Lamps and wine", PAGES[name]).encode(), "") is None


@pytest.mark.parametrize("body", walls(SMALL))
def test_a_small_page_with_the_words_of_a_wall_is_none(body: str) -> None:
    assert detect(200, {}, body.encode(), "") is None


@pytest.mark.parametrize("body", [*walls(AGES, YES_NO), *walls(WORKS), *walls(CHOICES, YES_NO), *walls(CONTROLS)])
def test_a_wall_above_a_page_is_none(body: str) -> None:
    """What is behind it has come with it, as a dialog lies above a page."""
    product = '<script type="application/ld+json">{"@type": "Product", "name": "Oak lamp"}</script>'
    assert detect(200, {}, body.replace("</body>", f"{LAMP}<p>49.00 €</p>{product}</body>").encode(), "") is None


def test_no_other_tier_gets_past_an_age_or_works() -> None:
    assert {"age", "maintenance"} <= DENIERS


@pytest.mark.parametrize(
    "piece",
    ["<h1>18", "<h2>a</h2>", "<button>", "<a ", "<a>", "<label>", "18か", "18? ", "18+ ", "cookies. ", "<h1><h2>"],
)
@pytest.mark.parametrize("size", [1_000, 60_000])
def test_walls_take_linear_time(piece: str, size: int) -> None:
    bomb = ("<title>Age check</title><p>Are you over 18?" + piece * (size // len(piece))).encode()
    assert cpu_seconds(lambda: detect(200, {}, bomb, ""), 0.05) < 0.05
