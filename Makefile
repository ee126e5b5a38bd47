# All commands for a person. `make` alone lists them. Needs Python 3.11 or newer with venv.

PYTHON ?= python3
PORT ?= 8000
IN_VENV := .venv/bin/python

# A module's tests run in one process, which sets their servers up once; slow modules come first.
# Four processes on two cores: many tests wait for servers that hang or start.
PYTEST := env -u DJANGO_SETTINGS_MODULE $(IN_VENV) -m pytest
PARALLEL := -n 4 --dist loadfile --no-loadscope-reorder
SEED := $(or $(SEED),$(shell date +%s))
# Empty: Python stores compiled modules. Without them each process compiles all packages again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help run test test-all client-test test-random check docs bench faults soak conformance accept wheels lock clean free-port app-packages run-packages dev-packages python

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: free-port run-packages ## start Tideline and its servers on PORT (8000); Ctrl-C stops it
	@PORT=$(PORT) exec $(IN_VENV) -m lab.run

test: dev-packages client-test ## run what shows that a change is right, in ten minutes
	@$(IN_VENV) -m tests.browser.chromium
	$(PYTEST) $(PARALLEL) --tier first

test-all: dev-packages ## run the rest: servers that fail, all browsers, whole sites, the tools; in 25 minutes
	@$(IN_VENV) -m tests.browser.chromium
	$(PYTEST) $(PARALLEL) --tier second

client-test: dev-packages ## run the tests of the client alone, in client/
	cd client && env -u DJANGO_SETTINGS_MODULE ../$(IN_VENV) -m pytest -q

test-random: dev-packages ## run the tests that draw examples with new ones: make test-random SEED=1
	@echo "  the same again: make test-random SEED=$(SEED)"
	$(PYTEST) $(PARALLEL) --ignore tests/lab -m hypothesis \
		--hypothesis-profile=random --hypothesis-seed=$(SEED) --randomly-seed=$(SEED)

check: dev-packages ## format, lint, security, types, floors, migrations, settings, rules, records, docs
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/bandit --quiet --configfile pyproject.toml --recursive .
	DEVELOPMENT=1 $(IN_VENV) -m mypy .
	$(IN_VENV) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
	SECRET_KEY=$$($(NEW_KEY)) $(IN_VENV) -W ignore::RuntimeWarning manage.py \
		makemigrations --check --dry-run
	DEVELOPMENT=0 MEDIA_DIR=.artifacts/media SECRET_KEY=$$($(NEW_KEY)) \
		$(IN_VENV) manage.py check --deploy --fail-level WARNING
	$(IN_VENV) -m tests.rules
	$(IN_VENV) -m lab.accept --check
	$(IN_VENV) docs/build.py

docs: dev-packages ## build the documentation site into .site; dead links are errors
	$(IN_VENV) docs/build.py

bench: dev-packages ## measure the hot paths against their floors
	$(IN_VENV) -m lab.bench

faults: dev-packages ## break a whole Tideline in many ways; FAULTS="--only F9" or "--ci" chooses
	env -u DJANGO_SETTINGS_MODULE $(IN_VENV) -m lab.faults $(or $(FAULTS),--write)

soak: dev-packages ## break it at random for MINUTES (30), and plot memory, files and connections
	env -u DJANGO_SETTINGS_MODULE $(IN_VENV) -m lab.faults.soak --minutes $(or $(MINUTES),30)

conformance: dev-packages ## run the own tests of Mastodon clients: CONFORMANCE="--only toot" chooses
	@$(PYTHON) deploy/install.py conformance
	env -u DJANGO_SETTINGS_MODULE $(IN_VENV) -m lab.conformance $(or $(CONFORMANCE),--write)

accept: dev-packages ## write all that follows from the code: client, catalogs, records; and show what changed
	@$(IN_VENV) -m lab.accept

wheels: dev-packages ## build the packages of the server and of both clients, in .dist
	$(IN_VENV) -m hatchling build -t wheel -d .dist
	cd client && ../$(IN_VENV) -m hatchling build -t wheel -d ../.dist
	$(IN_VENV) -m lab.client

# The lock has addresses of PyPI, whatever index installs from it (decision 0031).
lock: dev-packages ## write uv.lock from pyproject.toml (LOCK_FLAGS=--upgrade: newer versions)
	.venv/bin/uv lock --default-index https://pypi.org/simple $(LOCK_FLAGS)

clean: python ## delete the environment, all caches and ALL DATA of make run (in DATA_DIR)
	@$(PYTHON) -m lab.services.delete_data "$(or $(DATA_DIR),.data)"
	rm -rf .venv .venv-peers .venv-conformance .venv-patroni .conformance .static .site .site-source .browser .distribution .artifacts \
		.pytest_cache .mypy_cache .ruff_cache client/.pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

NEW_KEY = $(IN_VENV) -c 'import secrets; print(secrets.token_urlsafe(64))'

# Before anything is installed: a `make run` that goes on must keep its packages.
free-port: python
	@$(PYTHON) -m lab.runner.port $(PORT)

app-packages: python
	@$(PYTHON) deploy/install.py app $(EXTRAS)

run-packages: python
	@$(PYTHON) deploy/install.py run

dev-packages: python
	@$(PYTHON) deploy/install.py dev

python:
	@command -v $(PYTHON) >/dev/null || \
		{ echo "Tideline needs Python 3.11 or newer, and there is no $(PYTHON) here."; exit 1; }
