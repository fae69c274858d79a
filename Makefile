# `make` alone lists the targets. Everything is installed into .venv in this checkout. All paths are
# relative, so the checkout may be in a folder whose name has spaces.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PORT ?= 8501
ADDRESS ?= localhost
OPTIONS ?=
WORKERS ?= 2
KILLS ?= 500
CASES ?= 2000
FIRST ?= 0

export PIP_DISABLE_PIP_VERSION_CHECK = 1

PY := .venv/bin/python
VENV := .venv/.made
APP := .venv/.app-installed
DEV := .venv/.dev-installed

# Makes .venv/bin/glossa, which runs the code of this checkout.
INSTALL_GLOSSA := $(PY) -m pip install --quiet --no-deps --editable .

.PHONY: help app test test-cluster faults fuzz check lint types format bench sample screenshots clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

app: $(APP) ## Start the app with the sample project (PORT=8501, ADDRESS=localhost, OPTIONS=--headless)
	@exec $(PY) -m engine app --address "$(ADDRESS)" --port "$(PORT)" $(OPTIONS)

test: export OMP_NUM_THREADS = 1
test: $(DEV) ## Run all tests, those in a real browser last (WORKERS=2)
	@$(PY) tests/browser/get_browser.py
	@$(PY) -m pytest -q -n "$(WORKERS)" -m "not browser and not cluster"
	@if ls tests/browser/test_*.py >/dev/null 2>&1; then \
		$(PY) -m pytest -q -n "$(WORKERS)" --dist loadfile -m browser tests/browser; \
	fi

test-cluster: export OMP_NUM_THREADS = 1
test-cluster: $(DEV) ## Run the tests on a Ray cluster of several nodes on this machine
	@$(PY) -m pytest -q -m cluster tests/cluster

faults: export OMP_NUM_THREADS = 1
faults: $(DEV) ## Kill processes at random moments, and more faults (KILLS=500)
	@GLOSSA_KILLS="$(KILLS)" $(PY) -m pytest -q -n "$(WORKERS)" tests/faults

fuzz: export OMP_NUM_THREADS = 1
fuzz: $(DEV) ## Read mutated files; failing ones go to fuzz-failures/ (CASES=2000, FIRST=0, WORKERS=2)
	@$(PY) -m tests.fuzz.campaign --cases "$(CASES)" --first "$(FIRST)" --workers "$(WORKERS)"

check: test test-cluster lint types ## Run what has to pass before a change goes in

lint: $(DEV) ## Check style and formatting
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(DEV) ## Check types: strict in engine and glossa, checked in ui
	@$(PY) -m mypy engine ui glossa

format: $(DEV) ## Format the code and put imports in order
	@$(PY) -m ruff check --select I --fix .
	@$(PY) -m ruff format .

bench: ## Say how to measure speed and quality
	@echo "Each script in bench/ measures one thing and prints a table, then one line of JSON:"
	@for script in bench/*.py; do \
		if [ -e "$$script" ]; then echo "  $(PY) -m bench.$$(basename "$$script" .py)"; fi; \
	done
	@echo "Options: add --help. What they measure, and the recorded figures: bench/README.md"

sample: export OMP_NUM_THREADS = 1
sample: $(APP) ## Train the sample project that ships again
	@$(PY) -m sample_data.make

screenshots: $(DEV) ## Take the pictures in docs/screenshots again
	@$(PY) -m tests.browser.screenshots

clean: ## Delete .venv and all caches; projects in data/ stay
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp that is newer than its requirements files means that there is nothing to install.
$(VENV):
	@if [ ! -x $(PY) ]; then \
		for python in python3.11 python3; do \
			if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
				found=$$python; break; \
			fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "Glossa needs Python 3.11 or newer, and found none on this machine's PATH." >&2; \
			echo "Install Python 3.11, then run make again." >&2; \
			exit 1; \
		fi; \
		echo "Making .venv with $$found"; \
		"$$found" -m venv .venv || { \
			rm -rf .venv; \
			echo "Python could not make .venv; on Debian and Ubuntu: apt install python3-venv" >&2; \
			exit 1; \
		}; \
	fi
	@touch $@

$(APP): requirements.txt pyproject.toml | $(VENV)
	@echo "Installing requirements.txt into .venv (a few minutes the first time)"
	@$(PY) -m pip install --quiet -r requirements.txt
	@$(INSTALL_GLOSSA)
	@touch $@

$(DEV): requirements-dev.txt requirements.txt pyproject.toml | $(VENV)
	@echo "Installing requirements-dev.txt into .venv (a few minutes the first time)"
	@$(PY) -m pip install --quiet -r requirements-dev.txt
	@$(INSTALL_GLOSSA)
	@touch $(APP) $@
