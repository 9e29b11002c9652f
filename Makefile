# Every target works first and alone in a fresh clone: it makes .venv and installs what it needs.
#
#   make demo                         watch a program fail, and its errors arrive
#   make test                         all tests; ARGS="-k redact -x" goes to pytest, WORKERS=0 runs them in one process
#   make lint types bench docs        the other checks
#   make test PYTHON=python3.12       with another interpreter (.venv is made anew)

PYTHON ?= python3
ARGS   ?=
VENV   ?= .venv
BIN     = $(VENV)/bin
# Processes that share the tests: one for each core, at most 4, since each starts collectors of its own.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n > 4 ? 4 : n)))

# Another interpreter means a new .venv; another pyproject.toml, that pip installs again what has changed.
INTERPRETER := $(shell $(PYTHON) -c 'import sys; print(sys.base_prefix, sys.version)' 2>&1 | cksum | cut -d ' ' -f 1)
STATE       := $(INTERPRETER)-$(shell cksum < pyproject.toml | cut -d ' ' -f 1)
MADE         = $(VENV)/.made-$(INTERPRETER)

.PHONY: help venv demo test lint types bench docs clean

help:
	@sed -n 's/^#   //p' Makefile

venv: $(MADE)

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "errorsink needs Python 3.10 or newer; '$(PYTHON)' is not that. Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments: its modules venv and ensurepip are missing." >&2; \
	  echo "On Debian and Ubuntu: apt install python3-venv. Or name another interpreter: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test ! -e $(VENV) || ls $(VENV)/.made-* >/dev/null 2>&1 || { \
	  echo "'$(VENV)' is there, and make has not made it; it will not be deleted." >&2; \
	  echo "Remove it, or name another folder: make VENV=.venv-make $(MAKECMDGOALS)" >&2; exit 1; }
	rm -rf $(VENV)
	@mkdir -p $(VENV) && touch $(VENV)/.made-unfinished
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

# One stamp for each set of packages, so that `make demo` doesn't wait for what only tests need.
$(VENV)/.demo-$(STATE): $(MADE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[otel]'
	@touch $@

$(VENV)/.group-%-$(STATE): $(MADE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --group $*
	@touch $@

demo: $(VENV)/.demo-$(STATE)
	$(BIN)/python -m errorsink demo

test: $(VENV)/.group-test-$(STATE)
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS)

lint: $(VENV)/.group-lint-$(STATE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(foreach group,lint test,$(VENV)/.group-$(group)-$(STATE))
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.group-bench-$(STATE)
	$(BIN)/python -m benchmarks $(ARGS)

docs:
	$(PYTHON) -m errorsink settings --markdown > docs/reference/settings.md.new
	mv docs/reference/settings.md.new docs/reference/settings.md

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .ci/venvs .ci/logs
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
