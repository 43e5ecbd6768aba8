"""Pages as block pages look, and real pages that look a little like them; all of them made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Answer:
    """One answer; *vendor* is who blocks with it, "" for a page."""

    name: str
    vendor: str
    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def page(title: str = "", body: str = "", head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


NOINDEX = '<meta name="robots" content="noindex, nofollow">'
PROSE = "<p>" + "A lamp of brushed steel that stands on any desk and swings both ways. " * 40 + "</p>"

BLOCKS: tuple[Answer, ...] = (
    Answer("a proof of work for an app", "akamai", '{"sec-cp-challenge": "true", "provider": "crypto"}', 428),
    Answer("a script that waits for its verdict", "akamai", "<html><script>var chlgeId = '';</script></html>"),
    Answer("a title and no more", "firewall", page("Access Denied", "<div></div>")),
    Answer("a status of its own", "captcha", page("Shop", "<p>Request denied</p>"), 999),
    Answer(
        "a block without an error number", "cloudflare", page("Blocked", "<h1>Sorry, you have been blocked</h1>"), 403
    ),
    Answer(
        "a proof sent by a script",
        "akamai",
        page("", "<script>x.open('POST','/_sec/verify?provider=interstitial')</script>"),
    ),
    Answer(
        "the script alone",
        "kasada",
        '<html><script src="/149e9513-01fa-4fb0-aad4-566afd725d1b/x/p.js"></script></html>',
        429,
    ),
    Answer("a rejection in Spanish", "f5", page("Rechazada", "La URL solicitada fue rechazada. Su ID: 123"), 200),
    Answer("a detour", "shopee", "<html><script>location.href='/verify/traffic/error?x=1'</script></html>"),
    Answer("a pause", "ticketmaster", page("Tickets", "<h1>Your Browsing Activity Has Been Paused</h1>"), 403),
    Answer("a challenge", "wildberries", page("Soon", '<script src="/__wbaas/challenges/antibot/x.js"></script>'), 498),
    Answer("a cookie", "servicepipe", page("", "<script>function get_cookie_spsc_encrypted_part(){}</script>"), 403),
    Answer("a challenge", "gcore", page("Wait", '<script src="/gcdn_cgi/jsch.js"></script>')),
    Answer("a challenge", "hostinger", page("Wait", '<script src="/hcdn-cgi/jschallenge"></script>')),
    Answer("intercepted", "safeline", page("Intercepted", "<p>Security Detection Powered By SafeLine WAF</p>"), 403),
    Answer("a check of the address", "btwaf", "<html><script>location.href='/a_yanzheng_ip.php?key=1'</script></html>"),
    Answer("a ban", "crowdsec", page("CrowdSec Ban", "<h1>CrowdSec Access Forbidden</h1>"), 403),
    Answer(
        "an unpaid site", "suspended", page("Account Suspended", "<h1>Account Suspended</h1><p>Contact your host.</p>")
    ),
    Answer("a widget and a step", "captcha", page("One more step", "<altcha-widget></altcha-widget>", NOINDEX), 403),
    Answer(
        "managed challenge",
        "cloudflare",
        page("Just a moment...", "<noscript>Enable JavaScript and cookies to continue</noscript>", NOINDEX),
        403,
    ),
    Answer("challenge, by its header", "cloudflare", page("Hold on"), 403, {"cf-mitigated": "challenge"}),
    Answer("challenge, by its script", "cloudflare", page("", "<script>window._cf_chl_opt={cType:'managed'}</script>")),
    Answer(
        "challenge in German",
        "cloudflare",
        page("Nur einen Moment …", "<h1>shop.example wird geprüft</h1>", NOINDEX),
        503,
    ),
    Answer(
        "firewall rule",
        "cloudflare",
        page("Access denied", '<h1>Access denied <span class="cf-error-code">1020</span></h1>'),
        403,
    ),
    Answer(
        "device check",
        "datadome",
        page("shop.example", "<script src='https://ct.captcha-delivery.com/i.js'></script>"),
        403,
    ),
    Answer("answer to an app", "datadome", '{"url": "https://geo.captcha-delivery.com/captcha/?cid=1"}', 403),
    Answer("press and hold", "perimeterx", page("Access to this page has been denied", '<div id="px-captcha"></div>')),
    Answer("words alone", "perimeterx", page("Robot or human?", "<h1>Robot or human?</h1>")),
    Answer(
        "edge denial",
        "akamai",
        page(
            "Access Denied", "<h1>Access Denied</h1>You don't have permission. Reference #18.1a2b3c4d.1700000000.5e6f"
        ),
        403,
    ),
    Answer("behavioural challenge", "akamai", page("Shop", '<div id="sec-if-cpt-container"></div>')),
    Answer(
        "denial without a reference",
        "akamai",
        page("Error", "<p>Request refused</p>", NOINDEX),
        403,
        {"Server": "AkamaiGHost"},
    ),
    Answer(
        "incident",
        "incapsula",
        page("", "<iframe>Request unsuccessful. Incapsula incident ID: 123-456</iframe>", NOINDEX),
    ),
    Answer(
        "script alone",
        "incapsula",
        page("", "", NOINDEX + '<script src="/_Incapsula_Resource?SWJIYLWA=0123456789abcdef"></script>'),
    ),
    Answer(
        "interruption",
        "incapsula",
        page("Pardon Our Interruption", "<p>Something about your browser made us think you were a bot.</p>"),
    ),
    Answer(
        "cookie by script",
        "sucuri",
        page("You are being redirected...", "<script>var sucuri_cloudproxy_js='';</script>"),
    ),
    Answer("firewall", "sucuri", page("Sucuri WebSite Firewall - Access Denied"), 403),
    Answer(
        "letters to type",
        "amazon",
        page("Bookshop", '<form action="/errors/validateCaptcha"><h4>Enter the characters you see below</h4></form>'),
    ),
    Answer("web application firewall", "amazon", page("", "<script>window.gokuProps = {};</script>"), 202),
    Answer(
        "web application firewall, by its header", "amazon", page("One step"), 405, {"x-amzn-waf-action": "captcha"}
    ),
    Answer(
        "bootstrap",
        "kasada",
        page("", "<script>window.KPSDK={};</script><script src='/1/2/ips.js?x-kpsdk-im=1'></script>"),
        429,
    ),
    Answer(
        "support id",
        "f5",
        page("Request Rejected", "The requested URL was rejected. Please consult with your administrator."),
    ),
    Answer("checkpoint", "vercel", page("Vercel Security Checkpoint", "<p>We're verifying your browser</p>"), 429),
    Answer(
        "widget and words", "captcha", page("Shop", '<p>Please verify you are human.</p><div class="h-captcha"></div>')
    ),
    Answer(
        "widget and words in French",
        "captcha",
        page(
            "Vérification", "<p>Vous n'êtes pas un robot ?</p><script src='https://static.geetest.com/g.js'></script>"
        ),
    ),
    Answer(
        "words and a status", "captcha", page("Hello", "<p>We have seen unusual traffic from your network.</p>"), 429
    ),
    Answer("blocked at the network", "captcha", page("", "<p>You've been blocked by network security.</p>"), 403),
    Answer("humanity", "captcha", page("Forum - Prove your humanity", "<h1>Prove&nbsp;your humanity</h1>")),
)

CODE = "".join(
    f"var _0x{n:x}=[{n},'{n * 7919:x}'];if(_0x{n:x}[0]<{n + 1}&&{n}>0){{_0x{n:x}.push('</p>')}};" for n in range(260)
)
STYLE = "<style>" + ".lamp{color:#000;margin:0}" * 8_000 + "</style>"

BLOCKS += (
    Answer(
        "script of 20 KB and a support id",
        "f5",
        page(
            "",
            "<noscript>Please enable JavaScript to view the page content.<br/>Your support ID is: 1.</noscript>",
            f'<script>(function(){{window["bobcmn"]="10";{CODE}}})();</script>',
        ),
    ),
    Answer(
        "script of 20 KB that sets a cookie",
        "aliyun",
        f"<html><script>var arg1='AB';{CODE}'acw_sc__v2'</script></html>",
    ),
    Answer("script without its element", "aliyun", f"{CODE} document.cookie='acw_sc__v2=1'"),
    Answer(
        "data in a hidden field",
        "aliyun",
        f'<html><body><textarea id="renderData" style="display:none">{{"_waf_bd8ce2ce37":"1"}}</textarea><script>{CODE}'
        "</script></body></html>",
    ),
    Answer(
        "checkpoint with its script",
        "vercel",
        page("Vercel Security Checkpoint", "<p>We're verifying your browser</p>", f"<script>{CODE}</script>"),
    ),
    Answer(
        "script alone",
        "cloudflare",
        "<!DOCTYPE html><html><head></head><body><script>(function(){window['__CF$cv$params']={r:'1',t:'2'};"
        "var a=document.createElement('script');a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';"
        "document.head.appendChild(a)})()</script></body></html>",
    ),
    Answer(
        "words behind a long style sheet",
        "captcha",
        page("Forum", "<p>You've been blocked by network security.</p>", STYLE),
    ),
    Answer("mark behind a long style sheet", "perimeterx", page("Shop", STYLE + '<div id="px-captcha"></div>')),
    Answer(
        "shield",
        "google",
        page("shop.example", "<p>This site is protected by Project Shield. Please verify that you are human.</p>"),
    ),
    Answer(
        "traffic",
        "google",
        page("https://search.example/", "<p>Our systems have detected unusual traffic from your computer network.</p>"),
    ),
    Answer("a marketplace asks", "captcha", page("Security Measure", "<h1>Please verify yourself to continue</h1>")),
    Answer(
        "a search engine asks", "captcha", page("Search", "<h1>One last step</h1>Please solve the challenge below.")
    ),
    Answer(
        "a search engine asks for ducks", "duckduckgo", page("lamps", '<div class="anomaly-modal__title">Bots</div>')
    ),
    Answer("a search engine asks in Chinese", "baidu", page("百度安全验证", "<p>请完成下方验证后继续操作</p>")),
    Answer(
        "a search engine asks in Russian",
        "yandex",
        page("Вы не робот?", "<p>Подтвердите, что запросы отправляли вы</p>"),
    ),
    Answer("slider", "captcha", page("Verification", "<p>Please slide to verify</p><div id='slider'></div>")),
    Answer(
        "denied at 200", "firewall", page("Access Denied", "<h1>Access Denied</h1><p>Ask the owner of this site.</p>")
    ),
    Answer(
        "denied by an edge", "akamai", page("Access Denied", "<h1>Access Denied</h1>Reference 0.44fd.16236.2420bf"), 403
    ),
    Answer(
        "loader alone",
        "incapsula",
        '<html><head><script src="/_Incapsula_Resource?SWJIYLWA=01ab,23cd"></script></head><body></body></html>',
    ),
    Answer(
        "nobody's script, for a cookie",
        "captcha",
        page(
            "",
            "",
            f"<script>{CODE}document.cookie='a=1';location.reload()</script><noscript><p>No scripts?</p></noscript>",
        ),
    ),
    Answer("nobody's script, refused", "captcha", f"<html><body><script>{CODE}</script></body></html>", 403),
    Answer("nobody's script, not to be indexed", "captcha", page("", f"<script>{CODE}</script>", NOINDEX)),
    Answer("denied and no more", "firewall", "<html><body><h1>Access Denied</h1></body></html>"),
    Answer("proof of work", "anubis", page("Making sure you&#39;re not a bot!", "<p>Calculating...</p>")),
    Answer(
        "robot screen",
        "siteground",
        '<html><head><meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=1"></head></html>',
    ),
    Answer("client challenge", "fastly", page("Client Challenge", "<p>JavaScript is disabled in your browser.</p>")),
    Answer(
        "a firewall of a host",
        "imunify360",
        page("One moment, please...", "<p>Please wait while your request is being verified...</p>"),
    ),
    Answer(
        "rate limit with a mark",
        "cloudflare",
        page("Access denied | shop.example", '<span class="cf-error-code">1015</span>'),
        429,
    ),
)

PAGES: tuple[Answer, ...] = (
    Answer("advice of a bank", "", page("Fraude", "<p>Si detectas actividad sospechosa en tu cuenta, llámanos.</p>")),
    Answer("a rating", "", page("IP 67", "<p>An IP 67 rating: the phone withstands water. Dust is blocked.</p>")),
    Answer("an app for bots", "", page("Bot-Studio", '<div id="root"></div><script src="/app.js"></script>')),
    Answer("drains", "", page("Blocked drains", "<p>We clear blocked drains. Your request is answered soon.</p>")),
    Answer("a road", "", page("Straße gesperrt", "<p>Die A5 ist gesperrt. Umleitung über Karlsruhe.</p>")),
    Answer("an order", "", page("Your order", "<p>Your order has been blocked by the bank. Please call it.</p>")),
    Answer("an appointment", "", page("Anfrage", "<p>Ihre Anfrage wurde gesendet. Die Straße ist gesperrt.</p>")),
    Answer("a product", "", page("A lamp", PROSE)),
    Answer("a product behind bot detection", "", page("A lamp", PROSE, "<script>window._pxAppId='PX1'</script>")),
    Answer("a short page with a sensor", "", page("Deals", "<h1>Deals</h1><script>window._pxAppId='PX1'</script>")),
    Answer(
        "a short page with a loader",
        "",
        page("Tables", "<h1>Tonight</h1><script src='/_Incapsula_Resource?SWJIYLWA=1'></script>"),
    ),
    Answer(
        "an app with a passive check",
        "",
        page("App", '<div id="root"></div><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>'),
        headers={"cf-ray": "1", "Server": "cloudflare", "Set-Cookie": "__cf_bm=1"},
    ),
    Answer("a login form", "", page("Sign in", '<form><div class="cf-turnstile" data-sitekey="1"></div></form>')),
    Answer("a contact form", "", page("Contact", '<form><div class="g-recaptcha"></div></form><p>We answer soon.</p>')),
    Answer(
        "an article on blocks", "", page("Just a moment... and other titles", PROSE + "<p>_cf_chl_opt, px-captcha</p>")
    ),
    Answer("an article served as an error", "", page("Reviews", PROSE), 403, {"x-dd-b": "1"}),
    Answer("a page under a full 429", "", page("Homes for sale", PROSE), 429, {"x-kpsdk-ct": "1"}),
    Answer("members only", "", page("Members only", "<p>Sign in with your membership number.</p>"), 403),
    Answer("forbidden", "", page("403 Forbidden", "<p>You don't have permission to access this resource.</p>"), 403),
    Answer(
        "forbidden, by way of a CDN",
        "",
        page("403 Forbidden", "<p>You don't have permission to access this resource.</p>"),
        403,
        {"cf-ray": "1", "Server": "cloudflare"},
    ),
    Answer("an API's refusal", "", '{"error": "forbidden", "message": "the token lacks a scope"}', 403),
    Answer("a polite rate limit", "", page("Too Many Requests", "<p>Slow down a little, please.</p>"), 429),
    Answer("a quarrel", "", page("anna", "<a href=/>Forum</a><h1>anna</h1><p>You have been blocked by this user.</p>")),
    Answer(
        "a member who left", "", page("bob", "<a href=/>Forum</a><p>Posts: 12. This account has been suspended.</p>")
    ),
    Answer("a novel", "", page("Captcha - A Novel", "<h1>Captcha - A Novel</h1><p>EUR 9.99</p><button>Buy</button>")),
    Answer(
        "a small page with a sensor",
        "",
        page("Soon", "<p>We open in May.</p><script src=/149e9513-01fa-4fb0-aad4-566afd725d1b/p.js></script>"),
    ),
    Answer(
        "a form with a widget",
        "",
        page("Newsletter", "<h1>News</h1><form><altcha-widget></altcha-widget><input name=mail></form>"),
    ),
    Answer("maintenance", "", page("Back soon", "<p>We are down for maintenance.</p>"), 503),
    Answer("a dead origin", "", page("shop.example | 521: Web server is down", "<p>Web server is down</p>"), 521),
    Answer("robots for sale", "", page("Are you a robot fan? Vacuums", PROSE)),
    Answer("an empty answer", "", ""),
    Answer("a page behind a long style sheet", "", page("A lamp", PROSE, STYLE)),
    Answer("an app with its script", "", page("Lamps", '<div id="root"></div>' + f"<script>{CODE}</script>")),
    Answer(
        "an app with the older passive check",
        "",
        page("App", '<div id="app"></div><script src="/cdn-cgi/challenge-platform/h/b/scripts/jsd/main.js"></script>'),
    ),
    Answer(
        "an app with a widget",
        "",
        page(
            "App",
            '<div id="app"></div><script src="https://www.google.com/recaptcha/api.js"></script>'
            f"<script>{CODE}</script>",
        ),
    ),
    Answer(
        "a short page with the passive check",
        "",
        page("Deals", "<h1>Deals of today</h1><script>window['__CF$cv$params']={r:'1'}</script>"),
    ),
    Answer(
        "a form that asks for a human",
        "",
        page("Join", '<form><input type="email"><input type="password"><p>Prove that you are human.</p></form>'),
    ),
    Answer(
        "a contact form with words and a widget",
        "",
        page("Contact", "<form><textarea></textarea>Please verify you are human.<div class='h-captcha'></div></form>"),
    ),
    Answer("an API's denial", "", '{"error": "Access denied"}', 403),
    Answer(
        "a small product page about robots",
        "",
        page("Captcha mug", "<h1>Mug: I'm not a robot</h1>" + "<p>A lovely ceramic mug. </p>" * 40),
    ),
    Answer("a program", "", CODE),
    Answer("a script that goes elsewhere", "", "<html><body><script>location.href = '/en/'</script></body></html>"),
    Answer("an app that makes its own root", "", page("App", "<script src='/app.js'></script>")),
    Answer("data", "", '{"items": [' + ", ".join(f'{{"name": "Are you a robot? {n}"}}' for n in range(2_000)) + "]}"),
    Answer(
        "a redirect", "", '<html><head><meta http-equiv="refresh" content="0; url=/en/"></head><body></body></html>'
    ),
)

# Of no vendor that anyone knows, in the words of many countries, at status 200.
SAYINGS = """
Please wait|Your browser is solving a proof-of-work challenge.
Blocked|Automated scraping is not allowed. Your request has been identified as coming from a bot.
Access restricted|It looks like you are using a VPN or proxy. Please turn it off.
Captcha|Enter the characters shown above
Einen Moment bitte|Wir prüfen Ihren Browser. Bitte aktivieren Sie JavaScript und Cookies.
Verifica|Abbiamo rilevato un'attività insolita. Conferma di essere umano per continuare.
Weryfikacja|Potwierdź, że nie jesteś robotem. Wykryliśmy nietypowy ruch.
Ověření|Potvrďte, že nejste robot.
Kontroll|Bekräfta att du inte är en robot.
Bekreft|Bekreft at du ikke er en robot.
Vahvista|Vahvista, että et ole robotti.
Ellenőrzés|Kérjük, erősítse meg, hogy nem robot.
Verificare|Confirmați că nu sunteți un robot.
Επαλήθευση|Επιβεβαιώστε ότι δεν είστε ρομπότ.
Перевірка|Підтвердьте, що ви не робот.
Проверка|Доступ с вашего адреса временно ограничен: слишком много запросов.
Xác minh|Vui lòng xác nhận bạn không phải là robot.
Verifikasi|Konfirmasi bahwa Anda bukan robot.
验证|请确认您不是机器人。
보안 확인|자동화된 접근이 감지되었습니다.
Sorry|The IP address 10.1.2.3 that you are using has been blocked for 3 hours.
Denied|This request has been refused by shop.example due to undesirable or unauthorised activity.
Hm|Your latest request may have been part of suspicious activity and has been blocked.
Gesperrt|Ihre Anfrage wurde von der Firewall blockiert.
Blocage|Votre adresse IP 10.1.2.3 a été bloquée en raison d'une activité suspecte.
Bloqueo|Su dirección IP ha sido bloqueada.
Bloqueio|Seu endereço IP foi bloqueado.
Blokada|Twój adres IP został tymczasowo zablokowany.
Blokace|Z vaší IP adresy přichází příliš mnoho požadavků.
Engel|IP adresiniz 10.1.2.3 engellenmiştir.
Запрет|Ваш IP-адрес 10.1.2.3 временно заблокирован.
拦截|您的请求已被拦截。
Stop|Your visit was identified as automated.
Stopp|Din IP-adress har blockerats.
Tilos|Az Ön IP-címét letiltottuk gyanús tevékenység miatt.
アクセス拒否|お使いのIPアドレスからのアクセスはブロックされました。
차단|비정상적인 활동이 감지되었습니다.
"""
BLOCKS += tuple(
    Answer(title, "captcha", page(title, f"<p>{text}</p>"))
    for title, _, text in (line.partition("|") for line in SAYINGS.strip().splitlines())
)
_MENU = "<nav>" + '<a href="/c">Lamps</a>' * 20 + "</nav>"
PAGES += (
    Answer(
        "terms of use",
        "",
        page("Terms of use - Shop", _MENU + "<p>No bots or scrapers: automated access is prohibited and blocked.</p>"),
    ),
    Answer(
        "a question answered",
        "",
        page("FAQ: Why is there a captcha?", _MENU + "<p>To verify that you are human, and keep bots out.</p>"),
    ),
    Answer("an imprint", "", page("Impressum", "<p>Automatisierte Zugriffe durch Bots werden blockiert.</p>")),
    Answer(
        "a note on bots",
        "",
        page("What is a CAPTCHA?", "<p>A captcha asks: are you human, or a bot?</p><a href=/b>More</a>"),
    ),
    Answer(
        "an article on bots", "", page("What is bot traffic?", "<p>It is automated traffic: are you a robot?</p>" * 20)
    ),
    Answer(
        "a story on bots", "", page("Bot traffic", "<p>Automated traffic grows. Are you a robot, sites ask.</p>" * 20)
    ),
    Answer(
        "a robot for sale",
        "",
        page("Robot vacuum", "<p>Are you a robot fan? R2 cleans.</p><b>$199</b><button>Buy now</button>"),
    ),
    Answer(
        "a service",
        "",
        page("Security check", "<p>A security check of your home. Our expert visits.</p><a href=/book>Book</a>"),
    ),
    Answer(
        "a shop's password",
        "",
        page("Password", "<p>Enter store using password:</p><input type=password><button>Enter</button>"),
    ),
)


def framed(title: str, body: str) -> str:
    """A shop's design with *body* inside."""
    links = "".join(f"<li><a href=/{n}>Lamps {n}</a></li>" for n in range(9))
    return page(
        title,
        f"<header><a href=/>Lamps</a></header><nav><ul>{links}</ul></nav><main>{body}</main>"
        f"<footer><ul>{links}</ul></footer>",
    )


TOO_MANY = "<h1>Sorry</h1><p>Too many requests came from your network. Please try again in an hour.</p>"
BLOCKS += (
    Answer("a refusal in a shop's design", "captcha", framed("Lamps", TOO_MANY)),
    Answer("the same, as an error", "captcha", framed("Lamps", TOO_MANY), 403),
    Answer(
        "a country in a shop's design", "captcha", framed("Blocked", "<h1>We blocked access from your country.</h1>")
    ),
    Answer("a limit, for an app", "captcha", '{"code": 1, "message": "Rate limit exceeded, retry in a minute"}', 429),
    Answer("an incident", "captcha", page("403 Forbidden", "<p>Forbidden</p><p>0123456789abcdef0123</p>"), 403),
    Answer("an incident, as a page", "captcha", page("Denied", "<p>Denied</p><p>Incident ID: 1234-5678-9</p>")),
    Answer(
        "a cookie, and again",
        "captcha",
        page("Shop", "<div>Loading</div><script>document.cookie='a=1';location.reload()</script>"),
    ),
    Answer("hidden code beside a spinner", "captcha", page("Shop", f"<div>Wait</div><script>{CODE}</script>")),
    Answer("a queue", "queue-it", page("Queue", "<p>You are now in line. Users ahead of you: 7.</p>")),
    Answer("a gateway", "azure", page("403 Forbidden", "403 Forbidden<hr>Microsoft-Azure-Application-Gateway/v2"), 403),
    Answer("a number", "cloudflare", "error code: 1010", 403),
    Answer("a rule", "haproxy", "<html><body>Request forbidden by administrative rules.</body></html>", 403),
    Answer("a cache", "fastly", page("Error", "<h1>Error 403 No</h1><p>Varnish cache server</p>"), 403),
)

# Parts of a refusal put together as no vendor is known to.
NEW_WORDS = """
Hm|Automatische Zugriffe erkannt. Bitte später noch einmal.
Lamps|Troppe richieste dal tuo indirizzo.
Lamps|We could not make sure that a human visitor sent this.
Lamps|Vaše adresa? Z vaší sítě přichází neobvyklý provoz.
Lampes|Votre visite ressemble à celle d'un programme : elle semble automatisée.
Lamper|Vi har oppdaget uvanlig trafikk.
Lampen|Uw verzoek? Om veiligheidsredenen is de toegang geweigerd.
Lampy|Z twojej sieci dostaliśmy zbyt wiele zapytań.
Лампы|Из соображений безопасности доступ запрещён.
Lambalar|Ağınızdan çok fazla istek geldi.
ランプ|短時間に多数のアクセスがあったため、表示を制限しています。
램프|비정상적인 접근이 감지되었습니다.
Lampu|Kami mendeteksi aktivitas tidak wajar dari jaringan Anda.
灯|您的网络请求过于频繁，请稍后再试。
VPN|You are using a VPN. Please switch it off to go on.
Hm|This website cannot be accessed from your country: it is not available there.
Bots|Scrapers and bots are not welcome at this shop.
Kaart|Te veel? U heeft te veel verzoeken gedaan. Probeer het later.
"""


def worded(kind: str, lines: str) -> tuple[Answer, ...]:
    """Refusals of no vendor; *lines* of title|text."""
    parts = (line.partition("|") for line in lines.strip().splitlines())
    return tuple(Answer(f"{kind}: {text}", "captcha", page(title, f"<p>{text}</p>")) for title, _, text in parts)


BLOCKS += worded("new words", NEW_WORDS)
PAGES += (
    Answer("an empty list in a shop's design", "", framed("Lamps", "<h1>No lamps found</h1><p>Try other words.</p>")),
    Answer("members only in a design", "", framed("Members", "<p>This page is for members. Log in.</p>"), 403),
    Answer(
        "a lamp in a shop's design", "", framed("Lamp", f"<p>Blocked by your network? Call us.</p>{'<img src=a>' * 3}")
    ),
    Answer("a quoted title", "", page('curl gets "Just a moment..."', "<p>My browser gets the page. Why?</p>")),
    Answer("a quoted refusal", "", page("Signs", "<p>“Your IP address has been blocked” is no help to anybody.</p>")),
    Answer("a listing", "", page("Docs", "<h1>Reference</h1><pre>&lt;script&gt;window.gokuProps = {}</pre>")),
    Answer(
        "a form that asks who sends it",
        "",
        page("Cita", "<form><label>Nombre</label><label>Día</label></form><p>Confirma que no eres un robot.</p>"),
    ),
    Answer(
        "an article in Chinese",
        "",
        page("验证码", "<p>验证码：网站如何区分真人和爬虫。</p>" + "<p>灯很好看。</p>" * 80),
    ),
    Answer("a bank's advice", "", framed("Security", "<p>We keep your account safe. Access by phone is limited.</p>")),
    Answer("a plumber", "", framed("Blocked drains", "<p>Blocked drains cleared by a real person. Call us.</p>")),
    Answer("a game", "", page("Game", f"<canvas></canvas><script>{CODE}</script>")),
    Answer("an app that hides its code", "", page("App", "<div>Loading</div><script src=/app.js></script>")),
    Answer("a dead gateway", "", page("502 Bad Gateway", "502<hr>Microsoft-Azure-Application-Gateway/v2"), 502),
    Answer("accepted", "", '{"job": 7}', 202),
)

# What is blocked, closed or unusual is a thing, and not what the visitor asks for.
THINGS = """
Castle|The road to the castle is closed because of unusual traffic. Please try again later.
Beach|Access to the beach is blocked for security reasons until Monday.
Gate|Suspicious activity was detected at the north gate; traffic is diverted.
Concert|This concert is blocked in your country.
Museum|Tickets are limited: too many requests. Please try again tomorrow.
Summit|Unusual seismic activity has been detected near the summit.
Park|Der Park bleibt aus Sicherheitsgründen gesperrt. Der Zugang ist nicht erlaubt.
Parc|L'accès au parc est interdit pour des raisons de sécurité.
Puerto|El acceso al puerto está bloqueado por seguridad.
Strada|La strada è bloccata per traffico insolito.
Weg|De weg is geblokkeerd door ongewoon druk verkeer.
Парк|Доступ в парк ограничен в целях безопасности. Проход запрещён.
公園|安全のため、公園へのアクセスを禁止しています。
"""
PAGES += tuple(
    Answer(f"{title} ({status})", "", page(title, f"<h1>{title}</h1><p>{text}</p>"), status)
    for title, _, text in (line.partition("|") for line in THINGS.strip().splitlines())
    for status in (200, 404, 503)
)
BLOCKS += tuple(
    Answer(f"of the visitor: {text}", vendor, page("Hm", f"<p>{text}</p>"), 403)
    for vendor, text in (
        ("captcha", "El acceso ha sido bloqueado por el sistema de seguridad."),
        ("captcha", "Ben je een mens? We zien opvallend veel verzoeken."),
        ("captcha", "Vi tror att du är en robot."),
        ("captcha", "ยืนยันว่าคุณไม่ใช่บอท"),
        ("captcha", "Your address is on our ban list."),
        ("captcha", "You come from a country belonging to the European Economic Area: no access."),
        ("keycdn", "403 Forbidden keycdn-engine"),
        ("shopify", "Your connection needs to be verified before you can proceed"),
    )
)
PRICED = "".join(f"<li><a href=/{n}>Lamp {n}</a> {n}9.90 USD</li>" for n in range(1, 9))
PRESS = "<div {}><h2>Robot or human?</h2><p>Press and hold the button.</p><div id=px-captcha></div></div>"
FAULT = "<h1>Connection timed out <span>Error code 522</span></h1><p>Performance &amp; security by Cloudflare</p>"
PAGES += (
    Answer("a challenge kept for later", "", framed("Lamps", f"<div>{PRICED}</div>{PRESS.format('hidden')}")),
    Answer("a challenge kept, beside few links", "", page("Lamps", PRICED + PRESS.format("class=modal"))),
    Answer("a dead site", "", page("shop.example | 522: Connection timed out", FAULT, NOINDEX), 522),
    Answer("a dead site, in short", "", "error code: 522", 522),
    Answer("nothing yet", "", "", 202),
    Answer(
        "a listing that is highlighted",
        "",
        page("Incident IDs explained", '<div class="highlight"><pre>/_Incapsula_Resource?CWUDNSAI=2</pre></div>'),
    ),
)
BLOCKS += (
    Answer("the challenge itself", "perimeterx", page("Lamps", PRESS.format("class=modal"))),
    Answer("a site that bans", "cloudflare", page("Denied | 1020", FAULT.replace("522", "1020"), NOINDEX), 403),
    Answer("a cookie, and a picture", "servicepipe", page("", '<script src="//servicepipe.ru/static/x.js"></script>')),
    Answer("a hidden field", "radware", page("Loading...", '<form><input type="hidden" name="__uzmf"></form>')),
    Answer("a cookie", "dosarrest", page("Wait", "<script>document.cookie='DOSARRESTID=1'</script>")),
    Answer("a denial", "vercel", page("403: Forbidden", "<h1>403</h1>: FORBIDDEN<p>Code: <code>X</code>"), 403),
    Answer("an app's refusal", "shopee", '{"is_login":false,"error":90309999}', 403),
    Answer("a wall", "facebook", page("Log in", "<div>You must log in to continue.</div><input type=password>")),
    Answer("a wall", "instagram", page("Login • Instagram", "<div id=root></div>")),
)

# Parts of a refusal that had no class: threats, soundness of a browser, codes in pictures; and rarer languages.
RARER_WORDS = """
Attention|Your visit was taken for a security risk: the request looks like an attack.
Firewall|An attack was detected in your request.
Wait|We only check that your browser is genuine.
Code|Veuillez saisir les lettres de l'image pour continuer.
Tor|Connections from Tor exit nodes are blocked at our end.
灯|为确认正常用户访问，请验证。
ნათურა|დაადასტურეთ, რომ რობოტი არ ხართ.
Шам|Робот емес екеніңізді растаңыз.
Llum|Confirma que no ets un robot.
Lamp|Sila sahkan bahawa anda bukan robot.
Lampe|Du har sendt for mange forespørsler og er blokkert.
Puzzle|Drag the slider to complete the puzzle.
"""
BLOCKS += worded("rarer words", RARER_WORDS)
BLOCKS += (Answer("a queue in German", "queue-it", page("Lampe", "<p>Sie befinden sich in der Warteschlange.</p>")),)
SOLD = "<h1>Lamp</h1><p>34.90 €</p><p>Of steel. <a href=/>All lamps</a></p>"
DATA = '<div id="root"></div><script>window.__STATE__={"lamp":{"name":"Desk lamp","price":34.9}}</script>'
SENSORS = {
    "ddos-guard": "<script src=/.well-known/ddos-guard/mark/></script>",
    "f5": '<script src="/TSPD/08ab?type=9"></script><script>window["bobcmn"]="10"</script>',
    "siteground": '<link rel=prefetch href="/.well-known/sgcaptcha/x">',
}
PAGES += tuple(
    Answer(f"a sensor of {vendor} beside {name}", "", page("Lamp", body, sensor))
    for vendor, sensor in SENSORS.items()
    for name, body in (("a price", SOLD), ("an app with data", DATA))
)
PAGES += (
    Answer("an explanation in Turkish", "", page("Robot değilim ne demek?", "<p>Robot olmadığınızı doğrulayın.</p>")),
    Answer("an explanation in Arabic", "", page("ما معنى أنا لست روبوت", "<p>تأكد أنك لست روبوت من شبكتك.</p>")),
    Answer("advice", "", page("Acesso negado: o que fazer", "<p>O servidor bloqueia o seu endereço IP.</p>")),
    Answer(
        "an article",
        "",
        page("Our lamps", "<article><p>Sites ask: are you a robot? We make lamps. <a href=/>More</a></p></article>"),
    ),
)

# Queues, consent and places in more languages; and who asks about a refusal instead of giving one.
MORE_WORDS = """
Lampe|Du er nu i kø. Luk ikke vinduet.
Lampa|Du står i kö till butiken.
Lamppu|Olet nyt jonossa. Odota hetki.
Лампа|Ви в черзі. Не закривайте сторінку.
Lampu|Anda berada dalam antrean.
확인|자동 입력 방지 문자를 입력해 주세요.
Lámpara|Este contenido no está disponible en tu país.
Contenu|Ce contenu n'est pas disponible dans votre pays.
Before you continue|Before you continue: we use cookies. Accept all. Reject all.
Bevor Sie fortfahren|Bevor Sie fortfahren: Cookies annehmen oder ablehnen.
Avant de continuer|Avant de continuer, acceptez ou refusez les cookies.
"""
BLOCKS += tuple(
    Answer(one.name.replace("words", "queues"), vendor, one.body)
    for one, vendor in zip(
        worded("more words", MORE_WORDS), ("queue-it",) * 5 + ("captcha",) * 3 + ("consent",) * 3, strict=True
    )
)
PAGES += (
    Answer(
        "who asks", "", framed("Blocked?", "<p>Jim: my access to this site has been limited by the site owner!</p>")
    ),
    Answer(
        "who asks in German", "", framed("Hilfe", "<p>Mein Zugriff wurde blockiert, meine IP gesperrt. Was nun?</p>")
    ),
    Answer("a court", "", page("Zugriff gesperrt", "<p>Ein Gericht ließ das Archiv sperren.</p>")),
    Answer(
        "a dialog about cookies", "", page("Enamel mug", "<p>Before you continue: cookies?</p><p>A mug of steel.</p>")
    ),
    Answer(
        "too many requests explained", "", page("Why too many requests?", "<p>Too many requests is status 429.</p>")
    ),
)

# Who takes a visitor for a machine, for one in a hurry, or says that a check failed, without a robot's name.
MACHINES = """
Shop|Bitte bestätigen Sie, dass Sie keine Maschine sind.
Shop|Make sure that you are not a machine.
Boutique|Cochez la case : prouvez que vous n'êtes pas un programme.
Tienda|Demuestre que no es una máquina.
Negozio|Dimostra che non sei un programma.
Loja|Prove que você não é uma máquina.
Winkel|Bevestig dat je geen machine bent.
Sklep|Potwierdź, że nie jesteś maszyną ani automatem.
Obchod|Potvrďte, že nejste stroj.
Магазин|Подтвердите, что вы не машина.
商店|请确认您不是机器。
Shop|You have opened too many pages. Come back in an hour.
Tienda|Ha visitado demasiadas páginas en un minuto.
Негоз|Вы просмотрели слишком много страниц.
Shop|Your connection did not pass our checks.
Shop|Ihre Anfrage hat unsere Prüfung leider nicht bestanden.
Shop|Your browser could not be verified.
Shop|More requests than usual come from your network.
"""
BLOCKS += worded("no robot's name", MACHINES)
PAGES += (
    Answer(
        "a machine's manual", "", page("Mixer", "<p>Verify that the machine is not plugged in, then open the lid.</p>")
    ),
    Answer("a browser of many tabs", "", page("Slow?", "<p>If you have opened too many tabs, close some of them.</p>")),
    Answer("a client of a bank", "", page("Bank", "<p>Each new client is checked. Most pass our checks in a day.</p>")),
    Answer("a busy park", "", page("Park", "<p>More visitors than usual came to the park in May.</p>")),
)

# Who answers in the site's place; a server's own error page with a status of success; a headline that says what the
# title does not; structure: a picture with one field, a case's number beside the visitor's address, a page that waits.
BLOCKS += (
    Answer("an order of a court", "legal", page("Blocked", "<p>By order of the court this website is blocked.</p>")),
    Answer(
        "an order in Russian",
        "legal",
        page("Лампа", "<h1>Доступ к запрашиваемому ресурсу ограничен</h1><p>по решению суда</p>"),
    ),
    Answer(
        "pay or agree",
        "consent",
        page("Zeitung", "<h1>Weiter mit Werbung lesen</h1><p>Zustimmen und weiter, oder 3,99 € im Monat.</p>"),
    ),
    Answer("cookies off", "scripts", page("Shop", "<h1>Cookies required</h1><p>Your browser accepts none.</p>")),
    Answer("nginx", "server", "<html><head><title>403 Forbidden</title></head><center>nginx</center></html>"),
    Answer("a proxy", "server", "upstream connect error or disconnect/reset before headers. reset reason: timeout"),
    Answer(
        "an unpaid site with mail",
        "suspended",
        page(
            "Account Suspended",
            "This account has been suspended by our hosting team. <a href=mailto:a@b.example>Mail</a>",
        ),
    ),
    Answer(
        "a code to copy", "captcha", page("Shop", "<p>Hello</p><form><img src=/code.php><input name=a></form>", NOINDEX)
    ),
    Answer(
        "a case and an address", "captcha", page("Shop", "<p>Quote this: 8f1b2c3d4e5f6a7b</p><p>IP: 203.0.113.9</p>")
    ),
    Answer(
        "a waiting room",
        "queue-it",
        page("Tickets", "<h1>Sala de espera</h1><p>Tienes 12 personas por delante en la sala de espera.</p>"),
    ),
    Answer(
        "a menu of few links",
        "captcha",
        page("Shop", "<nav><a href=/a>A</a><a href=/b>B</a></nav><h1>Not available in your country yet</h1>"),
    ),
)
PAGES += (
    Answer("a thread named like an error", "", page("429 Too Many Requests when syncing", "<p>Add a pause.</p>")),
    Answer("a server's page with its own status", "", page("503 Service Unavailable", "<p>nginx</p>"), 503),
    Answer(
        "a post that quotes",
        "",
        page("Dealer", "<blockquote>Access Denied. Reference #18.5c1e</blockquote><p>Why?</p>"),
    ),
    Answer("rules of cookies", "", page("Cookie policy", "<p>One tells that you are not a robot.</p>")),
    Answer(
        "a note for readers without scripts", "", page("Bakery", "<noscript>JavaScript is required.</noscript>Bread")
    ),
    Answer("a voucher", "", page("Voucher", "<img src=/logo.svg><form><input name=code></form><p>Enter a code.</p>")),
)

# What saved pages of public repositories taught: a response that only loads scripts, packed ones, and who refuses a
# site, or a region, and not a page.
LOADER = '<script src="/_guard/check.js?js=slider"></script>'
PACKED = "eval(function(p,a,c,k,e,d){return p}('0.1',2,2,'document|cookie'.split('|'),0,{}))"
BLOCKS += (
    Answer("a script without a document", "captcha", LOADER),
    Answer("two of them", "captcha", f"\n<script type=module src=/a.js>\n</script>{LOADER}\n", 403),
    Answer("a packed script", "captcha", f'<html><body onload="go();"><script>{PACKED}</script></body></html>'),
    Answer(
        "a webmaster's", "firewall", page("Shop", "<p>The request was odd and has been denied by the webmaster.</p>")
    ),
    Answer("a number to quote", "captcha", page("Unauthorised Access", "<p>Support ID: 4711081547110815</p>"), 418),
    Answer(
        "a site in Russian",
        "captcha",
        page("403", "<p>Доступ к сайту lampa.example запрещён, доступ к сайту закрыт</p>"),
    ),
    Answer("a site in German", "captcha", page("403", "<p>Der Zugriff auf diese Website wurde Ihnen verweigert.</p>")),
    Answer("a region", "captcha", page("Lampe", "<p>Der Kauf ist aus dieser Region gesperrt.</p>"), 403),
    Answer("a headline in Spanish", "captcha", page("Error", "<h1>Acceso prohibido</h1><p>Ha quedado registrado.</p>")),
)
PAGES += (
    Answer("a script that leads on", "", '<script>location.href="/en/"</script>'),
    Answer(
        "a document that loads one", "", '<html><head><title>Shop</title></head><script src="/app.js"></script></html>'
    ),
    Answer("a picture with a packed script", "", page("Alps", f'<img src="/alps.jpg"><script>{PACKED}</script>')),
    Answer("a login without an account", "", page("401 Unauthorized", "<p>Please log in.</p>"), 401),
    Answer(
        "fishing in a region", "", page("Lake", "<p>Nets are banned; boats from this region may go out in May.</p>")
    ),
    Answer(
        "a ban in Russian",
        "",
        page("Озеро", "<p>Купание запрещено, доступ к пляжу закрыт до мая.</p><a href=/>Все</a>"),
    ),
)
BLOCKS += (
    Answer("a rising script", "ruishu", "<html><head><script r=m>$_ts.cd='qx9d';</script></head></html>", 202),
    Answer("a crowd in Japanese", "queue-it", page("Lamp", "<p>混みあっております</p>", '<meta id="queue-it_log">')),
)
PAGES += (Answer("its script in a page", "", page("Court", "<script r=m>$_ts.cd='qx9d';</script><p>Rulings.</p>")),)
BLOCKS += (
    Answer("no list", "captcha", page("Shop", "<h1>[!] Stop</h1><p>Tráfico anómalo detectado desde tu IP.</p>"), 503),
    Answer("little more than that", "captcha", page("Blocked", "<h2>You are blocked</h2>")),
    Answer("a ban in Italian", "captcha", "Il tuo indirizzo IP è stato bannato! <a href=/ricorso>Ricorso</a>"),
    Answer("a ban in German", "captcha", page("Forum", "<p>Deine IP-Adresse ist bis Mai gebannt.</p>")),
    Answer("a filter", "firewall", page("Blocked", "<p>This page was blocked by the school's web filter.</p>"), 403),
    Answer("a shield", "firewall", page("Anti-DDoS shield", "<h1>Anti-DDoS shield</h1><p>Tráfico anómalo.</p>"), 403),
)
PAGES += (
    Answer("a list", "", '["Traffic from your IP was detected as unusual", "and blocked", {"lamp": 1}]'),
    Answer("a snake", "", page("Fascinated", "<p>The flute player gebannt, spellbound, watched the snake.</p>")),
    Answer("a shop of filters", "", page("Filters", "<p>A web filter of steel, 12.90 €.</p><a href=/>All filters</a>")),
)
BLOCKS += (
    Answer("a title alone", "captcha", page("You have been banned", "Spam"), 200),
    Answer("a safe connection", "captcha", page("Shop", "<p>Wir überprüfen die Sicherheit Ihrer Verbindung.</p>")),
    Answer("a limit", "captcha", page("Rate limit exceeded", "<p>You have exceeded the rate limit.</p>")),
)
BLOCKS += (
    Answer("a short form", "queue-it", page("Lamps", "<h1>You're in the queue</h1>")),
    Answer("a curly apostrophe", "captcha", page("Lamp", "<p>You have been blocked, you’re a bot.</p>")),
)
OWN_NUMBER = "<h1>Something is wrong</h1><p>Quote 18.1a2b3c4d.1700000000.5e6f to us.</p>"
BLOCKS += (
    Answer("an edge's number in a shop's design", "captcha", page("Request refused", OWN_NUMBER)),
    Answer("a number and no tags", "captcha", "Forbidden - number: 0123456789abcdef0123"),
    Answer(
        "a title and a line",
        "firewall",
        page("Access Denied", "<p>You are missing the permission that this lamp needs.</p>"),
        403,
    ),
    Answer("a detour by script", "captcha", page("Lamp", "<script>location.href='/risk/challenge?type=9'</script>")),
    Answer(
        "a detour by tag", "captcha", page("", "", '<meta http-equiv="refresh" content="0; url=/x_verification.html">')
    ),
    Answer(
        "a script, and a note",
        "f5",
        page("", "<noscript>Your support ID is: 12.</noscript>", '<script>window["bobcmn"]="10"</script>'),
    ),
)
PAGES += (
    Answer("a sensor beside words", "", page("Bank", "<p>We lend.</p>" * 30, '<script>window["bobcmn"]="1"</script>')),
    Answer("a mark explained", "", page("F5 explained", "<p>Forms post to geo.captcha-delivery.com at times.</p>")),
    Answer(
        "a line, and where to log in",
        "",
        page("Access denied", "<p>This part is for members of our club only.</p><a href=/in>Log in</a>"),
        403,
    ),
    Answer("a list of challenges", "", page("Runs", "<script>location.href='/challenges/2024'</script>")),
    Answer("a redirect by tag", "", page("", "", '<meta http-equiv="refresh" content="0; url=/en/lamps.html">')),
)

# Of requests, speed and checks in languages that had words for some of them only.
PLAIN_WORDS = """
Hm|Cererea dumneavoastră a fost blocată.
Hm|Su petición fue rechazada por el servidor.
Hm|Olağan dışı bir erişim tespit edildi.
Hm|短时间内收到大量请求，请休息一下。
Lamp|Er kwamen in korte tijd veel verzoeken van u.
Lampe|Vous cliquez trop vite : voici une pause.
Lampe|Das System hat Sie als Roboter eingestuft.
Lampe|Il y a trop de trafic accru venant de votre ordinateur : bloqué.
Lamp|Bezpečnostní kontrola, okamžik prosím.
Lamp|Selesaikan captcha ini.
Lamp|Completa la verifica per proseguire.
Lamp|Access from your region has been switched off.
Lamp|Crawlers may not come here.
Lamp|The subnet was reported for abuse.
Lamp|Servers in data centers are not accepted.
Lamp|Uw netwerk staat op een zwarte lijst.
"""
BLOCKS += worded("plain words", PLAIN_WORDS)
BLOCKS += (
    Answer("a firewall of no name", "firewall", page("Hm", "<p>This visit was rejected by the LampShield WAF.</p>")),
    Answer("a firewall that speaks", "firewall", page("Hm", "<p>The firewall is blocking your connection.</p>")),
    Answer("its picture", "firewall", page("Hm", '<img src="/aesecure_denied.png">')),
    Answer("a client", "google", page("Hm", "<p>Your client does not have permission to get URL /lamp.</p>"), 403),
    Answer("not allowed, and a number", "captcha", page("Not allowed", "<p>Quote 471108154711 to us.</p>")),
    Answer("an app's check", "captcha", '{"error": "captcha_required", "next": "/check"}', 403),
)
PAGES += tuple(
    Answer(text, "", page(title, f"<p>{text}</p><a href=/next>Next</a>"))
    for title, _, text in (
        line.partition("|")
        for line in """
Lesson 3|Complete the challenge to continue with lesson 4.
Before boarding|Wait a moment: a security check comes first.
Issue 12|The client sends many requests in a short time.
Registering|Solve the captcha when you join the club.
Club|Visits are limited to visitors from the north.
""".strip().splitlines()
    )
)
PAGES += (
    Answer("shoes", "", page("Botas", "<p>Sapatilhas que te levam longe, e as botas de inverno.</p>")),
    Answer("works", "", page("Mine", "<p>Access to the site is restricted during works. Wear a helmet.</p>")),
    Answer("a letter", "", page("Claims", "<p>Claims are processed. If a claim is rejected you get a letter.</p>")),
)
CASE = (
    "<p>This may come from somebody else who shares what you connect with, and not from anything that you did.</p>" * 5
)
WIDGET = '<form method="post"><div class="h-captcha" data-sitekey="1"></div></form>'
BLOCKS += (
    Answer(
        "a case at length",
        "captcha",
        page("Entry denied", f"{CASE}Your IP: 203.0.113.9, case 0f1e2d3c4b5a. <a href=/a>Check my IP</a>"),
    ),
    Answer("a line and a number", "firewall", page("Service", "<p>Request blocked. Transaction 1234567890123456</p>")),
    Answer("a widget alone", "captcha", page("shop.example", WIDGET)),
    Answer("a widget without a title", "captcha", page("", WIDGET.replace("h-captcha", "g-recaptcha"))),
    Answer("a frame of a refusal", "captcha", page("", '<iframe src="https://wall.example/blocked.html"></iframe>')),
    Answer("a network forbidden", "captcha", page("403", "<p>Entry is forbidden from your network. Call us.</p>"), 403),
    Answer("a filter in French", "firewall", page("Hm", "<p>La requête est filtrée par notre anti-DDoS.</p>"), 403),
    Answer("a reader in Europe", "captcha", page("Hm", "<p>Our website is unavailable in European countries.</p>")),
    Answer("a place", "queue-it", page("Lamps", "<p>Your position in line: 12.</p>")),
    Answer("a room", "queue-it", page("Lamps", "<p>Poczekalnia, twoje miejsce: 7.</p>")),
)
PAGES += (
    Answer("a widget with a title", "", page("Write to us", WIDGET)),
    Answer("a film in a frame", "", page("", '<iframe src="https://films.example/lamp.html"></iframe>')),
    Answer("who asks, at length", "", page("Denied?", f"{CASE}<p>My IP is denied. Why?</p><a href=/t>Threads</a>")),
)
BLOCKS += (
    Answer(
        "a rising script and its field", "ruishu", '<script r=m>$_ts.cd="qx9d";</script><input id=a type="hidden">', 412
    ),
    Answer("a guard", "captcha", "<html><head><script src=/_guard/auto.js></script></head><body></body></html>"),
    Answer("this request", "captcha", page("Lamps", "<p>This request was denied.</p>")),
    Answer("a search without results", "google", page("Search", "<a href='/search?q=lamp&emsg=SG_REL'>Here</a>")),
    Answer(
        "a wall of accounts", "mercadolibre", page("Lamps", "<script src=/suspicious-traffic-frontend/a.js></script>")
    ),
)
PAGES += (
    Answer(
        "a server's own, with a heading",
        "",
        page(
            "403 Forbidden",
            "<h1>Forbidden</h1><p>You don't have permission to access this resource.</p>"
            "<p>Also, a 403 Forbidden error came up while handling the request.</p>",
        ),
        403,
    ),
    Answer("a letter about a request", "", page("Tax", "<p>The request is refused by post.</p><a href=/a>Office</a>")),
)

HALVES = """
Lamp|Seu acesso fica suspenso por uma hora.
Lamp|You have been rate-limited.
Lampe|Bestätigen Sie, dass hier kein Programm sitzt.
Lamp|Váš prohlížeč kontrolujeme, poté budete přesměrováni.
Lampu|Peramban Anda kami periksa: pemeriksaan sebelum masuk.
Lamp|Sprawdzamy, czy to bezpieczne. Twoja przeglądarka wysyła zbyt wiele żądań.
Lamp|Vi kontrollerar nu din webbläsare.
Лампа|Ваш адрес внесён в чёрный список.
灯|当前IP被禁止浏览。
ランプ|不正アクセスを防ぐため認証をお願いします。
灯|操作太频繁，请输入验证码。
Lamp|Tor exit nodes must not come here.
"""
BLOCKS += worded("the other half", HALVES)
BLOCKS += (
    Answer("people ahead", "queue-it", page("Lamps", "<p>Four thousand people are ahead of you.</p>")),
    Answer(
        "a cookie, and a tag that reloads",
        "captcha",
        '<html><head><meta http-equiv="refresh" content="1"><script>document.cookie="a=1"</script></head></html>',
    ),
)
PAGES += (
    Answer("courses", "", page("Courses", "<p>A certificate in an online program. <a href=/c>All courses</a></p>")),
    Answer("states", "", page("Status", "<p>Rate limits: fine. Captcha service: slow. <a href=/c>All</a></p>")),
    Answer("a race", "", page("Race", "<p>Of ten people, one was ahead of you. <a href=/r>Results</a></p>")),
)
BLOCKS += (
    Answer("an edge's number and no refusal", "captcha", page("Lamps", "<p>Sorry. 0.1a2b3c4d.1700000000.5e6f7a8b</p>")),
    Answer(
        "a browser that was not checked", "captcha", page("Lampe", "<p>Nie udało się zweryfikować przeglądarki.</p>")
    ),
    Answer("a limit in one line", "server", "Too Many Requests"),
)
PAGES += (Answer("a version", "", page("Lamps 1.2", "<p>Lamps 18.2.1700000000.5 is out. <a href=/l>All</a></p>")),)
WORK = (
    'const c="q8";let n=0;while(!(await crypto.subtle.digest("SHA-256",e.encode(c+n))))n++;'
    'const r=await fetch("/__lamp",{method:"POST",body:n});if(r.ok)location.reload()'
)
PICTURE = f'<img alt="" src="data:image/png;base64,{"iVBORw0K" * 10_000}">'
BLOCKS += (
    Answer("a proof of work", "captcha", page("Lamps", f"<p>One lamp, please</p><script>{WORK}</script>")),
    Answer(
        "a check, by its script", "captcha", page("Lamps", "<p>On our way</p><script src=/lamp/challenge.js></script>")
    ),
    Answer(
        "a detour past an empty page",
        "captcha",
        page("Lamps", '<div id="main"></div><script>location.replace("/lamp_verification.html?to=1")</script>'),
    ),
    Answer(
        "a refresh without its url=",
        "captcha",
        '<html><head><title>Lamps</title><meta http-equiv="refresh" content="0;/antibot/?to=1"></head></html>',
    ),
    Answer(
        "words behind pictures in the source",
        "captcha",
        page("Lamps", f"{PICTURE}<h1>Are you human?</h1><p>Let us know that you are not a robot.</p>{PICTURE}"),
    ),
)
PAGES += (
    Answer(
        "an app with the word for a check",
        "",
        page("Lamps", '<div id="root"></div><script src="/challenge-weeks.js"></script>'),
    ),
    Answer(
        "a page that is loaded again when it changes",
        "",
        page("Lamps", '<p>All lamps are lit</p><script>fetch("/v").then(r => r.ok || location.reload())</script>'),
    ),
)
BLOCKS += (
    Answer("a refusal in rare words", "captcha", page("Hm", "<p>Our lamps dislike what your browser sends.</p>"), 403),
    Answer(
        "a denial at length",
        "captcha",
        page("Blocked", f"<h1>Whoa</h1><p>Your request has been blocked. <a href=/a>Ask us</a></p>{CASE}{CASE}"),
    ),
)
PAGES += (
    Answer("a limit in rare words", "", page("Lamps", "<p>Whoa, your browser was a bit fast for us. Wait.</p>"), 429),
    Answer("a film for friends", "", page("A film", "<p>Your browser is fine: ask its owner for permission.</p>"), 403),
    Answer("an app behind a refusal", "", page("Lamps", '<div id="root">Your browser is old</div>'), 403),
    Answer("a server's own, for a method", "", page("405 Not Allowed", "<p>The connection stays open.</p>"), 405),
    Answer("a server's own, with a dash", "", page("405 Not Allowed – Lamps", "<p>© The lamp stays on.</p>"), 405),
    Answer(
        "a job below its heading",
        "",
        framed("Jobs", "<h1>Lamp tester</h1><p>You detect unusual traffic between lamps and block it.</p>"),
    ),
    Answer(
        "an error explained in a design",
        "",
        page(
            "429 Too Many Requests - HTTP",
            "<nav><a href=/docs>Docs</a></nav><h1>429 Too Many Requests</h1>"
            "<p>The client sent too many requests. A header says how long to wait.</p>",
        ),
    ),
    Answer(
        "a login with one field",
        "",
        page("Log in", f'{WIDGET}<form><input name="username"></form><p>Show that you are not a robot.</p>'),
    ),
)

SPEECH = """
Lamps|Humans only on our site.
Lamps|Drag the arrow so that the picture of a lamp is complete.
Lamps|Access from your provider has been switched on, and access from your client closed.
Lamps|You are in our virtual queue.
Lamps|We serve lamps due to a network policy.
Лампы|Похоже, у вас включён VPN.
Lamps|Lamps cannot serve your requests this quickly.
Lamps|We had to throttle your address.
Lamps|Your visit was considered unsafe.
Lamps|You cannot visit this site from Lampland.
Lamps|Are you a real shopper?
Lampen|Sind Sie ein echter Besucher?
Lampes|Êtes-vous bien un client ?
Lámparas|¿Eres una persona real?
Lamps|This visitor looks like a script.
Lamps|We detected scripts behind your browser: lamps are not for scripts.
Lampen|Viele Abrufe in kurzer Folge.
Lamps|Traffic from your subnet has been suspended.
Lampen|Ihr VPN bitte ausschalten.
Lampa|Tarayıcınızı kontrol ediyoruz, bekleyin.
Lamps|You are viewing a very high number of pages.
램프|비정상적인 검색이 감지되었습니다.
Lámparas|Necesitamos validar que eres una persona.
Lampe|Tilgangen din er blokkert: tror du er et program.
"""
BLOCKS += worded("speech", SPEECH)
BLOCKS += (
    Answer("a server that hides", "firewall", page("Lamps", "<a href=http://www.eeye.com/SecureIIS/>Lamps</a>"), 404),
    Answer("an accelerator", "firewall", page("Lamps", "<img src=/.well-known/yunjiasu-cgi/lamp.png>"), 403),
    Answer("a splash", "firewall", page("Lamps", "<img src=https://cdn.virusdie.ru/splash/lamp.png>"), 403),
    Answer("an address asked for", "firewall", page("Lamps", "<p>The URL you requested has been denied.</p>")),
    Answer("a flood", "firewall", page("Lamps", "<p>Anti-flood is activated for lamps.</p>")),
    Answer("a trigger", "firewall", page("Lamps", "<p>Your visit triggered our protection.</p>")),
    Answer("a firewall that stops", "firewall", page("Lamps", "<p>A lamp's firewall stopped the request.</p>")),
    Answer("please wait", "cloudflare", page("Please Wait... | Cloudflare"), 503),
    Answer("another form", "amazon", page("Lamps", '<form action="/errors_page/validateCaptcha"></form>')),
    Answer("without scripts", "google", page("Lamps", "<a href=/httpservice/retry/enablejs?sei=1>here</a>")),
    Answer("a verdict on articles", "tencent", page("Lamps", "<script>var s = 'secitptpage/verify'</script>")),
    Answer("a shop at its limit", "shopify", page("Lamps", "<p>There was a problem loading this website</p>"), 430),
    Answer("a sum to do", "reddit", page("Lamps", '<form hidden><input type=hidden name="js_challenge"></form>')),
)
PAGES += (
    Answer("a manual", "", page("Lamp L2", "<p>Too many lumens shorten its life: slide the handle to the right.</p>")),
    Answer("a voucher", "", page("Voucher", "<p>This voucher cannot be used twice. <a href=/v>Terms</a></p>")),
)

TALK = """
Lamps|Bot check.
Lamps|You have reached the page limit for one lamp.
Lamps|This is to tell you from a robot.
Lamba|Sizi robotlardan ayırt edelim.
Lamps|Lamps may not be harvested by machines.
Lamps|Your visit looks odd: your request is unusual.
Lampes|Site disponible uniquement depuis Lampville, non accessible ailleurs.
Lámparas|Estamos revisando tu navegador, un momento.
Lampade|La tua richiesta è stata fermata.
Lamps|Answer to show that you are no machine.
Lamps|Crawling is not permitted on this site.
Lampen|Zu schnell. Warten Sie einige Sekunden.
Lampen|Wählen Sie alle Bilder mit Lampen auf dieser Seite.
Lamps|Your request met a rule and was dropped.
Lâmpadas|Você atingiu o limite de acessos. Aguarde.
"""
BLOCKS += worded("talk", TALK)
BLOCKS += (Answer("a wait in rare words", "captcha", page("Lámparas", "<p>Vuelva a mirar más tarde.</p>"), 403),)

CHAT = """
Lamps|We are making sure that this is a genuine visit.
Lamps|You appear to be using an automated tool.
Lamps|We noticed strange behaviour on your device.
Lamps|Your access is on hold.
Lamps|A click, so we know you are not a script.
Lamps|No access from your network.
Lamps|This site does not serve your country.
Lamps|Making sure your connection is safe.
Lampen|Sie haben viele Seiten in kurzer Zeit gelesen.
Lampade|Che tu non sia un bot.
"""
BLOCKS += worded("chat", CHAT)
BLOCKS += (
    Answer(
        "a proof of work in a form",
        "captcha",
        '<form id="f" action="/lamp" method="post"><input type="hidden" name="n"></form><script>for (let n = 0; '
        '!sha256(n); n++) {} document.getElementById("f").submit()</script>',
    ),
    Answer("a wall of friends", "facebook", page("Log in to Facebook", "<h1>Lamps</h1><p>See more of them.</p>")),
)
PAGES += (
    Answer(
        "a form that goes on by itself",
        "",
        page("Lamps", '<form><input type="hidden" name="lamp"></form><script>document.forms[0].submit()</script>'),
    ),
    Answer("a table of addresses", "", "id;ip\n1;203.0.113.7\n"),
    Answer("a list of proxies", "", "ip,port\n198.51.100.7,8080\n198.51.100.8,3128\n"),
)
