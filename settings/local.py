"""A laptop: everything of base, readable logs."""

from settings.base import *  # noqa: F403
