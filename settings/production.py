"""A pod: servers are named by the environment, never bundled."""

import os

from settings.base import *  # noqa: F403

LOG_JSON = True
# Off where no volume is named: a pod's own disk dies with it. k8s/base mounts one for each worker.
SPOOL_DIR = os.environ.get("SPOOL_DIR", "")
# Off for the same reason, unless it is said where pages are kept.
ARCHIVE_PAGES = os.environ.get(
    "ARCHIVE_PAGES", "failed" if {"ARCHIVE_DIR", "ARCHIVE_URI"} & set(os.environ) else "none"
)
EMBEDDED_DATA_DIR = ""  # off: an empty REDIS_URL or MONGODB_URI is an error here
# Reached by Prometheus and the kubelet from outside the pod; one worker per pod, so the port is fixed.
METRICS_HOST = os.environ.get("METRICS_HOST", "0.0.0.0")  # noqa: S104
METRICS_PORT = os.environ.get("METRICS_PORT", "9410")
# The same, for `scrapy serve`.
SERVE_HOST = os.environ.get("SERVE_HOST", "0.0.0.0")  # noqa: S104
