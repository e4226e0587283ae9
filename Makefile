# Every target works from a bare checkout: the environment is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench train torture checklist schemas clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(STAMP) ## Run a small experiment and explain one review with the memory it built (a minute)
	@rm -rf results/quickstart # of an earlier version, perhaps; the demo makes it anew in half a minute
	@$(BIN)/episodic-absa run experiments/quickstart.yaml
	@echo
	@$(BIN)/episodic-absa analyze --condition C2_frozen --conditions v1_3 --store results/quickstart/C2__seed42/episodic_store.jsonl --explain "강의가 재미있다고는 할 수 없어요"
	@echo
	@echo "Open the report of the run: results/quickstart/report.html"

test: $(STAMP) ## Run the tests
	@$(BIN)/python -m pytest -q -n 3 -m 'not torture'

lint: $(STAMP) ## Style, types and import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## Memory beside the plain way, framework cost, throughput of a grid (ten minutes)
	@$(BIN)/python benchmarks/memory.py
	@$(BIN)/python benchmarks/framework.py
	@$(BIN)/python benchmarks/throughput.py
	@$(BIN)/python benchmarks/accuracy.py

train: $(STAMP) ## Train the embedded engine's weights anew from ../shared/data (ten minutes)
	@$(BIN)/python training/train.py

torture: $(STAMP) ## Hundreds of real kill -9 on store, cache and grid runs, and every broken rule (20 minutes)
	@$(BIN)/python -m pytest -q -m torture

checklist: $(STAMP) ## Which checklist items have a test; fails when one has none
	@$(BIN)/python tests/checklist_coverage.py

schemas: $(STAMP) ## Regenerate the shipped JSON Schema files
	@$(BIN)/python -m episodic_absa.schemas.json_schema_files

clean: ## Remove the environment and what tools left behind
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache demo
