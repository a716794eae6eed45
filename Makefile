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
OBJECTS := $(VENV)/core
PIP := $(BIN)/python -m pip --disable-pip-version-check install -q -c constraints.txt
CXX_FILES := $(shell find cpp -name '*.[chi]pp' -o -name '*.inl')
TYPESCRIPT := typescript@5.9.3
BENCHMARKS := hearts skat crew hanabi belief backend gomcts selfplay skat_solver crew_solver intervals records obl search \
  engine_protocol

# Tests of the core, mostly by folder, and of these the ones in which threads meet. Training takes too long under a sanitizer,
# so its tests, which reach the core too, are not among them.
CORE_TESTS := $(addprefix tests/,core games tokenizers gomcts players contracts) \
  $(wildcard $(addprefix tests/*/test_,backend.py decide.py snapshot.py mines_belief.py selfplay_labels.py \
  belief_hearts.py belief_skat.py belief_crew.py belief_hanabi.py belief_exact.py belief_factored.py))
comma := ,
THREAD_TESTS := tests/core/test_threads.py tests/games/test_skat_solver.py

.PHONY: demo play test quick lint types tidy coverage docs asan tsan faults fuzz bench setup clean help ALWAYS
.DEFAULT_GOAL := test

demo: setup  ## a real Hearts tournament with the shipped checkpoint
	$(BIN)/trickformer tournament hearts --a gomcts:checkpoint=hearts-small --b random --deals 10 --seed 1

play: setup  ## a table in the browser: Hearts against GO-MCTS and PIMC
	$(BIN)/trickformer play hearts --opponents gomcts pimc

# One worker more than there are cores, because tests wait for processes and browsers; four at most, because each loads
# torch. Each has one thread, so that they do not compete for cores. A file's tests stay together, with what they share.
WORKERS = $$($(BIN)/python -c 'import os; print(min(4, os.cpu_count() + 1))')
test quick: export OMP_NUM_THREADS = 1
test: setup  ## all tests: some 25 minutes on two cores
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

quick: setup  ## the tests that are not marked slow: about four minutes on two cores
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not slow"

lint: setup  ## style, prose, types and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_style.py
	$(BIN)/python tools/check_prose.py
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

# The pages are served as they are written. The compiler only checks them, and nothing else needs it.
types:  ## check the types of the pages' modules with TypeScript, which npx fetches once
	@command -v npx >/dev/null || { echo "npx is missing: install Node.js (Debian: npm)" >&2; exit 1; }
	npx --yes -p $(TYPESCRIPT) tsc -p jsconfig.json

tidy: setup  ## run clang-tidy on the core: names, comma statements, common faults (.clang-tidy)
	$(BIN)/python -c 'import json; [print(f["file"]) for f in json.load(open("$(OBJECTS)/compile_commands.json"))]' | \
	  sort -u | grep "$(CURDIR)/cpp/" | xargs -P "$$(nproc)" -n 1 $(BIN)/clang-tidy -p $(OBJECTS) --quiet

coverage: setup  ## the tests, and the lines of Python that they do not reach
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --show-missing

docs: setup  ## the site, in build/site
	$(PIP) --no-build-isolation -Cbuild-dir=$(OBJECTS) -e '.[docs]'
	$(BIN)/mkdocs build --strict

# A copy of the package, its core built with sanitizers, in build/NAME, and tests on it. Python is not built with them: their
# libraries are loaded before it, and the standard library of C++ too, so that they see its exceptions. What they report is
# not captured. SKBUILD_EDITABLE_SKIP lets the copy go before the editable install.
# Arguments: name, sanitizers, library, tests.
define sanitize
	$(PIP) --no-deps --no-build-isolation --upgrade --target build/$(1) -Cbuild-dir=build/$(1)-objects \
	  -Cinstall.strip=false -Ccmake.define.TRICKFORMER_SANITIZE='$(2)' .
	SKBUILD_EDITABLE_SKIP=$(realpath $(OBJECTS)) PYTHONPATH=build/$(1) \
	  LD_PRELOAD="$$(g++ -print-file-name=$(3)) $$(g++ -print-file-name=libstdc++.so)" \
	  $(BIN)/python -m pytest --capture=sys $(4)
endef

asan: export ASAN_OPTIONS = detect_leaks=0
asan: setup  ## the core's tests under AddressSanitizer and UndefinedBehaviorSanitizer, at -O1; with GCC
	$(call sanitize,asan,address$(comma)undefined,libasan.so,$(CORE_TESTS))

tsan: setup  ## where threads meet, under ThreadSanitizer; with GCC
	$(call sanitize,tsan,thread,libtsan.so,$(THREAD_TESTS))

faults: setup  ## kills, damaged files, full disks, fuzzed inputs; ARGS=--full for those of docs/reliability.md
	$(BIN)/python -m tests.faults $(ARGS)

fuzz: setup  ## every reader of foreign input under libFuzzer by atheris, which has wheels for Linux; add ARGS="--seconds 300"
	$(PIP) --no-build-isolation -Cbuild-dir=$(OBJECTS) -e '.[fuzz]'
	$(BIN)/python -m tests.fuzz $(ARGS)

bench: setup  ## add ARGS=--quick for a look, ARGS=--json for one object a line
	@set -e; for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name $(ARGS); done

# The package is installed as it stands in src, so a changed .py needs nothing. The core is compiled in $(OBJECTS), where
# the compiler's output is kept: what is changed in cpp is compiled again, and no more. That is why the build is not
# isolated: headers at a new path would be new headers.
setup: $(VENV)/.installed

$(VENV)/.installed: $(shell find cpp -type f) $(VENV)/.modules CMakeLists.txt pyproject.toml constraints.txt
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
	$(PIP) $$($(PYTHON) -c 'import tomllib as t; print(*t.load(open("pyproject.toml", "rb"))["build-system"]["requires"])') \
	  cmake ninja
	$(PIP) --no-build-isolation -Cbuild-dir=$(OBJECTS) -e '.[dev]'
	@touch $@

# An editable install lists the modules: it is done again when one comes or goes.
$(VENV)/.modules: ALWAYS
	@mkdir -p $(VENV)
	@find src -name '*.py' | sort | cmp -s - $@ || find src -name '*.py' | sort > $@

ALWAYS:

clean:  ## remove the environment and all that was built
	rm -rf $(VENV) build src/trickformer/_core

help:  ## list these targets
	@grep -hE '^[a-z]+( [a-z]+)*:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /'
