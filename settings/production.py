"""A pod: servers are named by the environment, never bundled."""

from settings.base import *  # noqa: F403

LOG_JSON = True
