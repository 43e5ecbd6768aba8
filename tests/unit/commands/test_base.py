"""What all commands have in common: help texts, wrong usage, spiders by name."""

from __future__ import annotations

import importlib
import re
from argparse import Namespace
from pathlib import Path

import pytest
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyHelpFormatter
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from crawler.commands.base import spider_class
from crawler.commands.crawl import Command
from crawler.commands.dead import Command as DeadCommand
from crawler.commands.status import Command as StatusCommand
from crawler.errors import ShoalError
from settings.base import PROJECT_DIR


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The project's settings; Scrapy would leave their module in the environment, for all that tests start later."""
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "settings.local")
    return get_project_settings()


def test_a_choice_that_there_is_not_is_told_like_any_invalid_value(
    project: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    command = DeadCommand()
    command.settings = project
    parser = ScrapyArgumentParser(usage="scrapy dead list")
    command.add_options(parser)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--kind", "alive"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "scrapy dead: --kind = 'alive' is invalid: expected one of dead, gone\n"


@pytest.mark.parametrize("option", ["--host", "--reason"])
def test_an_option_that_is_empty_is_none(option: str, project: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    command = DeadCommand()
    command.settings = project
    parser = ScrapyArgumentParser(usage="scrapy dead list")
    command.add_options(parser)
    assert parser.parse_args([option, "x"])
    with pytest.raises(SystemExit) as ended:
        parser.parse_args([option, ""])
    assert ended.value.code == 2
    assert (
        capsys.readouterr().err == f"scrapy dead: {option} = '' is invalid: expected a value, or no {option} at all\n"
    )


def test_a_spider_that_there_is_not_is_named(project: Settings) -> None:
    spider_class(project, "products")
    close = r" \(did you mean 'products'\?\)"
    for name, hint in {"prodcts": close, "PRODUCTS": close, "xyz": "", "": ""}.items():
        with pytest.raises(ShoalError, match=f"^there is no spider '{name}'{hint}, `scrapy list` shows them$"):
            spider_class(project, name)


@pytest.mark.parametrize("given", ["EXTENSIONS=abc", "EXTENSIONS=5", "ITEM_PIPELINES=[1]"])
def test_a_dict_of_components_given_as_something_else_is_named(project: Settings, given: str) -> None:
    command = Command()
    command.settings = project
    with pytest.raises(UsageError, match=f"{given.partition('=')[0]} = .* is invalid: expected a dict"):
        command.process_options([], Namespace(set=[given]))


@pytest.mark.parametrize(("more", "times"), [([], 1), (["WORKER_PROCESS={}"], 0)], ids=["a person", "its supervisor"])
def test_a_misspelt_setting_is_said_to_whoever_gave_it(
    more: list[str], times: int, project: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    command = StatusCommand()
    command.settings = project
    given = ["DOWNLOAD_DELY=1", *more]
    command.process_options([], Namespace(set=given, logfile="", loglevel="", nolog=False, pidfile="", pdb=False))
    assert capsys.readouterr().err.count("DOWNLOAD_DELY, did you mean DOWNLOAD_DELAY?") == times


COMMANDS = sorted(
    path.stem for path in (PROJECT_DIR / "crawler" / "commands").glob("*.py") if "class Command(" in path.read_text()
)


def parser_of(name: str, project: Settings) -> ScrapyArgumentParser:
    command = importlib.import_module(f"crawler.commands.{name}").Command()
    command.settings = project
    usage = f"scrapy {name} {command.syntax()}"
    parser = ScrapyArgumentParser(prog="scrapy", usage=usage, formatter_class=ScrapyHelpFormatter)
    command.add_options(parser)
    return parser


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_line_in_the_list_of_all(name: str) -> None:
    """Of a terminal of 80 columns; Scrapy's list has the name in the first 16."""
    assert len(importlib.import_module(f"crawler.commands.{name}").Command().short_desc()) <= 64


@pytest.mark.parametrize("name", ["control", "crawl", "push", "schedule"])
def test_a_help_text_fits_the_terminal(name: str, project: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parser = parser_of(name, project)
    shown, usage = parser.format_help(), str(parser.usage)
    assert max(map(len, shown.splitlines())) <= 80
    assert usage.split() == shown.split()[2:][: len(usage.split())]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_of_a_help_text_is_taken_for_a_heading(
    name: str, project: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scrapy underlines any that ends with a colon, wherever a terminal's width breaks it."""
    parser = parser_of(name, project)
    for width in range(60, 121):
        monkeypatch.setenv("COLUMNS", str(width))
        headings = re.findall(r"^(.+)\n[=-]+$", parser.format_help(), re.MULTILINE)
        assert set(headings) <= {"Usage", "Options", "Global Options"}, width


@pytest.mark.parametrize("fault", ["raise RuntimeError('no')", "def broken(:"])
def test_a_command_goes_on_where_no_spider_can_be_imported(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "unfinished_spiders.py").write_text(fault)
    monkeypatch.syspath_prepend(tmp_path)
    command = StatusCommand()
    given = {"SPIDER_MODULES": ["unfinished_spiders"]}
    command.settings = settings = Settings(given)
    command.follow("mine")
    assert command.settings is settings
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("spider mine: its own settings are not read, the project's spiders cannot be imported: ")
