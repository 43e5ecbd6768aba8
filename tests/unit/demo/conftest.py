"""Children that do as they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose modules a child can run: `deaf`, `polite` and `short`."""
    (tmp_path / "deaf.py").write_text(DEAF)
    (tmp_path / "polite.py").write_text("import time; print('here', flush=True); time.sleep(60)")
    (tmp_path / "short.py").write_text("for n in range(30): print(n)\nraise SystemExit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path
