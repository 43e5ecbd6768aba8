"""Refusals that name a limit, a country or a machine and lead home, and pages that ask for a right; all made up."""

from __future__ import annotations

from tests.unit.policy.blocks.block_pages import Answer, page

HOME = '<a href="/">Home</a>'
WIDGET = '<div class="h-captcha" data-sitekey="1"></div>'
LIMITS = """
Lampu|<h1>Terlalu banyak permintaan</h1><p>Anda membuat terlalu banyak permintaan. Silakan tunggu sebentar.</p>
Lampen|<h1>Zu viele Anfragen</h1><p>Bitte warten Sie kurz und versuchen Sie es erneut.</p>
Lampes|<h1>Trop de requêtes</h1><p>Vous avez fait trop de requêtes. Patientez un instant avant de réessayer.</p>
Lámparas|<h1>Demasiadas solicitudes</h1><p>Espere un momento antes de intentarlo de nuevo.</p>
Lampy|<h1>Zbyt wiele żądań</h1><p>Za szybko. Poczekaj chwilę i spróbuj ponownie.</p>
Lamps|<h1>Too many requests</h1><p>That was fast. Please wait a moment before you try again.</p>
"""
COUNTRIES = """
Lamps|<h1>Hello</h1><p>You cannot access our store from your country.</p>
Lampen|<h1>Hallo</h1><p>In Ihrem Land ist unser Shop nicht verfügbar.</p>
Lamps|<p>In your country, access to this site is restricted.</p>
ランプ|<p>海外からはアクセスできません。</p>
램프|<p>해외에서는 접속할 수 없습니다.</p>
"""
MACHINES = """
Lamps|<h1>Hm</h1><p>This looks automated. Sit back for a while.</p>
Lamps|<p>It seems like a bot is reading our lamps.</p>
Zugang verweigert|<p>Wenden Sie sich an den Betreiber.</p>
"""
# To whom to write, and where the way home names the site.
WAYS = """
<a href="https://lamps.example/">Home</a>
<a href="https://lamps.example">Home</a>
<a href="/index.php">Home</a>
<a href="/contact-us">Write to us</a>
<a href="/support">Support</a>
<a href="https://www.enable-javascript.com/">How to enable JavaScript</a>
"""
BANNED = "<h1>No</h1><p>You were kept out.</p>"
RIGHTS = """
Admin|Access denied|This area is for staff only.
Admin|Access denied|For employees only.
Admin|Access denied|Your role does not open this.
Intern|Zugriff verweigert|Nur für Mitarbeiter.
Intern|Zugriff verweigert|Ihnen fehlen die erforderlichen Rechte für diesen Bereich.
Interne|Accès refusé|Votre compte n'a pas les droits requis.
Interne|Accès refusé|Page réservée aux administrateurs.
Interno|Acceso denegado|Esta página es solo para administradores.
Interno|Acesso negado|Somente para funcionários.
Interno|Accesso negato|Riservato agli amministratori.
Intern|Geen toegang|Alleen voor beheerders.
Раздел|Доступ запрещён|У вас нет прав для просмотра этой страницы.
Bölüm|Erişim engellendi|Bu sayfayı görmek için yetkiniz yok.
管理|アクセスが拒否されました|このページは管理者のみ閲覧できます。
관리|접근 제한|관리자 전용 페이지입니다.
"""
OTHERS = """
Offline|<h1>You are offline</h1><p>Check your connection and try again.</p>
Offline|<h1>Sie sind offline</h1><p>Bitte Verbindung prüfen und erneut versuchen.</p>
Ошибка|<h1>Страница недоступна</h1><p>Эта страница закрыта на ремонт, зайдите позже.</p>
Paysage|<h1>Paysages interdits</h1><p>Une exposition de peintres que personne ne pouvait voir.</p>
A4|<h1>Slow down on the A4</h1><p>Road works from Monday: wait at the lights, expect a moment of delay.</p>
Quiz|<h1>Slow down!</h1><p>You answered in two seconds. Wait a moment, read on and try again.</p><button>On</button>
Moved|<p>We moved. Please wait a moment, or go to <a href="https://new.example/">new.example</a>.</p>
Payment|<h1>Payment was declined</h1><p>Your bank refused. Try again, or <a href="/contact">write to us</a>.</p>
Error|<h1>Too many requests</h1><p>Hi all, I get this when I sync my lamps. Any ideas?</p><a href="/t/2">Next</a>
Larks|<h1>Too many requests</h1><p>A song by the Larks. <a href="/larks">More by them</a></p>
Upload|<h1>Too many files</h1><p>You can upload ten files at once. Please try again with fewer.</p>
"""


def _pages(kind: str, lines: str, then: str = "") -> tuple[Answer, ...]:
    parts = (line.partition("|") for line in lines.strip().splitlines())
    return tuple(Answer(f"{kind}: {title}: {body}", "captcha", page(title, body + then)) for title, _, body in parts)


REFUSALS: tuple[Answer, ...] = (
    *_pages("limit", LIMITS, '<a href="/lamps">Lamps</a>'),
    *_pages("country", COUNTRIES, HOME),
    *_pages("machine", MACHINES),
    *(Answer(f"way: {way}", "captcha", page("Lamps", BANNED + way), 403) for way in WAYS.strip().splitlines()),
    Answer("no heading", "captcha", page("Lamps", f"<p>You were kept out.</p>{HOME}"), 403),
    Answer(
        "a test in an article",
        "captcha",
        page(
            "Lamps",
            f'<article><h1>Are you human?</h1><form method="post">{WIDGET}</form></article>'
            '<footer><a href="https://guard.example/">Guarded by Guard</a></footer>',
        ),
    ),
    Answer(
        "pictures to choose from",
        "captcha",
        page(
            "Check",
            "<h1>Choose all pictures with a lamp to prove that you are human</h1><form method=post>"
            + "".join(f'<label><img src="/{n}.png"><input type="checkbox"></label>' for n in range(9))
            + "<button>Go on</button></form>",
        ),
    ),
)
PAGES: tuple[Answer, ...] = (
    *(
        Answer(f"right: {text}", "", page(title, f"<h1>{head}</h1><p>{text}</p>"))
        for title, head, text in (line.split("|") for line in RIGHTS.strip().splitlines())
    ),
    *_pages("page", OTHERS, HOME),
)
