# A worker, or any other command: `docker run shoal:0.1.0 push products https://...`.
# Redis and MongoDB are named by REDIS_URL and MONGODB_URI; the bundled servers are not in here.
# `docker build --target browser -t shoal-browser:0.1.0 .` makes the image of workers of the browser tier.

# `make pin` puts its digest here; `--build-arg PYTHON=registry.example/python:3.11-slim-bookworm@sha256:...` takes your copy.
ARG PYTHON=python:3.11-slim-bookworm

# hadolint ignore=DL3006
FROM ${PYTHON} AS dependencies
COPY requirements.production.lock /tmp/
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r /tmp/requirements.production.lock
# One line instead of a traceback when a command fails or is interrupted while Scrapy loads.
COPY crawler/commands/shoal_uncaught.pth /opt/venv/lib/python3.11/site-packages/
COPY crawler/commands/uncaught.py /opt/venv/lib/python3.11/site-packages/shoal_uncaught.py

# hadolint ignore=DL3006
FROM ${PYTHON} AS program
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    SCRAPY_PROJECT=production
# An init process takes in what a killed browser or child leaves behind. The version is Debian's latest.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin shoal \
    && install --directory --owner=shoal --group=shoal /var/lib/shoal
COPY --from=dependencies /opt/venv /opt/venv
WORKDIR /app
COPY scrapy.cfg shoal.py LICENSE ./
COPY settings settings
COPY crawler crawler
COPY shoal_checkout.dist-info shoal_checkout.dist-info
# Compiled here, because the file system is read-only in production.
RUN python -m compileall -q crawler settings shoal.py
USER 10001:10001
EXPOSE 9410
EXPOSE 9411
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import *; build_opener(ProxyHandler({})).open('http://127.0.0.1:9410/healthz', timeout=4)"]
# SIGTERM reaches Scrapy and drains: it finishes what it has started and gives the rest back.
ENTRYPOINT ["tini", "--", "scrapy"]
CMD ["crawl", "products"]

FROM program AS browser
USER 0:0
# The version is Debian's latest: a browser is as safe as it is new.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium fonts-liberation \
    && rm -rf /var/lib/apt/lists/*
# The only directory that it may write to.
ENV HOME=/tmp \
    TIER=browser
USER 10001:10001

FROM program AS worker
