# All that a developer does here. A bare `make` lists the verbs; each sets up what it needs by itself.

PYTHON ?= python3
STORE := sqlite:///junkai.db
BIN := .venv/bin
READY := .venv/ready

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The scripts in a venv hold its absolute path: in a folder that was moved or renamed they are made again.
$(shell [ "$$(cat $(READY) 2>/dev/null)" = "$$(pwd)" ] || rm -f $(READY))

.PHONY: help
help: ## List these verbs
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: run
run: $(READY) ## Run the whole system on a demo; with FEEDS=list.opml, on your feeds (ONCE=1: one round)
	@if [ -z "$$FEEDS" ]; then exec $(BIN)/junkai demo $(if $(ONCE),--once) $(ARGS); fi; \
	$(BIN)/junkai import "$$FEEDS" --store $(STORE) && \
	exec $(BIN)/junkai run --store $(STORE) $(if $(ONCE),--once) $(ARGS)

.PHONY: test
test: $(READY) ## Run the tests; ARGS='-k robots' goes to pytest
	@$(BIN)/pytest $(ARGS)

.PHONY: check
check: $(READY) ## Run all that CI runs: format, lint, types, import rules, tests
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache >.venv/lint-imports.log 2>&1 || { cat .venv/lint-imports.log; exit 1; }
	@$(MAKE) test

.PHONY: fix
fix: $(READY) ## Format, mend what ruff can mend, write the generated pages again
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix
	@$(BIN)/python tools/pages.py

.PHONY: lock
lock: $(READY) ## Write requirements.lock again from pyproject.toml (UPGRADE=1: the newest of everything)
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --custom-compile-command 'make lock' --cache-dir .venv/uv $(if $(UPGRADE),--upgrade) \
	  --group dev pyproject.toml -o requirements.lock

.PHONY: bench
bench: $(READY) ## Time cold and warm passes against a local origin; never part of the tests
	@$(BIN)/python -m bench $(ARGS)

.PHONY: clean
clean: ## Remove the venv and all caches; stores (*.db) stay
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	@find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@PYTHON='$(PYTHON)' sh tools/venv.sh .venv
	@pwd >$@
