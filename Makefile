# Space. `make run` starts the engine and `make test` tests it; both set up what they need, once.

PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
LIVE := tests/live/node_modules/.installed

.PHONY: setup run test check format bench clean
.DELETE_ON_ERROR:

setup: $(VENV)/.installed ## the virtual environment with the `space` command in it

run: setup ## start the engine; ARGS="--port 0" and the like go to `space serve`
	@exec $(BIN)/space serve $(ARGS)

test: $(VENV)/.installed-dev $(LIVE) ## run the tests; ARGS="-k name" and the like go to pytest
	$(BIN)/pytest $(ARGS)

check: $(VENV)/.installed-dev ## style, types and floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-dev ## measure; ARGS go to the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

clean: ## take away what the other targets made
	rm -rf $(VENV) tests/live/node_modules

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
