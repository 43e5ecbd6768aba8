"""The tests: short times, loopback allowed."""

from settings.base import *  # noqa: F403

GUARD_ALLOWED_NETWORKS = "127.0.0.0/8,::1/128"
SPOOL_DIR = ""  # tests name one of their own
ATTEMPTS_DAYS = 0  # tests of the log turn it on
ARCHIVE_PAGES = "none"  # the same, of the archive
