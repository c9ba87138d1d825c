# PYTHON is the interpreter that makes the venv; ARGS goes to the `pitch` command.
PYTHON ?= python3
ARGS   ?=
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: help install train test bench integration clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14

# Installs again only when the dependencies or their pins have changed.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[train,dev]' -c constraints.txt
	touch $@

install: $(STAMP)  ## Create .venv and install the project, its extras and the pinned versions

train: $(STAMP)  ## Train on Auction Pitch for about four minutes and show the strength
	$(BIN)/pitch train configs/quickstart.toml $(ARGS)

# The rulebook tests run twice: compiled, and as the plain Python that Numba compiles.
test: $(STAMP)  ## Lint, types, layers and tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 tests/test_rulebook.py

bench: $(STAMP)  ## Print decisions per second
	$(BIN)/pitch bench $(ARGS)

# Other people's libraries are large and pin their own dependencies, so they get a venv of their own.
integration:  ## Run the environments under other people's libraries
	test -x $(VENV)-integration/bin/python || $(PYTHON) -m venv $(VENV)-integration
	$(VENV)-integration/bin/python -m pip install --quiet -e '.[train,dev,integration]' 'torch==2.13.0'
	$(VENV)-integration/bin/python -m pytest tests/test_openspiel.py
	$(VENV)-integration/bin/python -m pytest -m integration tests/integration

clean:  ## Remove the venvs, caches and builds; run folders stay
	rm -rf $(VENV) $(VENV)-integration build dist .numba_cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find pitch_env agents training tests -name __pycache__ -prune -exec rm -rf {} +
