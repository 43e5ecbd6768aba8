"""Refusals beside what every page of their site has, and pages that have the same; all of them made up."""

from __future__ import annotations

from tests.unit.policy.blocks.block_pages import Answer, page

SLOWER = "<h1>Whoa, slow down!</h1><p>Too many requests at once. Come back in a while.</p>"
SLOWER_IT = "<h1>Troppe richieste</h1><p>Attendi un minuto e riprova.</p>"
NO_BOTS = "<h1>Access denied</h1><p>Bots are kept out.</p>"
SOON = "<h1>429</h1><p>You are rate limited. Try again in a minute.</p>"
TEST = "<h1>A short test</h1><p>Show us that you are no machine: pick the lamp.</p>"
PACE = "<h1>One moment</h1><p>Your connection asks for more pages than people read. Tick the box to go on.</p>"
DEMAND_ES = "<h1>Demasiadas solicitudes</h1><p>Ha enviado demasiadas solicitudes. Espere un minuto.</p>"
TYPE = '<meta property="og:type" content="website"><meta property="og:title" content="Lamps">'
MAKER = (
    '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Organization","name":"L"}</script>'
)
MENU = "<div><ul>" + "".join(f"<li><a href=/c/{n}>Lamps {n}</a></li>" for n in range(6)) + "</ul></div>"
FRAME = "<header><a href=/>Lamps</a><a href=/all>All</a><a href=/new>New</a><a href=/old>Old</a></header>"
STYLE = "<style>" + ".lamp{color:#000;margin:0}" * 3_500 + "</style>"
COOKIES = "<div>We use cookies. <a href=/privacy>Privacy policy</a> <button>Accept</button></div>"

REFUSALS: tuple[Answer, ...] = (
    Answer("home, in French", "", page("Lampes", SLOWER + "<p><a href='/'>Retour à l'accueil</a></p>")),
    Answer("home, in Spanish", "", page("Lampade", SLOWER_IT + '<a class="b" href="/"><b>Volver al inicio</b></a>')),
    Answer("home, by name", "", page("Lamps", SOON + "<a href=https://lamps.example/home>To the shop</a>")),
    Answer("a logo", "", page("Lamps", '<a href="/"><img src="/l.svg" alt="Lamps"></a>' + TEST)),
    Answer("rules", "", page("Lamps", NO_BOTS + "<a href=/terms>Terms</a> <a href='/en/privacy-policy'>Privacy</a>")),
    Answer("where to write", "", page("Lamps", TEST + "<a href=/help/contact-us>Contact support</a>")),
    Answer("a site's type", "", page("Lamps", SLOWER, TYPE)),
    Answer("who runs the site", "", page("Lamps", NO_BOTS, MAKER)),
    Answer("an article of two lines", "", page("Lamps", f"<article>{SLOWER}</article>")),
    Answer("a menu of lists", "", page("Lamps", MENU + NO_BOTS)),
    Answer("a header", "", page("Lamps", FRAME + SOON)),
    Answer("long styles", "", page("Lamps", PACE, STYLE)),
    Answer("nothing else", "", page("", "<h2>Acceso restringido</h2>")),
    Answer("nothing else, in Japanese", "", page("ランプ", "<p>この端末はアクセスが制限されています。</p>")),
    Answer("a number above it", "", page("Lámparas", f"<h1>429</h1>{DEMAND_ES}<a href=/entrar>Entrar</a>")),
    Answer("a number in the title", "", page("429", "<h2>Trop de requêtes</h2><p>Trop de requêtes sont faites</p>")),
    Answer("an address", "", page("https://l.example/?q=1", '<form><div class="g-recaptcha"></div></form>')),
    Answer(
        "a server's title",
        "",
        page(
            "403 Forbidden",
            "<p>403</p><p>Forbidden</p><p>日本国外からの接続、VPN・プロキシ経由の接続等ではご利用いただけません。</p>",
        ),
        403,
    ),
    Answer("a break-in", "", page("", "<p>Piratage détecté. Votre adresse IP est notée.</p>")),
    Answer(
        "a proxy", "", page("Hilfe", "<p>Bitte keine Proxys. Deaktivieren Sie Ihren Proxy, um den Chat zu sehen.</p>")
    ),
    Answer("a proxy in the heading", "", page("Lamps", "<h1>VPN detected</h1><p>We keep some of them out.</p>")),
    Answer("a button in the title", "", page("点击按钮开始验证", '<div id="TencentCaptcha"></div>')),
)
ASKED = "<a href=http://lamps.example/a>http://lamps.example/a</a>"
REFUSALS += (
    Answer(
        "the address asked for",
        "",
        page("Filtre", f"<h1>Accès interdit</h1><p>L'accès à la page : {ASKED} a été interdit : liste de l'école.</p>"),
    ),
    Answer(
        "for some only", "", page("Lamps", "<h1>Access restricted</h1><p>This stream is available only in Norway.</p>")
    ),
)
REFUSALS += tuple(
    Answer(name, "", page("Nordlicht", text))
    for name, text in (
        ("nothing else, in Finnish", "<h1>Pääsy estetty</h1>"),
        ("a network, in Chinese", "<h1>检测到VPN</h1><p>请关闭VPN后继续访问。</p>"),
        ("a network, in Ukrainian", "<h1>Виявлено VPN</h1><p>Вимкніть VPN, щоб продовжити.</p>"),
        ("where servers stand", "<h1>Sorry</h1><p>You come from a hosting network, and those are closed out.</p>"),
        ("a list", "<p>您处于黑名单用户中，请联系网站管理员。</p>"),
        ("a slip", "<h2>You are making to many requests</h2><p>Please wait a few seconds.</p>"),
        ("from a country", "<p>You can't access our content from Norway!</p>"),
        ("programs", "<h1>Hinweis</h1><p>Automatische Programme bedienen wir hier nicht.</p>"),
        ("something odd", "<h1>Hinweis</h1><p>Uns ist an Ihrem Besuch etwas Ungewöhnliches aufgefallen.</p>"),
    )
)
PAGES: tuple[Answer, ...] = (
    Answer("a menu in words above a quarrel", "", page("anna", f"{MENU}<h1>anna</h1><p>anna has blocked you.</p>")),
    Answer(
        "an article about tests",
        "",
        page("Tests", "<article><h1>Old tests</h1><p>Robots once read letters.</p></article>"),
    ),
    Answer(
        "a right, and cookies", "", page("Lampen", "<h1>Zugriff verweigert</h1><p>Nur für Mitarbeiter.</p>" + COOKIES)
    ),
    Answer("a right, below a menu", "", page("Lamps", MENU + "<h1>Access restricted</h1><p>For staff only.</p>")),
    Answer("a role", "", page("Acceso bloqueado", "<p>Necesitas ser gerente para editar lámparas.</p>")),
    Answer(
        "an age", "", page("Wine", "<h1>Are you over 18?</h1><p>To enter you confirm that you are of legal age.</p>")
    ),
    Answer(
        "an age, in French",
        "",
        page("Vins", "<h1>Êtes-vous majeur ?</h1><p>Pour accéder, confirmez votre âge légal.</p>"),
    ),
    Answer(
        "a product of a site", "", page("Captcha", "<h1>Captcha</h1><p>A game for two.</p><a href=/buy>Buy</a>", TYPE)
    ),
    Answer("a road", "", page("Mine", "<p>Access to the site is restricted during works. Wear a helmet.</p>")),
    Answer("servers to rent", "", page("Racks", "<p>Our data center in Oslo is open to shops. Ask for a rack.</p>")),
    Answer("who asks", "", page("Hilfe", "<p>Wird mein Zugriff gesperrt?</p>")),
    Answer(
        "a sensor in an article",
        "",
        page(
            "Tables",
            "<article><h1>Tables</h1><p>They hide errors.</p></article>"
            '<script src="https://challenges.cloudflare.com/turnstile/v0/api.js" defer></script>',
        ),
    ),
)

# Pages about refusals, in a site's menu: whoever sells what refuses, tells of a rule or is at a loss.
IN_MENUS = """
Robot or human?|<h1>Robot or human?</h1><p>An evening about lamps that think, with two guests.</p>
Are you a robot?|<h1>Are you a robot?</h1><p>Nine questions about lamps will tell.</p><button>Go</button>
No bots|<h1>Keep bots out, let people in</h1><p>We verify that your visitors are human and block bots.</p>
Captcha|<h1>Captcha</h1><p>Wir prüfen, ob Ihre Besucher Menschen sind, und sperren automatisierte Zugriffe aus.</p>
Errors|<h1>Errors</h1><table><tr><td>403<td>Access denied<tr><td>429<td>Too many requests, try again later</table>
Captcha|<h1>Почему вылезает капча?</h1><p>Пишут, что запросы с этого адреса похожи на автоматические.</p>
Captcha|<h1>検索すると出ます</h1><p>毎回「私はロボットではありません」と出て困っています。</p>
Captcha|<h1>Captcha ovunque</h1><p>Da ieri dice che ha rilevato traffico insolito dalla rete. Anche a voi?</p>
Zugriff|<h1>Zugriff verweigert</h1><p>Hallo zusammen, bei mir steht das immer. Liegt das an meinem VPN?</p>
Compte|<h1>Activité inhabituelle</h1><p>Lorsque nous détectons une activité inhabituelle, le compte est bloqué.</p>
"""
PAGES += tuple(
    Answer(f"in a menu: {text[:30]}", "", page(title, FRAME + text))
    for title, text in (line.split("|") for line in IN_MENUS.strip().splitlines())
)
WHY = "<h2>Why do we ask?</h2><p>We keep the lamps of our sellers from being copied, and the shop fast for all.</p>" * 4
REFUSALS += (
    Answer(
        "at length", "", page("Are you a robot?", f"<h1>Are you a robot?</h1><p>Then this is not for you.</p>{WHY}")
    ),
    Answer(
        "an order, in words of requests",
        "",
        page("Lampa", f"{FRAME}<h1>Din uppkoppling</h1><p>Den har skickat för många förfrågningar.</p>"),
    ),
)
# A site's name says nothing of a letter or a recipe; nor does the line of its rights below.
REFUSALS += tuple(
    Answer(f"named: {text[:30]}", "", page(title, FRAME + text))
    for title, text in (
        ("A moment | Recipes", "<h1>A moment</h1><p>Your network opens more than people read. Tick the box.</p>"),
        ("Troppe ricerche", "<h1>Troppe ricerche</h1><p>Aspetta un momento e riprova.</p><p>© Orari</p>"),
        ("Перевірка", "<h1>Перевірка браузера</h1><p>Зачекайте, ми переконуємося, що ви людина.</p>"),
    )
)
FEW = "<table><tr><td><a href=/a>Karten</a> <a href=/b>Orte</a><td>{}<tr><td><a href=/c>Rechtliches</a></table>"
FAST = "<h1>Das war zu schnell</h1><p>Kein Mensch ruft Seiten so schnell ab. Gleich geht es weiter.</p>"
FLOOD = "<h1>Blocco</h1><p>Abbiamo ricevuto troppe richieste dal tuo indirizzo IP. Riprova tra un'ora.</p>"
REFUSALS += (
    Answer("three links", "", page("Zu schnell", FEW.format(FAST))),
    Answer("received too much", "", page("Blocco", FRAME + FLOOD)),
)
# Servers' own errors, sent as if all were well.
SERVERS = """
Acceso prohibido|<h1>Acceso prohibido</h1><p>No tiene permiso para leer el objeto.</p><h2>Error 403</h2>
Dostęp wzbroniony|<h1>Dostęp wzbroniony</h1><p>Brak prawa do obiektu.</p><h2>Error 403</h2>
État HTTP 403 – Interdit|<h1>État HTTP 403 – Interdit</h1><p>Refus du serveur.</p>
HTTP状态 403 - 禁止|<h1>HTTP状态 403 - 禁止</h1><p>类型</p>
403 - Запрещено|<h1>Ошибка</h1><p>Нет прав на просмотр каталога.</p>
403 Forbidden|<h1>Forbidden</h1><p>You don't have permission to access this resource.</p>
403|<h1>403</h1><p>Zugriff verweigert.</p>
HTTP 403|<h1>HTTP 403</h1><p>Přístup odepřen.</p>
Zugriff verweigert 403|<p>Keine Rechte.</p>
"""
# What else has such numbers.
NUMBERED = """
Peugeot 403|<h1>Peugeot 403</h1><p>A car of 1955, designed by Pininfarina.</p>
Zimmer 405|<h2>Zimmer 405</h2><p>Doppelzimmer mit Blick auf den See.</p>
Highway 401|<h1>Highway 401</h1><p>Two lanes are closed near Milton until Friday.</p>
LH 403|<h1>Vol LH 403</h1><p>Atterri à 14 h 20.</p>
403|<h1>403</h1><p>一九五五年の小さな車です。</p>
Glossar|<h1>Hymnen</h1><h2>401</h2><p>Lobt froh den Herrn.</p>
"""
PAGES += tuple(
    Answer(f"a number: {title}", "", page(title, text))
    for title, text in (line.split("|") for line in NUMBERED.strip().splitlines())
)
SERVED = tuple(
    Answer(f"a server's: {title}", "server", page(title, text))
    for title, text in (line.split("|") for line in SERVERS.strip().splitlines())
)
PAGES += (
    Answer(
        "what its scripts will write",
        "",
        page(
            "Lamps: red or blue?",
            head='<script type="application/ld+json">{"@type":"Product","name":"Lamp"}</script>'
            "<script>var seen=location.href;document.cookie='seen=1';</script>",
        ),
    ),
)
