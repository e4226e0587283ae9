# Every target works from a bare checkout: the first one creates the environment.
# Another interpreter: make test PYTHON=python3.13 VENV=.venv-3.13
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
unexport PYTHONDONTWRITEBYTECODE # hundreds of processes would compile the same modules again
.PHONY: help environment demo test lint coverage wheel-test bench docs train torture prohibitions audit lock schemas clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml lock.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python .ci/lock.py install dev
	@touch $@

environment: $(STAMP) ## Create the environment that the other targets use

demo: $(STAMP) ## Run a small experiment and say what came out and what to type next (a minute)
	@$(BIN)/python examples/demo.py

test: $(STAMP) ## Run the tests
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m 'not prohibition' $(OPTIONS)

coverage: $(STAMP) ## Run the tests under coverage; fail below the floor in pyproject.toml (slower than make test)
	@$(BIN)/python -m pytest -q -n 3 --dist worksteal -m 'not prohibition' --cov --cov-report=term

wheel-test: ## Build the wheel, install it and its dependencies into a new environment and test that (minutes)
	@.ci/wheel_test $(PYTHON)

lint: $(STAMP) ## Check style, types and import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## Measure memory, framework cost, throughput, calibration, accuracy and statistics (15 minutes)
	@$(BIN)/python benchmarks/memory.py
	@$(BIN)/python benchmarks/framework.py
	@$(BIN)/python benchmarks/throughput.py
	@$(BIN)/python benchmarks/reader_speed.py
	@$(BIN)/python benchmarks/calibration.py
	@$(BIN)/python benchmarks/accuracy.py
	@$(BIN)/python benchmarks/statistics_simulated.py

docs: $(STAMP) ## Build the documentation site into docs/_build/html; a warning is an error (20 seconds)
	@$(BIN)/python -c 'import furo, myst_parser, sphinx' 2>/dev/null || $(BIN)/python .ci/lock.py install dev docs
	@$(BIN)/python -m sphinx -W --keep-going -q -E -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

train: $(STAMP) ## Train networks that read (needs training/reader/requirements.txt; minutes on a GPU, hours without)
	@PYTHON=$(BIN)/python training/reader/train.sh en
	@PYTHON=$(BIN)/python training/reader/train.sh ko

torture: $(STAMP) ## Kills, damage, failing disks, jumping clocks, bad servers, fuzzed inputs: a table (15 minutes)
	@$(BIN)/python -m tests.torture

prohibitions: $(STAMP) ## Break what prevents each thing that must never happen; the named test must notice: a table (minutes)
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m prohibition tests/prohibitions

audit: $(STAMP) ## Compare what is installed with lock.txt, and lock.txt with the ranges of pyproject.toml
	@$(BIN)/python .ci/lock.py audit

lock: $(STAMP) ## Write lock.txt anew: the newest versions within the ranges, with hashes (needs a package index)
	@$(BIN)/python .ci/lock.py write

schemas: $(STAMP) ## Regenerate the shipped JSON Schema files
	@$(BIN)/python -m tests.schemas.json_schema_files

clean: ## Remove the environment and the caches of the tools
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
