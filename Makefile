# Shortcuts for an environment with `pip install -e '.[dev]'`; .ci/run needs none.
PYTHON ?= .venv/bin/python
BIN := $(dir $(PYTHON))

.PHONY: check slow speed bench

check:
	$(BIN)ruff check
	$(BIN)ruff format --check
	$(BIN)mypy
	$(BIN)lint-imports
	$(PYTHON) -m pytest

slow:
	$(PYTHON) -m pytest -m slow

speed:
	$(PYTHON) tools/speed

# make bench SB3=PYTHON RAY=PYTHON LEARNERS=PYTHON: interpreters that have the peers
bench:
	for each in planning oracle memory_needed planner_constants complexity \
	  "simulate --peer-python $(LEARNERS)" "transfer --sb3 $(SB3)" \
	  "train --sb3 $(SB3)" "sweep --ray $(RAY)"; \
	do OMP_NUM_THREADS=1 $(PYTHON) -m benchmarks.$$each || missed="$$missed $$each"; done; \
	test -z "$$missed" || { echo "goals missed, or not measured: $$missed"; exit 1; }
