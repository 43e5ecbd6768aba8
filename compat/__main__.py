"""`make compat`: Scrapy's own crawl tests, from its source distribution, on the fleet.

What may differ by design is in expected.py; whatever else fails, or passes although it is there, is an error.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

from compat.expected import EXPECTED, FILES, SHORT
from crawler.embedded import ensure

PROJECT = Path(__file__).resolve().parent.parent
HOME = PROJECT / ".scrapy" / "compat"
SCRAPY = f"scrapy-{version('scrapy')}"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
PLUGINS = HOME / "plugins"  # pytest-twisted would load itself into our own tests


def main() -> int:
    """Exit status 1 when a test does not end as expected."""
    parser = argparse.ArgumentParser(prog="compat")
    parser.add_argument("--short", action="store_true", help="the tests of whole spiders only")
    parser.add_argument("--fetch", action="store_true", help="only fetch the source distribution and its plugin")
    given = parser.parse_args()
    prepare()
    if given.fetch:
        return 0
    report = HOME / "report.xml"
    run(SHORT if given.short else FILES, report)
    found = failed(report)
    unforeseen = [name for name in found if not reason(name)]
    passed = [name for name in EXPECTED if not given.short and not any(one.endswith(name) for one in found)]
    for name in found:
        print(f"{'differs' if reason(name) else 'FAILED'}  {name}  {reason(name)}")
    for name in passed:
        print(f"PASSED   {name}, which compat/expected.py says cannot")
    print(f"{len(found) - len(unforeseen)} differ by design, {len(unforeseen)} failed")
    return 1 if unforeseen or passed else 0


def prepare() -> None:
    """The source distribution, and the plugin that its tests need, once."""
    HOME.mkdir(parents=True, exist_ok=True)
    if not (HOME / SCRAPY).is_dir():
        name = SCRAPY.replace("-", "==")
        subprocess.run([*PIP, "download", "--no-deps", "--no-binary", ":all:", "--dest", HOME, name], check=True)
        with tarfile.open(HOME / f"{SCRAPY}.tar.gz") as archive:
            archive.extractall(HOME, filter="data")
    if not PLUGINS.is_dir():
        plugins = ("decorator==5.3.1", "greenlet==3.5.6", "pytest-twisted==1.14.3")
        subprocess.run([*PIP, "install", "--no-deps", "--target", PLUGINS, *plugins], check=True)


def run(tests: tuple[str, ...], report: Path) -> None:
    """Run *tests* in the unpacked distribution; what happened is in *report*."""
    servers = ensure(HOME / "servers", redis=True, mongodb=False, preferred_ports=False)
    options = ["-p", "compat.plugin", "-p", "no:asyncio", "-p", "no:cacheprovider", "--reactor=asyncio", "-W", "ignore"]
    options += [
        "-q",
        "--tb=no",
        "-o",
        "addopts=",
        "--timeout=120",
        f"--junitxml={report}",
        "--redis-url",
        servers.redis_url,
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (PROJECT, PLUGINS)))}
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", *options, *tests]
    done = subprocess.run(command, cwd=HOME / SCRAPY, env=environment, check=False)
    if done.returncode not in {0, 1} or not report.exists():  # what it did not run cannot fail
        raise SystemExit(f"compat: pytest did not come to its end: status {done.returncode}")


def failed(report: Path) -> list[str]:
    """The tests that failed, as `file.py::Class::name`."""
    found = []
    for case in ET.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            module, _, kind = case.get("classname", "").partition(".Test")
            parts = [f"{module.rpartition('.')[2]}.py", *([f"Test{kind}"] if kind else []), case.get("name", "")]
            found.append("::".join(parts))
    return found


def reason(name: str) -> str:
    """Why that test may fail; empty when it may not."""
    return next((why for expected, why in EXPECTED.items() if name.endswith(expected)), "")


if __name__ == "__main__":
    sys.exit(main())
