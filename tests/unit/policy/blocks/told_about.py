"""Refusals of busy sites, of filters and of whole sites, and pages that tell about refusals; all made up."""

from __future__ import annotations

from tests.unit.policy.blocks.block_pages import Answer, page

BY_LAW = """
Bilgi|Bu internet sitesi hakkında 14.05.2024 tarihli karar uyarınca idari tedbir uygulanmaktadır.
Thông báo|Trang web bạn truy cập đã bị chặn theo yêu cầu của cơ quan chức năng.
"""
BUSY = """
Serveur surchargé|Le serveur est surchargé, votre lampe attendra. Patientez un instant, puis réessayez.
Servidor saturado|El servidor está saturado. Espere un momento e inténtelo de nuevo.
Stark ausgelastet|Wir sind stark ausgelastet. Bitte einen Moment Geduld, dann erneut versuchen.
Sovraccarico|Siamo sovraccarichi. Attendi un momento e riprova.
Too busy|The server is too busy. Wait a moment and try again.
"""
SCRIPTS_OFF = """
Отключен JS|У вас отключен JS. Его надо разрешить.
JS deaktiviert|Ihr JS ist deaktiviert.
"""
KEPT_OUT = """
Zugriff|Für diese Website haben Sie keine Berechtigung.
Accès|Vous n'avez pas la permission de voir ce site.
رسائی|آپ کا آئی پی پتہ بلاک کر دیا گیا ہے۔
"""
THREADS = """
You are a robot|Your activity made us think that you are a robot|commented|The log says so. Access denied.
Access denied to bots|Verify that you are not a robot|schrieb:|Your request was blocked, bots have no access.
"""
TOLD = """
429 Too many requests|This status code indicates that a client has sent too many requests.
Zu viele Anfragen|Der Statuscode 429 bedeutet, dass zu viele Anfragen in kurzer Zeit kamen. Bitte warten.
Sorry, you are blocked: what it means|Your IP address was blocked because of unusual requests.
为什么提示访问过于频繁|系统检测到您的网络发出大量请求，会暂时限制访问，请稍后再试。请联系客服并提供您的IP地址。
"""
CHECKS = """
Sicherheitsprüfung von Leuchten|Wir prüfen Leuchten nach der Norm und beraten Sie vor Ort.
Contrôle de sécurité des lampes|Un contrôle est obligatoire chaque année. Demandez un devis.
Проверка безопасности ламп|Мастер приедет в течение дня.
電灯のセキュリティチェック|専門スタッフが電灯を点検します。
"""
EXAMPLE = (
    "<h1>Adressen</h1><p>Het invoeren van het IP adres 121.121.121.121 blokkeert toegang tot je lampen vanaf dat IP "
    "adres. Met 121.121.121.* geldt het voor een hele serie, dus voor alle adressen van een netwerk. Lampen die al "
    "branden, branden gewoon door tot iemand ze uitdoet.</p>"
)
TABLE = (
    "<h1>Limits of lamps</h1><p>Who asks too often has to wait a while:</p><table><tr><td>Web<td>minutes<td>requests"
    "<tr><td>Files<td>hours<td>downloads</table>"
)
SONG = (
    "<h1>Access denied</h1><h2>The Larks</h2><h3>Lyrics</h3><p>Access denied, you told me so<br>Your session expired, "
    "you had to go<br>Too many requests, you said I sent</p><ul><li>From the album Lamps</ul>"
    "<p><a href='/larks'>More</a> <a href='/lamps'>Lamps</a></p>"
)


def _pages(kind: str, lines: str, status: int = 200) -> tuple[Answer, ...]:
    parts = (line.split("|") for line in lines.strip().splitlines())
    return tuple(
        Answer(f"{kind}: {head}", "", page(head, f"<h1>{head}</h1><p>{text}</p>"), status) for head, text in parts
    )


NUMBERED = (
    "<h1>Access denied - what happened?</h1><p>Your request was stopped.</p><p>Incident: 0.7a1b2c3d.1712345678.9f8e7d"
)
# One field for those who are kept out is none of a login.
TOLD_WHEN = (
    "<h1>Sorry, lamps are not available in your country yet</h1><p>We will write to you when they are.</p>"
    "<form><input type=email><button>Tell me</button></form>"
)
LONE_SCRIPTS = """
a wall of logins, in parts|location.href = "https://" + host + "/authwall?to=" + path;
a cookie by name|var a=["cookie","reload","location"];document[a[0]]="ok=1";window[a[2]][a[1]]()
a form filled in|document.forms[0].z.value=new Date().getTimezoneOffset();document.forms[0].submit()
"""
FAULTS = """
Errore del server|Il server ha un errore interno e non può rispondere: si è verificato un errore in uno script.
"""
METHOD = page(
    "HTTP Status 405 – Method Not Allowed",
    "<h1>HTTP Status 405 – Method Not Allowed</h1><p>The method of the request is known by the origin server but not"
    " supported by the target resource.</p>",
)
VERB = (
    "<h2>405 - HTTP verb used to access this page is not allowed.</h2><p>The page you are looking for cannot be shown"
    " because an invalid verb was used to attempt access.</p>"
)
BAD = "<h1>Bad Request</h1><p>Your browser sent a request that this server could not understand.</p>"
DETOUR = '<meta http-equiv="refresh" content="1; url=/guard/verify?next=/lamps">'
STATUS = (
    "<h1>All lamps operational</h1><ul><li>Shop: operational<li>Bot protection: some visitors see a challenge</ul>"
    "<p>Last incident: requests were blocked by mistake.</p>"
)


def _scripts(lines: str) -> tuple[Answer, ...]:
    parts = (line.split("|") for line in lines.strip().splitlines())
    form = "<form><input type=hidden name=z></form>"
    return tuple(Answer(name, "", page("", f"{form}<script>{script}</script>")) for name, script in parts)


REFUSALS: tuple[Answer, ...] = (
    *_pages("busy", BUSY),
    *_pages("by law", BY_LAW),
    Answer("another name of the document", "", page("", "<script>d.cookie='a=1';location.href='/?g'</script>")),
    Answer("a detour with a note", "", page("Moment", "<p>You will be sent on.</p>", DETOUR)),
    *_scripts(LONE_SCRIPTS),
    Answer("asked, numbered", "", page("Access denied - what happened?", NUMBERED)),
    Answer("told when", "", page("Lamps", TOLD_WHEN)),
    Answer("withheld by law", "", page("Лампа", "<p>Сайт закрыт по решению суда.</p>"), 451),
    *_pages("off", SCRIPTS_OFF),
    *_pages("kept out", KEPT_OUT, 403),
    Answer("filter", "", page("Blocked", "<p>Your file was filtered by a leisure policy.</p>")),
    Answer(
        "a title that asks",
        "",
        page("Access denied - what happened?", "<p>Your IP address 203.0.113.9 was blocked. Reference 18.2f4c1c</p>"),
    ),
    Answer(
        "no server's", "", page("429 Too Many Requests", "<h1>Too Many Requests</h1><p>多すぎます。ランプへ</p>"), 429
    ),
)
PAGES: tuple[Answer, ...] = (
    *(
        Answer(
            f"thread: {head}",
            "",
            page(title, f"<h1>{head}</h1><div><a href='/mia'>mia</a> {wrote}<p>{text}</p></div>"),
        )
        for title, head, wrote, text in (line.split("|") for line in THREADS.strip().splitlines())
    ),
    *_pages("told", TOLD),
    *_pages("a check", CHECKS),
    Answer("an example of an address", "", page("Adressen", EXAMPLE)),
    Answer("a table of limits", "", page("Limits", TABLE)),
    Answer("a song", "", page("Access denied", SONG)),
    *_pages("a fault", FAULTS),
    Answer("a status page", "", page("Status", STATUS)),
)
# With a status that says no more than they do.
FAULTY_PAGES = (
    Answer("a method", "", METHOD, 405),
    Answer("a verb", "", page("405 - HTTP verb used to access this page is not allowed.", VERB), 405),
    Answer("a bad request", "", page("Bad Request", BAD), 400),
)
