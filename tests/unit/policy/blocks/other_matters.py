"""Short pages with the words of refusals about other matters, and refusals that come close; all made up."""

from __future__ import annotations

from itertools import product

from tests.unit.policy.blocks.block_pages import Answer, page

TEXTS = (
    "id,name,type\n1,captcha,plugin\n2,login,plugin\n",
    "name;captcha;price\nForm A;yes;3\nForm B;no;4\n",
    "Release notes\n\n- fixed the captcha on the sign-up form\n- faster start\n",
    "# Captcha\n\nA small library that draws a captcha.\n\n## Usage\n\n    captcha.draw()\n",
    "function captcha(){return document.getElementById('captcha').value}\n",
    "export const fields = ['name', 'mail', 'captcha'];\nexport default fields;\n",
    "var form={captcha:true,mail:'x@shop.example'};module.exports=form;\n",
    ".captcha { width: 300px; border: 1px solid #ccc }\n.form { margin: 0 }\n",
    "captcha = true\nlogin = false\n[forms]\nfields = 3\n",
    "captcha: on\nfields:\n  - name\n  - mail\n  - message\n",
    "TODO\n1. write the captcha\n2. test the login\n3. ship it on Friday\n",
    "2026-01-04 12:00 captcha shown\n2026-01-04 12:01 captcha solved\n",
    "word,language\ncaptcha,en\nкапча,ru\n验证码,zh\n",
    "Minutes of the meeting: we spoke about the new captcha and the lamps in the hall.\n",
    "import captcha\n\nprint(captcha.draw('abcd'))\nprint('done')\n",
    "SELECT name, captcha FROM forms WHERE captcha = 1 ORDER BY name;\n",
    "Title: Forms\nTags: captcha, login, forms\nDate: 4 May 2026\n",
    "| name | kind |\n|------|------|\n| captcha | plugin |\n",
    "CAPTCHA, noun: a test that tells people from machines. Plural: captchas.\n",
    "Dear Ada,\n\nthe security check of the boiler is on Monday at nine.\n\nTom\n",
)
ROBOTS = """
About our bot|Findbot|Our crawler|The robot of our search
Findbot is the crawler of our search engine. It obeys robots.txt. To block it, add these lines.
Our crawler respects robots.txt. If it sends too many requests to your server, write to us.
You see requests of Findbot in your log? Our bot visits pages for our search index. Its addresses are public.
Our robot identifies itself as Findbot/1.0. If access to your site should be denied to it, write Disallow.
It comes from the network 192.0.2.0/24, is the robot of our search engine and reads no page that is kept from it.
"""
WAYS_ROUND = """
VPN|A VPN for travellers|Access blocked sites|Fast and safe
With our VPN you hide your IP address and unblock websites in your country. Start now, cancel any time.
Blocked at work or at school? Hide your IP address and unblock any website. 30 days money back.
Our VPN gives you an address in 60 countries, and you watch what is blocked in yours.
Unblock streaming, from every country. Our VPN hides your IP address from every site.
Unblock sites that your network keeps from you. Our VPN hides what you read.
"""
TENANTS = """
Zugang zum Haus verweigert?|Zugang verweigert - Mieterverein|Zugang zur Wohnung|Access denied by your landlord
Wenn der Vermieter das Schloss austauscht, wenden Sie sich an das Gericht. Unsere Beratung hilft Mietern.
Ihr Vermieter darf Ihnen den Zugang nicht verweigern. Rufen Sie uns an, wir beraten Mieter.
Verweigert der Vermieter den Zugang zum Haus, kontaktieren Sie unsere Beratung.
Was Mieter tun: Frist setzen, Anwalt einschalten. Der Vermieter muss den Zugang gewähren.
A landlord may not lock you out. If access is denied, contact us: we help tenants.
"""
SERVERS = """
IP address blocking|IP blocking|IP filtering - Web design, chapter 4|IP address filtering on your server
A server may refuse connections from an IP address or a range. Here is how such a rule is written.
Your IP address is blocked when it is on the list. The list is a file of the server.
If requests from an address are blocked, the server answers with status 403, access denied.
Visitors whose IP address has been blocked see an error page. Design it well.
It is a way to keep robots from too many requests. Addresses stay blocked until you take them out.
"""
BROWSERS = """
Is your browser up to date?|Is your browser up-to-date? - Help|Ist Ihr Browser aktuell?|Votre navigateur est-il à jour ?
Open the menu, choose Help, then About. The program looks for updates. Restart it afterwards.
Please update your browser so that this site works well and safely.
An old browser puts you at risk. We show how to check your browser, step by step.
Your browser is out of date. Some pages may not work. Update it or choose another.
Checking your browser is easy: open the menu and choose About.
"""
EXHIBITIONS = """
Are you human?|Are you human? - City Museum|Are you a robot?|Are you a robot? - Gallery
An exhibition on artificial intelligence and art. 3 May to 30 August, first floor.
An exhibition of new works by twelve artists. Open daily 10 to 18, closed on Mondays.
New works on machines that pretend to be people. Guided tours on Sundays.
Eine Ausstellung im Stadtmuseum, bis 30. August.
Une exposition de douze artistes, au premier étage.
"""


def _pages(kind: str, lines: str) -> tuple[Answer, ...]:
    heads, *texts = lines.strip().splitlines()
    return tuple(
        Answer(f"{kind}: {head}, {text[:12]}", "", page(head, f"<h1>{head}</h1><p>{text}</p>"))
        for head, text in product(heads.split("|"), texts)
    )


PRESSED = (
    "Press and hold as long as you can. Your best time: 12 s.",
    "Hold the button. High score: 40.",
    "Press and hold the button. Your best time: 0 s.",
    "A game: hold and release in time. Best time 3 s.",
    "Press and hold to jump. High score 120",
)
PAGES: tuple[Answer, ...] = (
    *(Answer(f"text: {text[:12]!r}", "", text) for text in TEXTS),
    *(
        Answer(f"a game: {text[:20]}, {name}", "", page("Press and hold", f"{top}<p>{text}</p><button>{name}</button>"))
        for text, name, top in product(PRESSED, ("Press and hold", "Hold"), ("<h1>Press and hold</h1>", ""))
    ),
    *_pages("a robot of ours", ROBOTS),
    *_pages("a way round", WAYS_ROUND),
    *_pages("tenants", TENANTS),
    *_pages("a server", SERVERS),
    *_pages("a browser", BROWSERS),
    *_pages("an exhibition", EXHIBITIONS),
)
REFUSING_TEXTS = (
    "Access denied. Your IP address has been blocked.",
    "Captcha required. Visit https://shop.example/verify to go on.",
    "Sorry, a captcha has to be solved before we serve you this page.",
    "ERROR: captcha challenge was not passed by this client, go away please",
    "captcha_required: this request needs a captcha token",
)
REFUSALS: tuple[Answer, ...] = (
    *(Answer(f"text: {text[:12]}", "", text) for text in REFUSING_TEXTS),
    *(
        Answer(f"close: {head}", "", page(head, f"<h1>{head}</h1><p>{text}</p>"))
        for head, text in (
            ("Are you human?", "Confirm that you are human to continue."),
            ("Press and hold", "Press and hold the button to confirm that you are human."),
            ("Unusual traffic", "Our search engine has detected automated requests from your network."),
            ("Access denied", "Turn off your VPN to see this site. Your IP address is blocked."),
            ("Zugang verweigert", "Ihre IP-Adresse wurde gesperrt: zu viele Anfragen."),
            ("Checking your browser", "We are checking your browser. This takes a moment."),
        )
    ),
)
