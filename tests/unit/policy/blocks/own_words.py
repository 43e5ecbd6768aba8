"""Refusals in sites' own words, and short pages that share some of them; in many languages, all made up."""

from __future__ import annotations

from tests.unit.policy.blocks.block_pages import Answer, page

MENU = (
    '<div class="top"><a href="/">Home</a> <a href="/a">Neu</a> <a href="/b">Sale</a> <a'
    ' href="/c">Hilfe</a> <a href="/d">Konto</a></div>'
)
FOOT = '<div class="foot"><a href="/agb">AGB</a> <a href="/p">Privacy</a> © 2024</div>'
RELOADS = '<meta http-equiv="refresh" content="15">'

REFUSALS: tuple[Answer, ...] = (
    Answer(
        "en: way home",
        "captcha",
        page(
            "Snippets",
            (
                "<h1>Easy now</h1><p>Your connection asks for pages rather often. Come back later.</p>"
                '<a href="/">Return home</a>'
            ),
        ),
    ),
    Answer("en: limit", "captcha", page("Snippets", '<h1>429: Too Many Requests!</h1><a href="/">Return home</a>')),
    Answer(
        "zh: limit",
        "captcha",
        page(
            "管理系统", '<h1>429</h1><h2>请求过于频繁</h2><p>请稍作休息后再试。</p><a href="/index.html">返回首页</a>'
        ),
    ),
    Answer(
        "en: style sheets and an icon",
        "captcha",
        page(
            "Snippets",
            "<svg>" + '<path d="M1 1"></path>' * 6 + "</svg><p>Your network asks too much. Wait an hour.</p>",
            '<link rel="stylesheet" href="/a.css"><link rel="icon" href="/a.png">',
        ),
    ),
    Answer(
        "ko: address",
        "captcha",
        page("해양연구소 학교", "<h1>허용되지 않은 IP입니다.</h1><p>주소가 정확한지 다시 확인해 주시기 바랍니다.</p>"),
    ),
    Answer(
        "en: thanks for patience",
        "captcha",
        page(
            "Books",
            (
                "<h1>Easy now</h1><p>Your connection asks for pages at a rapid pace. Come back in a few minutes. Thank"
                " you for your understanding!</p>"
            ),
        ),
    ),
    Answer(
        "en: twice",
        "captcha",
        page("Access denied", "<h1>403 Forbidden</h1><p>Access to http://lamps.example/ was denied by A.L.E.C.</p>"),
    ),
    Answer("en: go away", "captcha", page("Please go away", "<p>Please go away</p>"), 403),
    Answer(
        "en: captcha",
        "captcha",
        page(
            "Fernhill Outdoor",
            MENU
            + (
                "<h2>Before we show you the tents</h2><p>Please match the rotated picture with the arrow. It"
                ' takes a few seconds and keeps the price robots away.</p><div class="rot-widget"></div>'
            )
            + FOOT,
        ),
    ),
    Answer(
        "en: rate",
        "captcha",
        page(
            "Take a breath",
            (
                "<h1>Take a breath</h1><p>That was 90 searches in two minutes. Give us ten minutes and you"
                " can search again.</p>"
            ),
        ),
        429,
    ),
    Answer(
        "en: queue",
        "captcha",
        page(
            "Almost there",
            (
                "<h1>The doors open a few guests at a time</h1><p>There are 4,120 guests before you. Keep"
                " this tab open; it moves on by itself.</p>"
            ),
            RELOADS,
        ),
    ),
    Answer(
        "en: js",
        "captcha",
        page(
            "Loading",
            (
                "<p>Switch on scripts so we can rule out automated visitors. You will then go straight to the"
                ' page.</p><script src="/b/x.js"></script>'
            ),
        ),
    ),
    Answer(
        "en: geo",
        "captcha",
        page(
            "Outside our area",
            ("<p>Broadcast rights do not let us show this channel where you are. If you use a VPN, disconnect it.</p>"),
        ),
        451,
    ),
    Answer(
        "en: json",
        "captcha",
        ('{"error":{"type":"rate_limited","message":"Your key made more calls than allowed, retry after 30 s"}}'),
        429,
    ),
    Answer(
        "en: denial",
        "captcha",
        page(
            "Notice",
            (
                "<p>The gatekeeper software of this library turned this session away because it downloads"
                " articles like a script. Ref: 20240611/883a.</p>"
            ),
        ),
    ),
    Answer(
        "de: captcha",
        "captcha",
        page(
            "Gartenparadies",
            MENU
            + (
                "<h2>Einen Augenblick noch</h2><p>Von Ihrem Internetzugang kommen ungewöhnlich viele Aufrufe."
                " Bitte drehen Sie das Bild, bis es gerade steht, dann geht es zu den Pflanzen.</p><div"
                ' id="turn"></div>'
            )
            + FOOT,
        ),
    ),
    Answer(
        "de: denial",
        "captcha",
        page(
            "Kein Einlass",
            (
                "<p>Unsere Technik hält Sie für ein Programm. Rufen Sie uns an, wenn das nicht stimmt:"
                " Vorgang 88-120-AF.</p>"
            ),
        ),
        403,
    ),
    Answer(
        "de: rate",
        "captcha",
        page("Immer mit der Ruhe", "<h1>Das waren viele Klicks</h1><p>In einer Stunde dürfen Sie wieder suchen.</p>"),
        429,
    ),
    Answer(
        "de: queue",
        "captcha",
        page(
            "Gleich sind Sie dran",
            (
                "<p>Im Moment wollen alle gleichzeitig Karten. Sie haben die Nummer 812. Das Fenster bitte"
                " offen lassen.</p>"
            ),
            RELOADS,
        ),
        503,
    ),
    Answer(
        "de: captcha",
        "captcha",
        page(
            "Prüfung",
            (
                "<form method=post><p>Wie viel ist sieben minus drei? Nur Menschen dürfen"
                " weiterlesen.</p><input name=x><input type=submit value=Los></form>"
            ),
        ),
    ),
    Answer(
        "fr: captcha",
        "captcha",
        page(
            "Bricolo",
            MENU
            + (
                "<h2>Petit contrôle</h2><p>Votre connexion consulte nos fiches à un rythme peu humain."
                " Tournez l'image dans le bon sens pour revenir au catalogue.</p>"
            )
            + FOOT,
        ),
    ),
    Answer(
        "fr: denial",
        "captcha",
        page(
            "Impossible d'afficher",
            (
                "<p>Notre protection a refusé cette visite, qu'elle prend pour celle d'un logiciel. Indiquez"
                " le numéro F-2210-9 au service client.</p>"
            ),
        ),
        403,
    ),
    Answer(
        "fr: js",
        "captcha",
        page(
            "Cookies",
            (
                "<p>Sans cookies nous ne pouvons pas distinguer un internaute d'un robot. Activez-les puis"
                " rechargez.</p>"
            ),
        ),
    ),
    Answer(
        "es: rate",
        "captcha",
        page("Demasiado deprisa", "<p>Has consultado muchas matrículas seguidas. Vuelve dentro de una hora.</p>"),
        429,
    ),
    Answer(
        "es: geo",
        "captcha",
        page(
            "No disponible", "<h1>Contenido no disponible en tu ubicación</h1><p>Los derechos solo cubren España.</p>"
        ),
    ),
    Answer(
        "pt-BR: captcha",
        "captcha",
        page(
            "Casa Fácil",
            MENU
            + (
                "<h2>Só um instante</h2><p>Muitas páginas foram abertas a partir da sua internet. Marque a"
                ' caixinha para mostrar que é gente.</p><div class="box"></div>'
            )
            + FOOT,
        ),
    ),
    Answer("pt-BR: queue", "captcha", page("Fila", "<p>Você é o número 3021 da fila. Não atualize a página.</p>"), 503),
    Answer(
        "it: captcha",
        "captcha",
        page(
            "Un attimo",
            ("<h1>Sei una persona?</h1><p>Trascina il pezzo al suo posto e potrai rivedere gli annunci.</p>"),
        ),
    ),
    Answer("it: rate", "captcha", page("Piano", "<p>Troppe ricerche in poco tempo: aspetta cinque minuti.</p>"), 429),
    Answer(
        "nl: captcha",
        "captcha",
        page(
            "Bouwplein",
            MENU
            + (
                "<h2>Heel even</h2><p>Er komen veel aanvragen van jouw internetlijn. Zet het vinkje en bekijk"
                " de producten weer.</p>"
            )
            + FOOT,
        ),
    ),
    Answer(
        "pl: captcha",
        "captcha",
        page(
            "Chwileczkę",
            (
                "<h1>Sprawdźmy, kto tu jest</h1><p>Przytrzymaj przycisk, aż pasek się zapełni, a wrócisz do"
                " ofert.</p><div class=btn></div>"
            ),
        ),
    ),
    Answer(
        "pl: denial",
        "captcha",
        page("Brak wstępu", "<p>Nasz filtr uznał Twoją wizytę za działanie skryptu. Sprawa PL/55/2024.</p>"),
        403,
    ),
    Answer("pl: rate", "captcha", page("Zwolnij", "<p>Za wiele wyszukiwań naraz. Wróć za kwadrans.</p>"), 429),
    Answer(
        "cs: denial",
        "captcha",
        page("Nelze vstoupit", "<p>Ochrana webu zastavila vaši návštěvu. Kód případu 71-CZ-3.</p>"),
        403,
    ),
    Answer(
        "ro: rate",
        "captcha",
        page("Prea repede", "<p>Ai făcut prea multe căutări. Revino peste câteva minute.</p>"),
        429,
    ),
    Answer(
        "ru: captcha",
        "captcha",
        page(
            "КвартираДом",
            MENU
            + (
                "<h2>Небольшая проверка</h2><p>С вашего подключения открыли очень много объявлений. Поверните"
                " картинку, чтобы вернуться к поиску.</p>"
            )
            + FOOT,
        ),
    ),
    Answer(
        "ru: denial",
        "captcha",
        page("Не пустим", "<p>Наш фильтр счёл вас программой. Напишите нам, номер обращения 4-881-Ж.</p>"),
        403,
    ),
    Answer(
        "uk: captcha",
        "captcha",
        page("Перевірка", "<p>Позначте клітинку, щоб ми знали, що сторінку відкриває людина.</p>"),
    ),
    Answer(
        "sl: denial",
        "captcha",
        page("Zavrnjeno", "<p>Vaš obisk je videti kot avtomatiziran in je bil ustavljen. Koda SI-33-a.</p>"),
        403,
    ),
    Answer("ar: denial", "captcha", page("مرفوض", "<p>اعتبر نظامنا زيارتك آلية فأوقفها. رقم الحالة 88-ar-1.</p>"), 403),
    Answer("he: denial", "captcha", page("נעצרת", "<p>המערכת שלנו חושבת שאתם בוט. מספר פנייה 71-he-3.</p>"), 403),
    Answer(
        "he: captcha", "captcha", page("בדיקה קצרה", "<p>הגיעו הרבה פניות מהרשת שלכם. סמנו את התיבה כדי להמשיך.</p>")
    ),
    Answer(
        "zh-Hans: denial",
        "captcha",
        page("无法访问", "<p>系统判断本次访问来自程序，已停止服务。编号：C-20240611-7</p>"),
        403,
    ),
    Answer("zh-Hans: json", "captcha", '{"code":-412,"msg":"请求频率太高，请通过验证","data":null}'),
    Answer(
        "ja: denial",
        "captcha",
        page(
            "ご利用いただけません",
            "<p>プログラムによるアクセスと判断したため、表示を停止しました。受付番号 JP-118-2</p>",
        ),
        403,
    ),
    Answer(
        "ja: captcha",
        "captcha",
        page("ご確認", "<p>お使いの回線から多くのアクセスがありました。つまみを右へ動かしてください。</p>"),
    ),
    Answer(
        "ms: rate",
        "captcha",
        page("Terlalu laju", "<p>Anda membuat terlalu banyak carian. Cuba lagi dalam 10 minit.</p>"),
        429,
    ),
    Answer("th: captcha", "captcha", page("ตรวจสอบ", "<p>มีการเปิดหน้าจากเครือข่ายของคุณมากผิดปกติ กรุณาติ๊กช่องเพื่อดูต่อ</p>")),
    Answer(
        "sv: captcha",
        "captcha",
        page(
            "Ett ögonblick",
            ("<p>Det kommer ovanligt många anrop från ditt nät. Dra pusselbiten på plats så får du se annonserna.</p>"),
        ),
    ),
    Answer(
        "da: denial",
        "captcha",
        page("Ingen adgang", "<p>Vores filter har standset dit besøg, da det ligner en maskine. Sag DK-5-1.</p>"),
        403,
    ),
    Answer(
        "da: captcha",
        "captcha",
        page("Lige et tjek", "<p>Der kommer mange opslag fra dit netværk. Sæt et flueben for at komme videre.</p>"),
    ),
    Answer("fi: rate", "captcha", page("Rauhassa", "<p>Teit liian monta hakua. Palaa hetken kuluttua.</p>"), 429),
    Answer("hi: denial", "captcha", page("रोका गया", "<p>हमारे सिस्टम ने आपकी विज़िट को बॉट समझा। संदर्भ IN-3-7।</p>"), 403),
    Answer(
        "ca: captcha",
        "captcha",
        page("Un moment", "<p>Hi ha massa visites des de la vostra xarxa. Marqueu la casella per continuar.</p>"),
    ),
    Answer(
        "en: pow",
        "captcha",
        page(
            "Proving work",
            (
                "<p>Your computer is doing a small sum so that crawlers pay for what they take. This page"
                ' moves on by itself.</p><script src="/p/w.js"></script>'
            ),
        ),
    ),
    Answer(
        "fr: captcha",
        "captcha",
        page(
            "Vérif",
            (
                "<form method=post><p>Combien font quatre et cinq ? Répondez pour lire le forum, les robots"
                " nous envahissent.</p><input name=r><button>OK</button></form>"
            ),
        ),
    ),
    Answer("en: txt", "captcha", "Slow down, please: at most 30 pages a minute. Your client sent 212.", 429),
    Answer(
        "en: state",
        "captcha",
        (
            "<!doctype html><html><head></head><body><div"
            ' id="root"></div><script>window.__DATA__={"view":"gate","title":"Quick check before you go'
            ' on","text":"Show us that you are not a bot by finishing the'
            ' task.","ref":"a9"};</script><script src="/s/gate.1f.js"></script></body></html>'
        ),
    ),
    Answer(
        "es: captcha",
        "captcha",
        page(
            "Pisos Sur",
            (
                "<header><nav><a href=/a>Comprar</a><a href=/b>Alquilar</a></nav></header><main><h1>Antes de"
                " seguir</h1><p>Vemos muchas visitas desde tu conexión. Coloca la pieza en el"
                " hueco.</p><canvas></canvas></main><aside><h3>Novedades</h3><p>Áticos desde 120.000"
                " €.</p></aside>"
            ),
        ),
    ),
    Answer(
        "it: captcha",
        "captcha",
        page(
            "Auto Roma",
            (
                "<nav><a href=/a>Nuove</a><a href=/b>Usate</a></nav><section><h2>Solo un"
                " controllo</h2><p>Gira la foto finché è dritta: così capiamo che non sei un"
                " programma.</p><input type=range></section><footer>Contatti</footer>"
            ),
        ),
    ),
    Answer(
        "ja: captcha",
        "captcha",
        page(
            "くるま市場",
            (
                "<nav><a href=/a>新車</a><a"
                " href=/b>中古車</a></nav><section><h1>操作の確認"
                "</h1><p>自動操作でないことを確かめるため、ピースをはめてください。</p"
                "><canvas></canvas></section><section><h3>新着</h3><p>98万円から</p></section>"
            ),
        ),
    ),
    Answer(
        "cs: captcha",
        "captcha",
        page(
            "Bazar",
            (
                "<nav><a href=/a>Auta</a></nav><section><h1>Malá kontrola</h1><p>Z vašeho připojení přichází"
                " hodně dotazů. Zaškrtněte políčko a můžete hledat dál.</p></section>"
            ),
        ),
    ),
    Answer(
        "fi: captcha",
        "captcha",
        page(
            "Tori",
            (
                "<section><h1>Pieni tarkistus</h1><p>Vedä palanen paikalleen, niin tiedämme, ettet ole"
                " ohjelma.</p></section>"
            ),
        ),
    ),
    Answer(
        "fr: queue",
        "captcha",
        page(
            "Affluence",
            (
                "<h1>Vous êtes nombreux</h1><p>Nous faisons entrer les visiteurs petit à petit. Encore 6"
                " minutes environ.</p>"
            ),
            RELOADS,
        ),
        503,
    ),
    Answer(
        "nl: queue",
        "captcha",
        page(
            "Even wachten",
            "<h1>Je staat in de rij</h1><p>Nog 95 mensen voor je. De pagina ververst zichzelf.</p>",
            RELOADS,
        ),
    ),
    Answer(
        "f0: fresh",
        "captcha",
        page(
            "Wohnungsboerse24",
            (
                "<div class=nav><a href=/>Start</a> <a href=/m>Mieten</a></div><h1>Da stimmt etwas"
                " nicht</h1><p>In der letzten Stunde wurden von Ihrem Internetanschluss mehrere hundert"
                " Exposés geöffnet. Sind das wirklich Sie? Dann klicken Sie auf das Schloss.</p><a"
                " href=/agb>AGB</a>"
            ),
        ),
    ),
    Answer(
        "f2: fresh",
        "captcha",
        page(
            "Marché",
            (
                "<h1>Une dernière étape</h1><p>Reproduisez les six signes affichés pour consulter la suite du"
                " catalogue.</p><form><img src=/sig?1><input name=s><button>Valider</button></form>"
            ),
        ),
    ),
    Answer(
        "f3: fresh", "captcha", page("429", "<p>You are going too fast. Allowed: one page every five seconds.</p>"), 429
    ),
    Answer(
        "f4: fresh",
        "captcha",
        page(
            "Hotelkeuze",
            (
                "<header><nav><a href=/a>Hotels</a></nav></header><main><h1>Welkom terug?</h1><p>We herkennen"
                " dit bezoek niet als dat van een gewone gast. Beweeg het blokje naar de opening.</p></main>"
            ),
        ),
    ),
    Answer(
        "f6: fresh",
        "captcha",
        page(
            "ショップ",
            ("<h1>少々お待ちください</h1><p>お客様のブラウザを確認しております。数秒で自動的に移動します。</p>"),
        ),
    ),
    Answer("f7: fresh", "captcha", page("お知らせ", "<p>海外からのアクセスは受け付けておりません。</p>"), 403),
    Answer("f16: fresh", "captcha", page("Nu", "<p>Accesul din afara României nu este permis.</p>"), 403),
    Answer(
        "f20: fresh",
        "captcha",
        page(
            "Traffic jam",
            (
                "<h1>It is crowded in here</h1><p>We let shoppers in as others leave. You will enter"
                " automatically in about 4 minutes.</p>"
            ),
            "<meta http-equiv=refresh content=30>",
        ),
        503,
    ),
    Answer(
        "f23: fresh", "captcha", page("عقارات", "<h1>لحظة من فضلك</h1><p>نتحقق من متصفحك قبل الدخول إلى الموقع.</p>")
    ),
    Answer(
        "f28: fresh",
        "captcha",
        page(
            "Immobili",
            (
                "<header><nav><a href=/a>Vendita</a></nav></header><section><h1>Pausa caffè</h1><p>La tua"
                " connessione corre un po' troppo. Metti la spunta qui sotto e riprendi la"
                " ricerca.</p></section><section><h2>In evidenza</h2><p>Attico, 210.000 €</p></section>"
            ),
        ),
    ),
    Answer("f29: fresh", "captcha", page("ประกาศ", "<h1>ยืนยันตัวตน</h1><p>โปรดเลื่อนปุ่มไปทางขวาเพื่อดูประกาศต่อ</p>")),
)

PAGES: tuple[Answer, ...] = (
    Answer(
        "en: session",
        "",
        page(
            "Arches",
            (
                "<h1>Session expired</h1><p>You have been automatically logged out because your session has expired."
                '</p><p><a href="/login">Log in again</a></p>'
            ),
        ),
    ),
    Answer(
        "ja: members",
        "",
        page(
            "アクセス制限",
            "<h1>アクセス制限</h1><p>このページは組織内ユーザーのみ閲覧できます。アカウントでログインしてください。</p>",
        ),
    ),
    Answer(
        "de: password",
        "",
        page("Zugriff gesperrt", "<h1>Zugriff gesperrt</h1><p>Bitte neu laden und das korrekte Passwort eingeben.</p>"),
    ),
    Answer(
        "en: login",
        "",
        page(
            "Sign in",
            (
                "<h1>Sign in</h1><form><input type=email><input type=password><button>Sign"
                " in</button></form><p>Protected by reCAPTCHA.</p>"
            ),
        ),
    ),
    Answer(
        "en: 404",
        "",
        page(
            "Not found",
            ('<h1>We looked everywhere</h1><p>This page is gone. Try searching, or go <a href="/">home</a>.</p>'),
        ),
    ),
    Answer(
        "en: confirm",
        "",
        page(
            "Almost done",
            (
                "<h1>Check your inbox</h1><p>Click the link in the mail to confirm your subscription. It can"
                " take a few minutes.</p>"
            ),
        ),
    ),
    Answer(
        "en: thanks",
        "",
        page(
            "Thank you",
            (
                "<p>Your request has been received. Reference: AB-2231-7. We will contact you within two"
                " working days.</p>"
            ),
        ),
    ),
    Answer(
        "en: product",
        "",
        page(
            "SecureCam 3",
            (
                "<h1>SecureCam 3</h1><p>Outdoor security camera that detects people and vehicles, and blocks"
                " glare. Motion alerts in a second.</p><p>$129.00</p>"
            ),
        ),
    ),
    Answer(
        "en: product",
        "",
        page(
            "RoboMow",
            (
                "<h1>RoboMow 200 robot mower</h1><p>Stops automatically when it detects an obstacle."
                " Currently unavailable.</p>"
            ),
        ),
    ),
    Answer("en: empty", "", page("Search", '<p>No results for "verification". Try other words or fewer filters.</p>')),
    Answer(
        "en: forum",
        "",
        page(
            "Captcha never loads on my phone - Help",
            (
                '<a href="/">Forum</a><h1>Captcha never loads on my phone</h1><p>lena: every time I verify,'
                " it asks me again. What can I do?</p><p>moz: clear your cookies.</p>"
            ),
        ),
    ),
    Answer(
        "en: order",
        "",
        page(
            "Order 5521-AC",
            (
                "<h1>Your order is on its way</h1><p>Order number 5521-AC-77. Track it, or contact us if"
                " something is wrong.</p>"
            ),
        ),
    ),
    Answer(
        "en: quiz",
        "",
        page(
            "Quiz night",
            (
                "<form><p>What is the capital of France? Type your answer to go on.</p><input"
                " name=a><button>Next</button></form>"
            ),
        ),
    ),
    Answer(
        "en: news",
        "",
        page(
            "City blocks road",
            ("<p>The council blocked access to Mill Lane after unusual traffic. Drivers must wait until Monday.</p>"),
        ),
    ),
    Answer(
        "en: vpnshop",
        "",
        page(
            "FoxVPN",
            (
                "<h1>FoxVPN hides your IP address</h1><p>Watch your country's channels from abroad. Try it"
                ' for 30 days.</p><a href="/buy">Get it</a>'
            ),
        ),
    ),
    Answer(
        "en: cookie",
        "",
        page(
            "Deli",
            (
                "<p>We use cookies. Accept to continue or manage them.</p><button>Accept</button><h1>Ham and"
                " cheese</h1><p>Open daily from 9 to 5.</p>"
            ),
        ),
    ),
    Answer(
        "en: download",
        "",
        page("Download", "<p>Your download will start automatically in a few seconds. If not, click here.</p>"),
    ),
    Answer(
        "en: redirect",
        "",
        page(
            "Moved",
            "<p>We have moved. You will be redirected in 5 seconds.</p>",
            '<meta http-equiv="refresh" content="5;url=/new">',
        ),
    ),
    Answer(
        "en: pwd",
        "",
        page(
            "Reset",
            (
                "<form><p>Enter the code we sent to your phone to continue.</p><input"
                " name=code><button>Verify</button></form>"
            ),
        ),
    ),
    Answer(
        "en: game",
        "",
        page(
            "Chess", ("<h1>Waiting for your opponent</h1><p>It is your turn in a moment. Do not close this page.</p>")
        ),
    ),
    Answer("en: hello", "", page("It works!", "<h1>It works!</h1>")),
    Answer("en: json", "", '{"id":7,"name":"robot vacuum","status":"blocked","limit":5}'),
    Answer("en: json", "", '{"error":"not found","message":"no such product"}'),
    Answer(
        "de: login",
        "",
        page(
            "Anmelden",
            (
                "<form><p>Bitte melden Sie sich an, um fortzufahren.</p><input type=text name=user><input"
                " type=password><button>Los</button></form>"
            ),
        ),
    ),
    Answer(
        "de: 404",
        "",
        page("Seite nicht gefunden", '<p>Diese Seite ist nicht verfügbar. Zurück zur <a href="/">Startseite</a>.</p>'),
    ),
    Answer(
        "de: product",
        "",
        page(
            "Überwachungskamera",
            (
                "<h1>Kamera K2</h1><p>Erkennt Menschen automatisch und meldet verdächtige Bewegungen an Ihr"
                " Handy. 89,00 €</p>"
            ),
        ),
    ),
    Answer(
        "de: termin",
        "",
        page("Bürgeramt", "<p>Bitte ziehen Sie eine Nummer und warten Sie, bis Sie aufgerufen werden.</p>"),
    ),
    Answer(
        "de: thanks", "", page("Danke", "<p>Ihre Anfrage ist eingegangen. Vorgangsnummer 22-114-B. Wir melden uns.</p>")
    ),
    Answer(
        "fr: newsletter",
        "",
        page("Inscription", "<p>Cliquez sur le lien reçu par courriel pour confirmer votre inscription.</p>"),
    ),
    Answer(
        "fr: 404",
        "",
        page("Oups", "<p>Cette page n'existe plus. Revenez à l'<a href=\"/\">accueil</a> ou contactez-nous.</p>"),
    ),
    Answer(
        "fr: product",
        "",
        page(
            "Robot de cuisine",
            (
                "<h1>Robot de cuisine R5</h1><p>Programme automatique, sécurité enfant, cuve de 3"
                " litres.</p><p>249 €</p>"
            ),
        ),
    ),
    Answer(
        "fr: resto", "", page("Chez Lulu", "<p>Nous sommes complets ce soir. Réessayez demain ou appelez-nous.</p>")
    ),
    Answer(
        "es: login",
        "",
        page("Acceso clientes", "<form><input name=usuario><input type=password><button>Entrar</button></form>"),
    ),
    Answer(
        "es: contacto",
        "",
        page(
            "Contacto",
            (
                "<h1>Escríbenos</h1><form><input name=nombre><input type=email><textarea></textarea><div"
                ' class="g-recaptcha" data-sitekey="x"></div></form>'
            ),
        ),
    ),
    Answer(
        "es: agotado",
        "",
        page("Aspirador robot", "<h1>Aspirador robot</h1><p>Agotado. Avísame cuando esté disponible.</p>"),
    ),
    Answer(
        "es: noticia",
        "",
        page("Corte de tráfico", "<p>La policía ha cortado el acceso a la calle Mayor por un suceso inusual.</p>"),
    ),
    Answer("pt-BR: 404", "", page("Página não encontrada", "<p>O endereço pode ter mudado. Volte ao início.</p>")),
    Answer(
        "it: conferma",
        "",
        page("Conferma", "<p>Controlla la tua email e clicca sul link per completare la registrazione.</p>"),
    ),
    Answer("it: museo", "", page("Museo", "<p>Ingresso vietato ai minori non accompagnati. Prenota il tuo turno.</p>")),
    Answer(
        "nl: bestelling",
        "",
        page("Bestelling", "<p>Uw bestelling 88-21 is geplaatst. Neem contact op als er iets niet klopt.</p>"),
    ),
    Answer("nl: zoek", "", page("Geen resultaten", "<p>Niets gevonden voor robot. Probeer het opnieuw.</p>")),
    Answer(
        "pl: produkt", "", page("Kamera", "<h1>Kamera domowa</h1><p>Automatycznie wykrywa ruch i człowieka. 199 zł</p>")
    ),
    Answer("cs: chyba", "", page("Stránka nenalezena", "<p>Zkontrolujte adresu nebo přejděte na úvod.</p>")),
    Answer("cs: kniha", "", page("Robot", "<h1>R.U.R.</h1><p>Hra o robotech a lidech. Skladem, 149 Kč</p>")),
    Answer("hu: koszonjuk", "", page("Köszönjük", "<p>Megkaptuk kérését, hamarosan válaszolunk.</p>")),
    Answer("ro: vot", "", page("Sondaj", "<p>Votul tău a fost înregistrat. Poți vota din nou mâine.</p>")),
    Answer(
        "ru: 404", "", page("Страница не найдена", '<p>Проверьте адрес или вернитесь на <a href="/">главную</a>.</p>')
    ),
    Answer(
        "ru: товар",
        "",
        page("Робот-пылесос", "<h1>Робот-пылесос X1</h1><p>Автоматически возвращается на базу. Нет в наличии.</p>"),
    ),
    Answer(
        "ru: услуга",
        "",
        page(
            "Очередь в детский сад",
            (
                "<p>Чтобы узнать место в очереди, введите номер заявления.</p><form><input"
                " name=n><button>Узнать</button></form>"
            ),
        ),
    ),
    Answer(
        "uk: новина", "", page("Рух обмежено", "<p>На мосту обмежено рух через ремонт. Водіїв просять почекати.</p>")
    ),
    Answer("tr: iletişim", "", page("İletişim", "<p>Mesajınız gönderildi. En kısa sürede döneceğiz.</p>")),
    Answer("ar: 404", "", page("غير موجود", "<p>الصفحة غير موجودة. عد إلى الصفحة الرئيسية.</p>")),
    Answer("he: תחזוקה", "", page("תחזוקה", "<p>האתר בשדרוג. נחזור בקרוב.</p>")),
    Answer("fa: منتظر", "", page("در دست ساخت", "<p>این سایت به زودی راه\u200cاندازی می\u200cشود.</p>")),
    Answer(
        "zh-Hans: 登录",
        "",
        page("登录", "<form><input name=phone><input name=code><p>请输入短信验证码</p><button>登录</button></form>"),
    ),
    Answer("zh-Hans: 404", "", page("页面不存在", "<p>您访问的页面不存在或已删除，3秒后返回首页。</p>")),
    Answer("zh-Hans: 商品", "", page("扫地机器人", "<h1>扫地机器人 T5</h1><p>自动识别障碍，¥1999</p>")),
    Answer("ja: 404", "", page("ページが見つかりません", "<p>お探しのページは削除された可能性があります。</p>")),
    Answer("ko: 주문", "", page("주문 완료", "<p>주문번호 2024-118-7. 문의는 고객센터로 연락해 주세요.</p>")),
    Answer(
        "id: akun",
        "",
        page(
            "Konfirmasi",
            (
                "<p>Kami telah mengirim kode ke ponsel Anda. Masukkan kode untuk melanjutkan.</p><form><input"
                " name=kode><button>OK</button></form>"
            ),
        ),
    ),
    Answer("vi: 404", "", page("Không tìm thấy", "<p>Trang bạn tìm không tồn tại. Quay về trang chủ.</p>")),
    Answer("sv: bokning", "", page("Bokning", "<p>Din bokning 71-22 är bekräftad. Kontakta oss om något är fel.</p>")),
    Answer("no: vei", "", page("Stengt vei", "<p>Veien er sperret på grunn av ras. Trafikken må vente.</p>")),
    Answer("da: svar", "", page("Tak", "<p>Vi har modtaget din anmodning og svarer inden for to dage.</p>")),
    Answer("fi: 404", "", page("Sivua ei löydy", "<p>Tarkista osoite tai palaa etusivulle.</p>")),
    Answer("el: ok", "", page("Ευχαριστούμε", "<p>Λάβαμε το αίτημά σας. Αριθμός 22-7.</p>")),
    Answer("hi: ok", "", page("धन्यवाद", "<p>आपका अनुरोध मिल गया। संख्या 22-9।</p>")),
    Answer(
        "en: bookshop",
        "",
        page(
            "Blocked: a novel",
            (
                "<h1>Blocked: a novel</h1><p>by R. Holm. A hacker finds her access denied"
                " everywhere.</p><button>Add to basket</button>"
            ),
        ),
    ),
    Answer(
        "en: support",
        "",
        page(
            "Ticket 7712-b",
            (
                "<h1>Ticket 7712-b</h1><p>Customer cannot log in: account suspended after too many attempts."
                " Assigned to Kim.</p>"
            ),
        ),
    ),
    Answer(
        "en: rule",
        "",
        page(
            "House rules",
            ("<h1>House rules</h1><p>No spam, no bots, no abuse. Members who break the rules are banned.</p>"),
        ),
    ),
    Answer(
        "en: wait",
        "",
        page(
            "Estimated waiting times",
            "<h1>Clinic waiting times</h1><p>Walk-in: 40 minutes. Number of people waiting: 12.</p>",
        ),
    ),
    Answer(
        "en: banner",
        "",
        page(
            "Harbour cams",
            (
                "<noscript>Please enable JavaScript.</noscript><h1>Harbour cams</h1><p>North pier, south"
                " pier, ferry terminal.</p>"
            ),
        ),
    ),
    Answer(
        "en: game",
        "",
        page(
            "Bubble game",
            (
                "<h1>Bubble pop</h1><p>Drag to aim and hold to shoot. Complete the level in a"
                " minute.</p><canvas></canvas>"
            ),
        ),
    ),
    Answer(
        "en: filter",
        "",
        page(
            "Lamps",
            (
                "<nav><a href=/a>Home</a></nav><h1>Lamps</h1><p>Choose a price.</p><input type=range><p>Desk"
                " lamp, floor lamp, reading lamp.</p>"
            ),
        ),
    ),
    Answer(
        "en: paywall",
        "",
        page(
            "Keep reading",
            ("<h1>Keep reading</h1><p>Log in or subscribe to continue with this article.</p><a href=/in>Log in</a>"),
        ),
    ),
    Answer(
        "en: members",
        "",
        page("Club", "<h1>Members only</h1><p>Log in to see the calendar of the club.</p><a href=/in>Log in</a>"),
    ),
    Answer(
        "en: map",
        "",
        page(
            "Where we are",
            (
                "<h1>Where to find us</h1><p>Slide the map to see the car park, and mind the"
                " barrier.</p><iframe src=/map></iframe>"
            ),
        ),
    ),
    Answer(
        "en: video",
        "",
        page(
            "Robot arm demo",
            (
                "<h1>Robot arm demo</h1><p>Our robot solves a puzzle in ten seconds. Watch it.</p><iframe"
                " src=/v></iframe>"
            ),
        ),
    ),
    Answer("en: txt", "", "The build finished. 3 tests were skipped, 2 requests timed out and will be tried again."),
    Answer(
        "en: xml", "", ('<?xml version="1.0"?><order><state>blocked</state><reason>address incomplete</reason></order>')
    ),
    Answer(
        "de: hilfe",
        "",
        page(
            "Hilfe: Zu viele Anfragen",
            (
                "<h1>Meldung: zu viele Anfragen</h1><p>Die Meldung erscheint, wenn ein Konto mehr als 60"
                " Anfragen sendet. So vermeiden Sie sie.</p><p>Weitere Themen: Konto, Rechnung.</p>"
            ),
        ),
    ),
    Answer(
        "fr: forum",
        "",
        page(
            "Bloqué par mon pare-feu",
            ("<p>paul : mon pare-feu bloque l'imprimante du réseau. Une idée ?</p><p>lea : vérifie le port.</p>"),
        ),
    ),
    Answer(
        "es: blog",
        "",
        page(
            "Bots en la web",
            (
                "<article><h1>Los bots ya son la mitad del tráfico</h1><p>Un informe dice que los programas"
                " automáticos visitan más páginas que las personas.</p></article>"
            ),
        ),
    ),
    Answer(
        "ja: blog",
        "",
        page(
            "画像認証の歴史",
            ("<article><h1>画像認証の歴史</h1><p>ロボットと人間を区別する仕組みは2000年に生まれました。</p></article>"),
        ),
    ),
    Answer(
        "ru: faq",
        "",
        page(
            "Вопросы",
            (
                "<h1>Вопросы и ответы</h1><h3>Почему просят ввести код?</h3><p>Так мы отличаем людей от"
                " программ.</p><h3>Как вернуть товар?</h3><p>В течение 14 дней.</p>"
            ),
        ),
    ),
    Answer(
        "pl: kolejka",
        "",
        page("Przychodnia", "<h1>Kolejka do lekarza</h1><p>Czas oczekiwania: 14 dni. Zapisz się w rejestracji.</p>"),
    ),
    Answer(
        "g0: fresh",
        "",
        page(
            "Rezept",
            ("<h1>Wartezeit: 40 Minuten</h1><p>Den Teig abdecken und gehen lassen, dann noch einmal prüfen.</p>"),
        ),
    ),
    Answer(
        "g1: fresh",
        "",
        page("Fahrplan", "<p>Wegen Bauarbeiten ist die Strecke gesperrt. Bitte weichen Sie auf die Linie 4 aus.</p>"),
    ),
    Answer(
        "g2: fresh",
        "",
        page(
            "Support",
            (
                "<h1>How to contact us</h1><p>Write to help@x.example and quote your order number. We answer"
                " within two days.</p>"
            ),
        ),
    ),
    Answer(
        "g3: fresh",
        "",
        page("Kundenkonto", "<p>Ihr Konto wurde bestätigt. Sie können sich jetzt anmelden und weiter einkaufen.</p>"),
    ),
    Answer(
        "g4: fresh",
        "",
        page(
            "Loading",
            (
                "<div id=app></div><script src=/m.js></script><noscript>You need to enable JavaScript to run"
                " this app.</noscript>"
            ),
        ),
    ),
    Answer(
        "g5: fresh",
        "",
        page("Concours", "<h1>Concours photo</h1><p>Envoyez vos images avant le 3 mai. Un gagnant par personne.</p>"),
    ),
    Answer(
        "g6: fresh",
        "",
        page(
            "Sécurité",
            (
                "<h1>Alarme maison</h1><p>Notre système détecte toute intrusion et vous prévient sur votre"
                " téléphone.</p>"
            ),
        ),
    ),
    Answer(
        "g7: fresh",
        "",
        page(
            "Encuesta", "<form><p>¿Cuántas personas viven en tu casa?</p><input name=n><button>Seguir</button></form>"
        ),
    ),
    Answer(
        "g8: fresh",
        "",
        page("Cerrado", "<p>El restaurante está cerrado por vacaciones. Volvemos el 2 de septiembre.</p>"),
    ),
    Answer(
        "g9: fresh",
        "",
        page("Bot", "<h1>Our chat bot Mia</h1><p>Ask her anything, or wait for a human to take over.</p>"),
    ),
    Answer(
        "g10: fresh",
        "",
        page("404", ("<h1>404</h1><p>The page you requested could not be found. Check the address and try again.</p>")),
    ),
    Answer(
        "g11: fresh",
        "",
        page(
            "Error",
            (
                "<h1>Something went wrong</h1><p>We could not complete your request. Please try again in a"
                " few minutes.</p>"
            ),
        ),
    ),
    Answer("g12: fresh", "", page("500", "<h1>Server error</h1><p>Our team has been told. Reference 7712-aa-91.</p>")),
    Answer("g13: fresh", "", page("Votación", "<p>Ya has votado desde este dispositivo. Gracias por participar.</p>")),
    Answer(
        "g14: fresh",
        "",
        page("お問い合わせ", "<h1>送信完了</h1><p>お問い合わせを受け付けました。受付番号：2024-0611-77</p>"),
    ),
    Answer(
        "g15: fresh",
        "",
        page(
            "会員登録",
            (
                "<h1>メールを確認してください</h1><p>認証コードを送信しました。コード"
                "を入力して続けてください。</p><form><input name=c></form>"
            ),
        ),
    ),
    Answer(
        "g17: fresh",
        "",
        page("Ваканcии", "<h1>Оператор станка с ЧПУ</h1><p>Работа на автоматических линиях. Без опыта. Звоните.</p>"),
    ),
    Answer(
        "g18: fresh",
        "",
        page("Zapisy", "<h1>Zapisy na kurs</h1><p>Lista jest pełna. Możesz zapisać się na listę rezerwową.</p>"),
    ),
    Answer(
        "g19: fresh",
        "",
        page(
            "Weather",
            (
                "<h1>Heavy traffic warning</h1><p>Roads to the coast are busy. Allow more time, or wait until"
                " evening.</p>"
            ),
        ),
    ),
    Answer(
        "g20: fresh",
        "",
        page(
            "Bank",
            (
                "<h1>Your session has ended</h1><p>For your security you have been logged out. Please log in"
                " again.</p><a href=/in>Log in</a>"
            ),
        ),
    ),
    Answer(
        "g21: fresh",
        "",
        page(
            "VAT",
            (
                "<h1>Check a VAT number</h1><form><input name=v><button>Verify</button></form><p>Choose a"
                " country and enter the number.</p>"
            ),
        ),
    ),
    Answer("g22: fresh", "", page("Cart", "<p>Your cart is empty. Continue shopping.</p>")),
    Answer(
        "g23: fresh",
        "",
        page("Unsubscribed", "<p>You will no longer receive mail from us. If this was a mistake, tell us.</p>"),
    ),
    Answer(
        "g24: fresh",
        "",
        page("Parking", "<h1>No access for trucks</h1><p>Height limit 2.1 m. Call the guard if you need help.</p>"),
    ),
    Answer(
        "404: 404",
        "",
        page(
            "Seite nicht gefunden",
            (
                "<p>Die angeforderte Seite wurde nicht gefunden. Bitte prüfen Sie die Adresse oder versuchen"
                " Sie es später erneut.</p>"
            ),
        ),
    ),
    Answer(
        "404: 404",
        "",
        page("Page introuvable", "<p>La page que vous demandez est introuvable. Vérifiez l'adresse et réessayez.</p>"),
    ),
    Answer(
        "404: 404",
        "",
        page(
            "Página no encontrada",
            ("<p>No hemos encontrado la página solicitada. Comprueba la dirección e inténtalo de nuevo.</p>"),
        ),
    ),
    Answer(
        "404: 404",
        "",
        page("Nie znaleziono", "<p>Nie znaleziono żądanej strony. Sprawdź adres i spróbuj ponownie.</p>"),
    ),
    Answer(
        "404: 404", "", page("Bulunamadı", "<p>İstediğiniz sayfa bulunamadı. Adresi kontrol edip tekrar deneyin.</p>")
    ),
    Answer(
        "404: 404",
        "",
        page("Не найдено", "<p>Запрошенная страница не найдена. Проверьте адрес и попробуйте снова.</p>"),
    ),
    Answer(
        "mail: code",
        "",
        page(
            "Code eingeben",
            (
                "<p>Wir haben Ihnen einen Code gesendet. Geben Sie ihn ein, um fortzufahren.</p><form><input"
                " name=c><button>Weiter</button></form>"
            ),
        ),
    ),
    Answer(
        "mail: code",
        "",
        page(
            "Vérifiez votre boîte",
            "<p>Nous avons envoyé un code. Saisissez-le pour continuer.</p><form><input name=c></form>",
        ),
    ),
    Answer(
        "mail: code",
        "",
        page(
            "Verify your email",
            (
                "<h1>Verify your email</h1><p>Enter the code from the mail we sent to"
                " continue.</p><form><input name=c><button>Continue</button></form>"
            ),
        ),
    ),
    Answer(
        "mail: code",
        "",
        page("Controlla la posta", "<p>Ti abbiamo inviato un link per confermare il tuo indirizzo.</p>"),
    ),
    Answer(
        "mail: code",
        "",
        page(
            "Postcode",
            (
                "<p>Enter your postcode to see whether we deliver to your area.</p><form><input"
                " name=p><button>Check</button></form>"
            ),
        ),
    ),
    Answer(
        "mail: code",
        "",
        page(
            "Language",
            ("<p>Choose your country and language to continue.</p><a href=/en>English</a><a href=/de>Deutsch</a>"),
        ),
    ),
    Answer(
        "h0: fresh",
        "",
        page(
            "Search",
            ("<h1>No results</h1><p>We found no pages for your request. Check the spelling and try again.</p>"),
        ),
    ),
    Answer("h1: fresh", "", page("Thank you", "<p>We will be in touch. You can close this page now.</p>")),
    Answer(
        "h2: fresh",
        "",
        page(
            "Two-factor",
            (
                "<h1>Two-step login</h1><p>Open your app and enter the six digits to"
                " continue.</p><form><input name=otp><button>Continue</button></form>"
            ),
        ),
    ),
    Answer("h3: fresh", "", page("Gutschein", "<p>Dieser Gutschein ist in Ihrem Land nicht einlösbar.</p>")),
    Answer(
        "h4: fresh",
        "",
        page("Ausverkauft", "<p>Dieses Produkt ist zurzeit nicht verfügbar. Benachrichtigen Sie mich.</p>"),
    ),
    Answer(
        "h5: fresh",
        "",
        page(
            "Pas de résultats", "<p>Aucune annonce ne correspond à votre recherche. Élargissez la zone ou le prix.</p>"
        ),
    ),
    Answer(
        "h6: fresh",
        "",
        page("Événement complet", "<p>Toutes les places sont prises. Inscrivez-vous sur la liste d'attente.</p>"),
    ),
    Answer("h7: fresh", "", page("Envío", "<p>No enviamos a tu país todavía. Escríbenos para más información.</p>")),
    Answer(
        "h8: fresh",
        "",
        page("Sesión", "<p>Tu sesión ha caducado. Vuelve a iniciar sesión para continuar.</p><a href=/l>Entrar</a>"),
    ),
    Answer(
        "h10: fresh", "", page("Winkel", "<p>Onze winkel is vandaag gesloten. Morgen zijn we er weer vanaf 9 uur.</p>")
    ),
    Answer("h11: fresh", "", page("Kontakt", "<p>Zadzwoń lub napisz do nas. Odpowiadamy w ciągu dwóch dni.</p>")),
    Answer(
        "h12: fresh", "", page("Курьер", "<p>Ваш заказ в пути. Проверьте номер отправления на странице курьера.</p>")
    ),
    Answer(
        "h13: fresh",
        "",
        page(
            "ログイン",
            (
                "<p>メールアドレスとパスワードを入力してください。</p><form><input type=email><input"
                " type=password></form>"
            ),
        ),
    ),
    Answer("h14: fresh", "", page("404", "<p>お探しのページは見つかりませんでした。URLをご確認ください。</p>")),
    Answer("h15: fresh", "", page("店铺", "<p>本店暂停营业，请明天再来。</p>")),
    Answer("h16: fresh", "", page("下载", "<p>下载将在几秒后自动开始，如未开始请点击这里。</p>")),
    Answer("h17: fresh", "", page("배송", "<p>고객님의 주문이 출고되었습니다. 운송장 번호를 확인하세요.</p>")),
    Answer(
        "h18: fresh",
        "",
        page("Live", "<h1>The stream starts soon</h1><p>Please wait, it will begin automatically in 5 minutes.</p>"),
    ),
    Answer("h19: fresh", "", page("Vote", "<p>You have already voted today. Come back tomorrow to vote again.</p>")),
    Answer(
        "h20: fresh",
        "",
        page(
            "Job",
            ("<h1>Software tester</h1><p>You verify automated tests and report what you find. Apply before 3 May.</p>"),
        ),
    ),
    Answer(
        "h21: fresh",
        "",
        page(
            "Museum",
            (
                "<h1>Plan your visit</h1><p>Groups of more than ten people need a reservation. Contact us"
                " before you come.</p>"
            ),
        ),
    ),
    Answer(
        "h23: fresh",
        "",
        page("Geräte", "<h1>Saugroboter im Test</h1><p>Wir prüfen, welcher Roboter am besten saugt.</p>"),
    ),
    Answer(
        "h24: fresh",
        "",
        page(
            "Status",
            (
                "<h1>Incident 2231</h1><p>Some requests are slow. We have identified the cause and are"
                " working on it.</p>"
            ),
        ),
    ),
)
