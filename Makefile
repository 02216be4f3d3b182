# Every command sets up .venv by itself, once: on a machine with Python 3.11+ and make,
# `make run` and `make test` are all there is to know.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
RUNS := $(VENV)/.runs

# One BLAS thread: two of them on two busy cores were measured 31 times slower.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export MPLBACKEND := Agg

.DEFAULT_GOAL := help
.PHONY: help run test test-lowest test-noextras test-wheel lint format types docs chaos bench papers clean

help:  ## show this list
	@echo 'make TARGET [ARGS="..."] [PYTHON=python3] [WORKERS=2]'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile

run: $(if $(wildcard $(STAMP)),$(STAMP),$(RUNS))  ## classes of wine and prices of houses: reports, models and predictions in out/
	$(VENV)/bin/kernel-learn example out/wine.csv
	$(VENV)/bin/kernel-learn compare out/wine.csv --target cultivar --report out/report.html -o out/wine.skops $(ARGS)
	$(VENV)/bin/kernel-learn predict out/wine.skops out/wine.csv -o out/predictions.csv --proba
	$(VENV)/bin/kernel-learn example out/houses.csv
	$(VENV)/bin/kernel-learn fit out/houses.csv --target price --report out/houses.html -o out/houses.skops
	$(VENV)/bin/kernel-learn predict out/houses.skops out/houses.csv -o out/prices.csv --coverage 0.9

test: $(STAMP)  ## run the whole test suite (ARGS="-k hsic" for a part of it)
	SCIPY_ARRAY_API=1 $(PY) -m pytest -n $(WORKERS) $(ARGS)

test-lowest:  ## run the suite with the oldest versions that pyproject.toml promises
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt ".[test]"
	SCIPY_ARRAY_API=1 $(VENV)-lowest/bin/python -m pytest -n $(WORKERS) $(ARGS)

test-noextras:  ## run the suite with the four packages that are required; what needs others is skipped
	$(PYTHON) -m venv --clear $(VENV)-noextras
	$(VENV)-noextras/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt . hypothesis pytest pytest-xdist
	SCIPY_ARRAY_API=1 $(VENV)-noextras/bin/python -m pytest -n $(WORKERS) $(ARGS)

test-wheel: $(STAMP)  ## build the wheel, install it in an empty environment, fit a model there
	rm -rf out/wheel
	$(PY) -m build --outdir out/wheel
	$(PYTHON) -m venv --clear $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check out/wheel/*.whl
	cd out/wheel && $(CURDIR)/$(VENV)-wheel/bin/python -c 'import kernel_learn as kl; from sklearn.datasets import load_wine; \
	    print(kl.__version__, kl.KernelClassifier().fit(*load_wine(return_X_y=True)).error_)'

lint: $(STAMP)  ## check style, formatting and spelling
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m codespell_lib

format: $(STAMP)  ## mend style and formatting
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

types: $(STAMP)  ## check types, strictly in the mathematical layers
	$(PY) -m mypy $(ARGS)

docs: $(VENV)-docs/.installed  ## build the site to out/docs; a warning is an error, nothing is fetched
	@rm -rf docs/api/generated
	PYTHONPATH=src $(VENV)-docs/bin/python -m sphinx -W --keep-going -q -b html -d out/doctrees $(ARGS) docs out/docs
	@$(VENV)-docs/bin/python docs/check_site.py out/docs
	@echo "Built: out/docs/index.html"

chaos: $(STAMP)  ## real processes and real faults, ten times as many as in the suite; the table at the end
	CHAOS=10 $(PY) -m pytest tests/chaos -m slow $(ARGS)

bench: $(STAMP)  ## every ratio asked for beside its limit, one thread (ARGS=--full: full sizes)
	$(PY) benchmarks/speed $(ARGS)

papers: $(STAMP)  ## a reduced version of every table of the papers to out/papers, in under 20 minutes
	@for table in $$($(VENV)/bin/kernel-learn reproduce --list); do \
	    $(VENV)/bin/kernel-learn reproduce $$table --reduced --results out/papers --page out/papers/$$table.md $(ARGS) || exit 1; \
	done

clean:  ## remove .venv, caches, builds and out/
	rm -rf $(VENV) $(VENV)-docs $(VENV)-lowest $(VENV)-noextras $(VENV)-wheel docs/auto_examples docs/api/generated out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last and holds the folder it was made in. So an interrupted
# set-up, a moved project (the editable install names its folder) and an interpreter
# that is gone all show here as a .venv to be made anew.
# `make run` installs what the command needs, and the others what developers do, in one folder.
made_in = $(shell $(PY) -c 'print(open("$(1)").read().strip())' 2>/dev/null)
ifneq ($(call made_in,$(STAMP)),$(CURDIR))
.PHONY: $(STAMP)
endif
ifneq ($(call made_in,$(RUNS)),$(CURDIR))
.PHONY: $(RUNS)
endif

define set_up
	@command -v $(PYTHON) >/dev/null || { \
	    echo "kernel-learn needs Python 3.11 or newer, and there is no $(PYTHON) here: name one with make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "kernel-learn needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1): name a newer one with make PYTHON=..." >&2; exit 1; }
	@echo "Setting up $(VENV), once: $(2)."
	@rm -f $@
	@[ "$(or $(call made_in,$(STAMP)),$(call made_in,$(RUNS)))" = "$(CURDIR)" ] || $(PYTHON) -m venv --clear $(VENV) || { \
	    echo "$(PYTHON) could not make a virtual environment: it needs its venv and pip modules (on Debian: python3-venv)." >&2; exit 1; }
	@$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt hatchling
	@$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation --editable ".[$(1)]"
	@echo "$(CURDIR)" > $@
endef

$(STAMP): pyproject.toml constraints.txt src/kernel_learn/_version.py
	$(call set_up,dev,two minutes)

$(RUNS): pyproject.toml constraints.txt src/kernel_learn/_version.py
	$(call set_up,cli,about a minute)

$(VENV)-docs/.installed: pyproject.toml constraints.txt
	@echo "Setting up $(VENV)-docs, once: about a minute."
	@$(PYTHON) -m venv --clear $(VENV)-docs
	@$(VENV)-docs/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt hatchling
	@$(VENV)-docs/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation ".[docs]"
	@touch $@
