"""The tests start many interpreters: where these may not leave compiled modules beside the sources, they share some."""

import os
import sys
from pathlib import Path

if sys.dont_write_bytecode:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(__file__).resolve().parent.parent / ".pytest_cache" / "compiled")
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"]
    sys.dont_write_bytecode = False
