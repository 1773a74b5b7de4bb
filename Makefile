# Two commands: `make demo` and `make test`. Everything else they need is set up by `make setup`.
# Each set-up step leaves a stamp in .venv when it has finished, so that a second run skips it and a killed one repeats it.

PYTHON ?= python3
STAMPS := .venv/.stamps
FORESAIL := .venv/bin/foresail

.DELETE_ON_ERROR:
.PHONY: help setup demo live airflow test lint unit soak mutants docs site lock clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 12

setup: $(STAMPS)/jars $(STAMPS)/kernels ## the virtual environment, the Python packages, the jars and the compiled kernels

$(STAMPS)/venv:
	@"$(PYTHON)" pipeline/runtime/prerequisites.py
	@"$(PYTHON)" pipeline/runtime/set_up.py environment
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/packages: $(STAMPS)/venv pyproject.toml requirements.lock
	@.venv/bin/python pipeline/runtime/set_up.py packages
	@touch $@

$(STAMPS)/jars: $(STAMPS)/packages pipeline/runtime/jars.py
	@$(FORESAIL) jars
	@touch $@

$(STAMPS)/kernels: $(STAMPS)/packages $(wildcard patterns/recognition/*.py patterns/tesla/*.py patterns/spaseq/*kernel*.py models/kernels/*.py patterns/conditions/bins.py pipeline/results/id_kernel.py pipeline/stream/alerts/kernel.py pipeline/stream/messages/*kernel*.py pipeline/feeds/*kernel*.py)
	@$(FORESAIL) kernels
	@touch $@

demo: setup ## the main job on simulated data, with embedded defaults
	@$(FORESAIL) demo

live: setup ## a live line on a simulated day, and the console to look at it; Ctrl-C ends it
	@$(FORESAIL) demo --live

airflow: setup ## a local Airflow with the schedules, on loopback, on simulated data
	@.venv/bin/python -m foresail.pipeline.runtime.local_airflow

test: setup lint unit ## lint, then all tests

lint: setup ## ruff, mypy strict, the layer rules
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

unit: setup ## the tests alone, in two processes: most of them wait for Spark or a broker half of the time
	.venv/bin/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

soak: setup ## the tests that take minutes
	.venv/bin/pytest -m soak

mutants: setup ## would the tests notice? 200 single-token changes drawn by SEED (1), each against the tests of its module
	.venv/bin/python -m bench.mutants --seed $(or $(SEED),1)

docs: setup ## the generated parts of docs/
	.venv/bin/python -m foresail.pipeline.settings_page docs/settings.md
	$(FORESAIL) catalog docs --out docs/catalog
	$(FORESAIL) catalog schema --out docs/catalog.schema.json
	PYTHONPATH=. .venv/bin/python docs/draw_simulated_day.py

site: setup ## the pages of docs/ as a site, in out/site
	.venv/bin/mkdocs build --strict

lock: $(STAMPS)/venv ## resolve the ranges of pyproject.toml anew into requirements.lock
	.venv/bin/uv --no-config pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-emit-index-url --no-annotate --no-header --upgrade --output-file requirements.lock

clean: ## remove what make and the tests made (not the jar cache)
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
