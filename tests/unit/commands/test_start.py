"""Before a command runs: what Scrapy or a person may do in its first second."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.commands import uncaught
from settings.base import PROJECT_DIR
from tests.servers import ScrapyRunner

COMMANDS = PROJECT_DIR / "crawler/commands"
# What `make setup` and the Dockerfile install, without a copy of it.
UNCAUGHT = f"""
import importlib.util as load
found = load.spec_from_file_location("shoal_uncaught", {str(COMMANDS / "uncaught.py")!r})
sys.modules["shoal_uncaught"] = load.module_from_spec(found)
found.loader.exec_module(sys.modules["shoal_uncaught"])
exec(open({str(COMMANDS / "shoal_uncaught.pth")!r}).read())
"""


def _python(script: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
    return subprocess.run(
        [sys.executable, "-c", script, *args],
        cwd=PROJECT_DIR,
        env=inherited | env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("before", ["import crawler.commands", UNCAUGHT])
def test_ctrl_c_while_everything_loads_is_one_word(before: str) -> None:
    ended = _python(f"import sys; sys.argv = ['/bin/scrapy']\n{before}\nraise KeyboardInterrupt")
    assert ended.returncode != 0
    assert ended.stderr == "interrupted\n"


def _hooked(monkeypatch: pytest.MonkeyPatch, error: BaseException, *argv: str) -> bool:
    """Whether the hook leaves *error* of that program to the one before it."""
    passed: list[BaseException] = []
    monkeypatch.setattr(sys, "argv", list(argv))
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: passed.append(error))
    uncaught.install()
    sys.excepthook(type(error), error, None)
    return passed == [error]


@pytest.mark.parametrize("argv", [[], ["/home/me/scrapy-shop/bin/pytest"], ["scrapyd"], ["/opt/scrapy/setup.py"]])
def test_errors_of_other_programs_are_shown_as_before(monkeypatch: pytest.MonkeyPatch, argv: list[str]) -> None:
    assert _hooked(monkeypatch, KeyboardInterrupt(), *argv)


def test_a_missing_file_is_no_deleted_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _hooked(monkeypatch, FileNotFoundError(2, "no plugin"), "/bin/scrapy")


@pytest.mark.parametrize("program", ["scrapy", "/usr/bin/scrapy", "scrapy.exe", "/lib/scrapy/__main__.py"])
def test_scrapy_is_known_however_it_is_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], program: str
) -> None:
    assert not _hooked(monkeypatch, KeyboardInterrupt(), program)
    assert capsys.readouterr().err == "interrupted\n"


def test_a_working_directory_that_was_deleted_is_one_line(tmp_path: Path) -> None:
    gone = (
        f"import os; os.mkdir({str(tmp_path / 'gone')!r}); os.chdir({str(tmp_path / 'gone')!r}); os.rmdir(os.getcwd())"
    )
    ended = _python(f"import sys; sys.argv = ['/bin/scrapy']\n{UNCAUGHT}\n{gone}; os.getcwd()")
    assert ended.returncode != 0
    assert ended.stderr == "the working directory was deleted: change to one that exists\n"


def test_a_reader_of_scrapys_own_help_who_has_seen_enough_is_no_error() -> None:
    ended = _python("import crawler.commands; print('unheard'); raise BrokenPipeError")
    assert ended.stderr == ""


@pytest.mark.parametrize("before", ["import crawler.commands", UNCAUGHT])
def test_a_mistake_is_shown_as_ever(before: str) -> None:
    ended = _python(f"import sys; sys.argv = ['/bin/scrapy']\n{before}\nraise KeyError('mine')")
    assert "Traceback" in ended.stderr
    assert "KeyError: 'mine'" in ended.stderr


@pytest.mark.parametrize("wrong", ['ITEM_PIPELINES = ["x"]', 'DOWNLOAD_HANDLERS = "{x"', "EXTENSIONS = 5"])
def test_a_dict_of_the_settings_that_is_none_is_one_line(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "mistaken.py").write_text(f"from settings.test import *\n{wrong}\n")
    begin = f"import sys; sys.argv[0] = '/bin/scrapy'\n{UNCAUGHT}\n"
    ended = _python(begin + SCRAPY, "list", SCRAPY_SETTINGS_MODULE="mistaken", PYTHONPATH=str(tmp_path))
    name = wrong.partition(" ")[0]
    assert ended.stderr == f"{name} = '...' is invalid: expected a dict, or a JSON object\n"
    assert ended.returncode == 2


def test_other_programs_of_the_environment_are_interrupted_as_ever() -> None:
    assert "Traceback" in _python(f"import sys; sys.argv = ['/bin/pytest']\n{UNCAUGHT}\nraise KeyboardInterrupt").stderr


SCRAPY = "from scrapy.cmdline import execute; execute()"


@pytest.mark.parametrize("command", ["push", "list", "crawl"])
def test_a_project_that_there_is_not_is_one_line(command: str) -> None:
    ended = _python(SCRAPY, command, SCRAPY_PROJECT="bogus")
    words = f"SCRAPY_PROJECT = 'bogus': {PROJECT_DIR / 'scrapy.cfg'} has default, production, test\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", words)


def test_projects_that_there_are_and_settings_by_name_go_on(scrapy_run: ScrapyRunner) -> None:
    by_name = {"SCRAPY_PROJECT": "bogus", "SCRAPY_SETTINGS_MODULE": "settings.test"}
    for env in ({"SCRAPY_PROJECT": "test"}, by_name):
        assert scrapy_run.run("list", env=env).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["push", "products", "--priority", "high"],
        ["dead"],
        ["push", "a", "b", "--nope"],
        ["crawl", "products", "-s", "DNS_TIMEOUT=x"],
    ],
)
def test_what_is_wrong_is_one_line_without_the_usage(scrapy_run: ScrapyRunner, arguments: list[str]) -> None:
    ended = scrapy_run.run(*arguments)
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith(f"scrapy {arguments[0]}: ")
