"""The tests: short times, loopback allowed."""

from settings.base import *  # noqa: F403
