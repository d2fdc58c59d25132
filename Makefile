# Shortcuts for an environment with `pip install -e '.[dev]'`; .ci/run needs none.
PYTHON ?= .venv/bin/python
BIN := $(dir $(PYTHON))

.PHONY: check slow bench

check:
	$(BIN)ruff check
	$(BIN)ruff format --check
	$(BIN)mypy
	$(BIN)lint-imports
	$(PYTHON) -m pytest

slow:
	$(PYTHON) -m pytest -m slow

bench:
	$(PYTHON) -m benchmarks.planning
