"""What the pages name is there: commands with their options, make targets, settings, metrics, files, links."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from scrapy.cmdline import _get_commands_dict
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from crawler import components, defaults, meta
from crawler.policy.endings.outcome import DEAD_REASONS
from tests.integration.monitoring import exported
from tests.shipped import shipped
from tests.zygote import PROJECT_DIR

PAGES: Final = [
    *map(PROJECT_DIR.joinpath, ("README.md", "CONTRIBUTING.md")),
    *sorted((PROJECT_DIR / "docs").glob("*.md")),
]
ROOMS: Final = sorted((PROJECT_DIR / "crawler").glob("*/README.md"))
MOST: Final = 170  # characters of a row that is read at a glance
# The first word after a command that takes one of several; `syntax()` names them all.
ACTIONS: Final = {
    "control": {"pause", "resume", "cancel", "purge", "priority", "tier"},
    "extract": {"products", "pages"},
    "dead": {"list", "show", "retry", "drop"},
    "schedule": {"add", "list", "show", "pause", "resume", "run", "remove"},
    "services": {"status", "stop"},
    "spool": {"list", "replay"},
}
SPAN: Final = re.compile(r"(?<!`)`([^`]+)`(?!`)", re.DOTALL)
FENCE: Final = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETTING: Final = re.compile(r"([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])\b(?!\()")
ENDS: Final = re.compile(r"\s#\s.*|\s*(?:&&|;|\||>|<)\s.*|\s&$")  # of one command in a line of shell
# Names in capitals that no settings file of ours has: scrapy-redis', other libraries', of the environment.
OTHERS: Final = {
    *("REDIS_HOST", "REDIS_PARAMS", "REDIS_START_URLS_KEY", "SCHEDULER_FLUSH_ON_START", "SCHEDULER_SERIALIZER"),
    *("SPIDERMON_SPIDER_CLOSE_MONITORS", "AWS_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "SCRAPY_PROJECT"),
    *("API_KEY_ACME", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES"),
    *("OTEL_SERVICE_NAME", "SCHEDULE_DAYS", "CONCURRENT_REQUESTS_PER_IP"),
}
COPY: Final = "k8s/overlays/mine"  # that docs/kubernetes.md has made of an overlay
page_of = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


class Typed(NamedTuple):
    """A command as a page has it: whole in a block, maybe with gaps in a sentence."""

    line: str
    whole: bool


def _blocks(text: str) -> Iterator[str]:
    """Lines of code blocks, continued ones joined."""
    fenced = FENCE.sub(lambda one: re.sub("^", "    ", one[1], flags=re.MULTILINE), text)
    for line in fenced.replace("\\\n", " ").splitlines():
        if line.startswith("    ") and not line.lstrip().startswith(("-", "*", "|", "#")):
            yield " ".join(line.split())


def _spans(text: str) -> Iterator[str]:
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    ") or "`" in line)
    for found in SPAN.findall(prose):
        yield " ".join(found.split())


def typed(text: str, program: str) -> Iterator[Typed]:
    """Calls of *program*, also behind variables or `kubectl exec ... --`."""
    start = re.compile(rf"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:(?:kubectl|docker) .* (?:-- |worker ))?({program} .*)")
    for whole, lines in ((True, _blocks(text)), (False, _spans(text))):
        for line in lines:
            for part in re.split(r" && | \| (?=scrapy )", line):
                if found := start.match(part):
                    yield Typed(ENDS.sub("", found[1]), whole)


@cache
def _commands() -> dict[str, ScrapyCommand]:
    settings: Settings = shipped()
    known: dict[str, Any] = _get_commands_dict(settings, inproject=True)
    for command in known.values():
        command.settings = settings
    return known


def _options(command: ScrapyCommand) -> dict[str, argparse.Action]:
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    options: dict[str, argparse.Action] = parser._option_string_actions
    return options


def wrong(given: Typed) -> str:
    """What is wrong with a call of scrapy; "" if nothing is."""
    # In a sentence, [x] may be left out, and NAME, ... stand for something.
    plain = given.line if given.whole else re.sub(r"[\[\]()]|\.\.\.|…", " ", given.line)
    words = shlex.split(plain)[1:]
    if not words or words[0] == "COMMAND":
        return ""
    if words[0] not in _commands():
        return f"there is no command {words[0]}"
    options = _options(_commands()[words[0]])
    for word in words[1:]:
        name = word.partition("=")[0]
        if re.fullmatch(r"--?[a-zA-Z][a-z-]*", name) and name not in options:
            return f"{words[0]} has no option {name}"
    first = next((word for word in words[1:] if not word.startswith("-")), "")
    allowed = ACTIONS.get(words[0])
    if allowed and first and not set(re.split(r"[|,]", first)) <= allowed:
        return f"{words[0]} has no {first}"
    return ""


def test_actions_are_those_that_commands_tell() -> None:
    for name, actions in ACTIONS.items():
        told = set(re.findall(r"[a-z]+", _commands()[name].syntax()))
        assert actions <= told, name


@page_of
def test_commands_and_options_exist(page: Path) -> None:
    assert [(one.line, why) for one in typed(page.read_text(), "scrapy") if (why := wrong(one))] == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("scrapy stauts", "there is no command"),
        ("scrapy push products --nmae x", "no option --nmae"),
        ("scrapy dead remove products", "has no remove"),
        ("scrapy crawl products --wokers=2 -s A=1", "no option --wokers"),
    ],
)
def test_a_wrong_one_is_found(line: str, why: str) -> None:
    text = f"Type\n\n    kubectl -n shoal exec workers-0 -- {line}\n\nor `{line}`."
    assert [why in wrong(one) for one in typed(text, "scrapy")] == [True, True]


def test_many_are_looked_at() -> None:
    texts = [page.read_text() for page in PAGES]
    assert sum(len(list(typed(text, "scrapy"))) for text in texts) > 150
    assert sum(len(list(typed(text, "make"))) for text in texts) > 30


@page_of
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (PROJECT_DIR / "Makefile").read_text(), re.MULTILINE))
    named = {one.line.split()[1] for one in typed(page.read_text(), "make")}
    assert named - targets == set()


def _known_names() -> set[str]:
    code = "".join(path.read_text() for path in (PROJECT_DIR / "settings").glob("*.py"))
    of_scrapy = set(shipped()) | set(Settings())
    return of_scrapy | {name for name in vars(defaults) if name.isupper()} | set(re.findall(r'"([A-Z_]{4,})"', code))


@page_of
def test_settings_exist(page: Path) -> None:
    named = {found[1] for span in _spans(page.read_text()) if (found := SETTING.match(span))}
    assert named - _known_names() - OTHERS == set()


def test_a_default_beside_the_name_of_a_setting_is_its_default() -> None:
    """As in `DNS_TIMEOUT` (15 s) and `ROBOTSTXT_UNREACHABLE_SECONDS` (a day)."""
    units = {"": 1, "s": 1, "%": 0.01, "day": 86_400, "days": 86_400, "MB": 2**20}
    told = re.compile(r"\b([A-Z]+_[A-Z_]+)`? \(?(a|[\d,.]+)(?: (s|%|days?|MB))?(?=[);]|, | of)")
    found = [one for page in PAGES for one in told.findall(" ".join(page.read_text().split()))]
    ours = [one for one in found if hasattr(defaults, one[0])]
    assert len(ours) > 12
    wrong = [
        one
        for one in ours
        if float("1" if one[1] == "a" else one[1].replace(",", "")) * units[one[2]] != getattr(defaults, one[0])
    ]
    assert wrong == []


@page_of
def test_metrics_exist(page: Path) -> None:
    names = exported.names()
    for found in set(re.findall(r"\bshoal_[a-z_]+", " ".join(_spans(page.read_text())))):
        whole = {found, f"{found}_count", f"{found}_total"} & names
        assert whole or (found.endswith("_") and any(name.startswith(found) for name in names)), found


def test_every_figure_of_the_fleet_is_told() -> None:
    """By its whole name, or by its end behind dots where the name before it has the same beginning."""
    text = (PROJECT_DIR / "docs" / "metrics.md").read_text("utf-8")
    of_fleet = [name for name in exported.names() if re.match("shoal_(fleet|domain|run|schedule|budget)_", name)]
    assert len(of_fleet) > 40
    untold = [name for name in of_fleet if name not in text and not re.search(rf"\.\.\.({_ends(name)})\b", text)]
    assert untold == []


def _ends(name: str) -> str:
    return "|".join(name[at:] for at, letter in enumerate(name) if letter == "_")


@pytest.mark.parametrize(
    "page", [*PAGES, PROJECT_DIR / "CHANGELOG.md", *ROOMS], ids=lambda page: f"{page.parent.name}/{page.stem}"
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", SPAN.sub("", page.read_text())):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), target
        if anchor:
            assert anchor in _anchors(there.read_text()), target


def _anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@page_of
def test_files_and_directories_exist(page: Path) -> None:
    found = re.compile(r"(?:k8s|docs|tests|crawler|settings|benchmarks|demo)/[\w./-]+").fullmatch
    for span in _spans(page.read_text()):
        if found(span) and "*" not in span:
            assert (PROJECT_DIR / span).exists(), span


@page_of
def test_what_kubectl_is_asked_for_is_in_the_box(page: Path) -> None:
    manifests = "".join(path.read_text() for path in (PROJECT_DIR / "k8s").rglob("*.yaml"))
    for line, _ in typed(page.read_text(), "kubectl"):
        assert "-n shoal" in line or re.search(r" (apply -k|create namespace|get --raw|kustomize)\b", line), line
        kinds = re.findall(r"\b(statefulset|deployment|deploy|job|pod)[/ ]([a-z]+)(-\d+)?", line)
        for name in [*(name for _, name, _ in kinds), *re.findall(r"\bexec (?:-\w+ )?([a-z]+)-\d", line)]:
            assert re.search(rf"^  name: {name}$", manifests, re.MULTILINE), line
        for label in re.findall(r" -l (\S+)=(\S+)", line):
            assert f"{label[0]}: {label[1]}" in manifests, line
        for directory in re.findall(r" -k (\S+/\S+)", line):
            assert directory == COPY or (PROJECT_DIR / directory).is_dir(), line


def test_each_page_has_a_title_of_its_own_says_what_it_is_for_and_is_in_the_index() -> None:
    index = (PROJECT_DIR / "docs" / "README.md").read_text()
    firsts: dict[str, str] = {}
    for page in PAGES[2:]:
        title, _, rest = page.read_text().partition("\n")
        assert title.startswith("# "), page
        assert rest.strip(), page
        assert not rest.lstrip().startswith("<!--"), page
        assert firsts.setdefault(title, page.name) == page.name, f"{page.name} and {firsts[title]} are both {title!r}"
        assert page.name == "README.md" or f"({page.name})" in index, f"docs/README.md does not list {page.name}"


def test_shoal_is_installed_from_its_checkout() -> None:
    """It is not on PyPI: a package of its name there would be a stranger's."""
    code = [*(PROJECT_DIR / "crawler").rglob("*.py"), *PAGES]
    found = {
        (path.name, name) for path in code for name in re.findall(r"pip install (?:-e )?'?([^ '`]+)", path.read_text())
    }
    ours = {one for one in found if "[" in one[1] or "shoal" in one[1]}
    assert {one for one in ours if not one[1].startswith("./shoal")} == set()
    assert len(ours) > 5


def test_every_reason_of_a_dead_letter_is_told() -> None:
    text = (PROJECT_DIR / "docs" / "operations.md").read_text("utf-8")
    told = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert set(DEAD_REASONS) - told == set()


def test_every_room_and_file_beside_them_is_told() -> None:
    text = (PROJECT_DIR / "docs" / "architecture.md").read_text("utf-8")
    told = set(re.findall(r"[\w.]+", " ".join(_spans(text.partition("## Rooms")[2].partition("\n## ")[0]))))
    package = PROJECT_DIR / "crawler"
    rooms = {path.parent.name for path in package.glob("*/*") if path.suffix in {".py", ".tmpl"} or path.is_dir()}
    beside = {path.name for path in package.glob("*.py")}
    assert (rooms | beside) - told - {"__init__.py", "__pycache__"} == set()


def test_each_room_is_told_in_a_line() -> None:
    text = (PROJECT_DIR / "docs" / "architecture.md").read_text("utf-8")
    rows = text.partition("## Rooms")[2].partition("\n\nFiles")[0].splitlines()
    assert len(rows) > 20
    assert [row for row in rows if len(re.sub(r"\]\([^)]+\)", "]", row)) > MOST] == []


@pytest.mark.parametrize("readme", ROOMS, ids=lambda page: page.parent.name)
def test_a_page_of_a_room_tells_what_is_in_it_and_nothing_else(readme: Path) -> None:
    room, text = readme.parent, readme.read_text("utf-8")
    told = {span.rstrip("/") for span in _spans(text) if re.fullmatch(r"[\w./-]+(?:\.py|/)", span)}
    inside = {path.name for path in room.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert inside - {one.removeprefix(f"{room.name}/") for one in told} - {"__init__.py"} == set()
    places = (room.parent, PROJECT_DIR / "tests")
    there = {one for one in told if (PROJECT_DIR / one).exists() or any(any(place.rglob(one)) for place in places)}
    assert told - there == set()


def test_every_key_of_meta_that_a_spider_sets_is_told() -> None:
    text = (PROJECT_DIR / "docs" / "spiders.md").read_text("utf-8")
    section = text.partition("## What a request may ask for")[2].partition("\n## ")[0]
    told = set(re.findall(r"`(\w+)`", " ".join(line.split(" | ")[0] for line in section.splitlines() if "| `" in line)))
    assert told == {key.name for key in meta.TABLE if key.meaning.startswith("spider")}


def test_every_place_in_the_order_of_downloader_middlewares_is_told() -> None:
    text = (PROJECT_DIR / "docs" / "extending.md").read_text("utf-8")
    section = text.partition("## A downloader middleware")[2].partition("\n## ")[0]
    told = [int(number) for row in re.findall(r"^\| ([\d, ]+) \|", section, re.MULTILINE) for number in row.split(", ")]
    assert told == sorted(set(components.DOWNLOADER_MIDDLEWARES.values()))
