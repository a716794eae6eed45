# Everything a newcomer needs: `make demo` and `make test` set themselves up in .venv.
#
#   PYTHON=python3.12      another interpreter (3.11 or later)
#   VENV=/somewhere        another place for the environment
#   TORCH_INDEX=URL        where pip gets torch itself, for those who want the CPU build
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?=
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q -c constraints.txt
SOURCES := $(shell find src cpp -type f -not -name '*.pyc') pyproject.toml CMakeLists.txt constraints.txt
BENCHMARKS := hearts skat crew hanabi belief engine gomcts selfplay skat_solver crew_solver

.PHONY: demo test lint bench setup clean
.DEFAULT_GOAL := test

demo: setup  ## a real Hearts tournament with the shipped checkpoint
	$(BIN)/trickformer tournament hearts --a gomcts:checkpoint=hearts-small,wave=8 --b random --deals 10 --seed 1

test: setup
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: setup  ## add ARGS=--quick for a look, ARGS=--json for one object a line
	@set -e; for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name $(ARGS); done

setup: $(VENV)/.installed

$(VENV)/.installed: $(SOURCES)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "trickformer needs Python 3.11 or later: set PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv module: install it (Debian: python3-venv)" >&2; exit 1; }
	@$(PYTHON) -c 'import sysconfig, pathlib, sys; sys.exit(not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists())' || \
	  { echo "$(PYTHON) has no Python.h: install its headers (Debian: python3-dev)" >&2; exit 1; }
	@command -v "$${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  { echo "no C++ compiler found: install one (Debian: g++), or name it in CXX" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) $(if $(TORCH_INDEX),--no-deps --index-url $(TORCH_INDEX)) torch
	$(PIP) '.[dev]'
	@touch $@

clean:
	rm -rf .venv build
