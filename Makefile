# make demo       the retrieval maneuver, with its report         make test      what the continuous integration runs
# make test-all   also slow tests and full studies         make clean     remove everything that was made here
# make bench      ours against Pinocchio, MuJoCo and scipy: ratios in out/bench (minutes; on a quiet machine)
# make stub       spacectl/__init__.pyi from the table of public names in __init__.py
# make metrics    all metrics of all studies in out/metrics.json; AGAINST=FILE lists what differs from another such file
# make mutants    plants faults in a copy of the tree, one by one, and runs the tests that must notice; ONLY=planners selects
# make coverage   lines that the fast tests reach, by file and in total
# Needs Python >= 3.11, make and a network for the first run. Choose the Python by PYTHON=..., test processes by JOBS=...

VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= auto
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
CC_FOUND := $(shell for c in cc gcc clang; do command -v $$c 2>/dev/null && break; done)

# An environment whose Python is gone (upgraded, moved) cannot be repaired, only made again.
ifneq ($(shell test -d $(VENV) && { $(BIN)/python -c '' 2>/dev/null || echo broken; }),)
$(shell rm -rf $(VENV))
endif

# Without a C compiler on the machine, one comes from the [compiler] extra.
ifeq ($(CC_FOUND),)
DEMO_EXTRAS := [compiler]
TEST_EXTRAS := [dev,crosscheck,compiler]
else
DEMO_EXTRAS :=
TEST_EXTRAS := [dev,crosscheck]
endif

export PIP_DISABLE_PIP_VERSION_CHECK := 1
INSTALL := $(BIN)/python -m pip install --quiet -c constraints.txt
INSTALL_HELP := { echo "spacectl: the installation failed; the first one needs a network and a package registry (pip's PIP_INDEX_URL and proxy settings are respected)" >&2; exit 1; }
STUDY   := retrieval
METRICS ?= out/metrics.json
ONLY    ?=

PYTEST := $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile
# Where compiled code itself is tested it is optimised as users have it; all other tests compile in half the time.
OPTIMISED := tests/codegen tests/simulation/driver tests/dynamics/recursion tests/dynamics/constraints/test_constraint_kernel.py

.PHONY: demo test test-all mutants coverage bench metrics stub clean

demo: $(VENV)/demo.stamp
	$(BIN)/spacectl run $(STUDY) --out out/$(STUDY)
	@echo "Open out/$(STUDY)/report.html in a browser."

test: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -m "not slow" --durations=30 $(OPTIMISED)
	SPACECTL_CFLAGS=-Og $(PYTEST) -m "not slow" --durations=30 $(addprefix --ignore=,$(OPTIMISED))

test-all: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/mypy
	SPACECTL_DRAWS=many $(PYTEST)

coverage: $(VENV)/test.stamp
	$(PYTEST) -m "not slow" --cov --cov-report=term:skip-covered --cov-report=html:out/coverage
	@echo "Lines that no test reaches: out/coverage/index.html"

mutants: $(VENV)/test.stamp
	$(BIN)/python -m tests.mutants $(ONLY)

bench: $(VENV)/test.stamp
	$(BIN)/python -m tests.benchmarks --out out/bench

metrics: $(VENV)/test.stamp
	$(BIN)/spacectl metrics --out $(METRICS) $(if $(AGAINST),--against $(AGAINST))

stub: $(VENV)/test.stamp
	$(BIN)/python -m tests.package.public_stub

$(VENV)/demo.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing spacectl into $(VENV) ..."
	@$(INSTALL) -e '.$(DEMO_EXTRAS)' || $(INSTALL_HELP)
	@touch $@

$(VENV)/test.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing spacectl with its test tools into $(VENV) ..."
	@$(INSTALL) -e '.$(TEST_EXTRAS)' || $(INSTALL_HELP)
	@touch $@ $(VENV)/demo.stamp

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "spacectl needs Python 3.11 or newer: install it, or name it by 'make PYTHON=/path/to/python ...'" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "$(PYTHON) is missing or older than 3.11: name a newer one by 'make PYTHON=/path/to/python ...'" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv: install it (Debian, Ubuntu: python3-venv) and run make again" >&2; exit 1; }
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) could not create $(VENV)" >&2; exit 1; }

clean:
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find spacectl studies tests -name __pycache__ -type d -prune -exec rm -rf {} +
