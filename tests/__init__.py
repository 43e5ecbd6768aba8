"""The tests start many interpreters: what one compiles is kept for the others, whatever the environment says."""

import os
import sys

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
