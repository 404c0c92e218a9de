# Space. `make run` starts the engine and `make test` tests it; both set up what they need, once.

PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
LIVE := tests/live/node_modules/.installed
CONFORMANCE := tests/conformance/node_modules/.installed
CLIENTS := tests/clients/node_modules/.installed
PANEL := transport/panel

# Two, whatever the machine: each worker starts engines, browsers and sandboxes of its own.
WORKERS ?= 2
# What pytest says when ARGS leave it none of the tests that run alone.
NO_TESTS := 5

.PHONY: setup run test nightly pictures conformance fuzz check format bench clean
.DELETE_ON_ERROR:

setup: $(VENV)/.installed ## the virtual environment with the `space` command in it

run: setup ## start the engine; ARGS="--port 0" and the like go to `space serve`
	@exec $(BIN)/space serve $(ARGS)

test: $(VENV)/.installed-dev $(LIVE) $(CONFORMANCE) $(CLIENTS) ## run the tests; ARGS="-k name" and the like go to pytest
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal -m "not nightly and not alone" $(ARGS)
	$(BIN)/pytest -m "alone and not nightly" $(ARGS) || [ $$? -eq $(NO_TESTS) ]

nightly: $(VENV)/.installed-dev $(LIVE) $(CONFORMANCE) $(CLIENTS) ## run the tests that take too long for every change
	$(BIN)/pytest -m nightly $(ARGS)

pictures: $(VENV)/.installed-dev ## make the pictures of the panel in the README anew
	SPACE_PICTURES=docs $(BIN)/pytest tests/panel/test_pictures.py

conformance: $(VENV)/.installed-dev $(CONFORMANCE) ## run the MCP conformance suite alone; ARGS="2026-07-28" names legs
	@$(BIN)/python -m tests.conformance $(ARGS)

fuzz: $(VENV)/.installed-dev ## send 100,000 broken requests, for a night; ARGS="--seed 7 --requests 2000" and the like
	@$(BIN)/python -m tests.fuzz $(ARGS)

check: $(VENV)/.installed-dev ## style, types and floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/deno fmt --quiet --config $(PANEL)/deno.json --check $(PANEL)
	$(BIN)/deno lint --quiet --config $(PANEL)/deno.json $(PANEL)
	$(BIN)/deno check --quiet --config $(PANEL)/deno.json $(PANEL)

format: $(VENV)/.installed-dev ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/deno fmt --quiet --config $(PANEL)/deno.json $(PANEL)

bench: $(VENV)/.installed-dev ## measure; ARGS go to the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

clean: ## take away what the other targets made
	rm -rf $(VENV) tests/live/node_modules tests/conformance/node_modules tests/clients/node_modules

$(VENV)/.installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "space: Python 3.11 or newer is needed; name it with make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "space: setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { echo "space: this Python cannot make virtual environments; on Debian and Ubuntu install python3-venv" >&2; exit 1; }
	@$(PIP) --upgrade pip
	@$(PIP) --build-constraint constraints.txt --editable .
	@touch $@

# The benchmarks are checked like everything else, so what they import has to be there.
$(VENV)/.installed-dev: $(VENV)/.installed
	@$(PIP) --group test --group check --group bench
	@touch $@

# The live tests drive the real opencode. Without npm they are skipped, with the reason.
$(LIVE): tests/live/package.json
	@if ! command -v npm >/dev/null; then echo "space: npm is missing, so the live tests will be skipped"; \
	elif cd tests/live && npm install --no-package-lock --no-audit --no-fund --loglevel=error; then touch node_modules/.installed; \
	else echo "space: opencode could not be installed, so the live tests will be skipped" >&2; fi

# The conformance suite and a Node that is new enough for it, at the versions of the lock file. It names no registry, so
# they come from whichever one npm is set up with.
$(CONFORMANCE): tests/conformance/package.json tests/conformance/package-lock.json
	@if ! command -v npm >/dev/null; then echo "space: npm is missing, so the conformance suite will be skipped"; \
	elif cd tests/conformance && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then touch node_modules/.installed; \
	else echo "space: the conformance suite could not be installed, so it will be skipped" >&2; fi

# The TypeScript clients of MCP, likewise; the Node that runs them is the suite's.
$(CLIENTS): tests/clients/package.json tests/clients/package-lock.json
	@if ! command -v npm >/dev/null; then echo "space: npm is missing, so the TypeScript clients will be skipped"; \
	elif cd tests/clients && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then touch node_modules/.installed; \
	else echo "space: the TypeScript clients could not be installed, so they will be skipped" >&2; fi
