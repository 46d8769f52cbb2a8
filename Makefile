# make demo, make test: all either needs is Python 3.11 or newer and this file.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# uv takes a quarter of pip's time, but does not read pip's settings: what it cannot install, pip does.
# Modules are compiled when first imported; most of those installed never are.
install = { $(PIP) install --no-compile uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(1); } \
    2>/dev/null || $(PIP) install --no-compile $(1)

# With no compiler on the machine the kernels are compiled by the one that pip brings.
COMPILER := $(or $(TRIBOSWEEP_CXX),$(shell command -v g++ || command -v clang++ || command -v c++))

# A GPU's speeds take CuPy, for the CUDA that its driver takes or an older one.
ON_GPU := $(filter gpu,$(BACKEND))
ifneq ($(origin CUDA),command line)
CUDA := $(if $(ON_GPU),$(shell nvidia-smi 2>&1 | \
    sed -n 's/.*CUDA[A-Z ]*Version: *\([0-9]*\)\..*/\1/p' | awk '{ print ($$1 > 13 ? 13 : $$1); exit }'))
endif
CUPY := $(if $(ON_GPU),$(or $(patsubst %,$(VENV)/cuda%.installed,$(filter 12 13,$(CUDA))),no-cupy))

QUICK := tests/file tests/theory tests/points/test_chunking.py tests/request/test_options.py tests/kernel/test_source.py
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8
# Run beside the linters: it compiles the modules of the tests, which each worker would do itself.
WARM := $(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1

# Root in a container is no mistake, so pip need not warn of it.
export PIP_ROOT_USER_ACTION := ignore
export MPLBACKEND := Agg
# Without compiled modules each process that a test starts would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check lint docs explorer verify bench modules wheel no-cupy clean
.NOTPARALLEL:

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/demo.installed ## compute a wear-power surface of 524,288 points and draw it
	$(BIN)/sweep run wear_power -o results/wear_power.zarr
	$(BIN)/sweep plot results/wear_power.zarr -o results/wear_power.png
	@echo "The picture: $(CURDIR)/results/wear_power.png"

check: lint ## lint, types, and the tests that compile few kernels: for daily work, about a minute
	$(PYTEST) --dist worksteal -m 'not broad' $(QUICK)

test: $(VENV)/dev.installed ## lint, types, import layers and the tests
	@$(WARM) & $(MAKE) $(VENV)/cupy.apart & $(MAKE) lint; status=$$?; wait; exit $$status
	$(PYTEST) --dist worksteal -m 'not broad'

test-all: test ## the same, then the broad tests: every compiler, many random cases, whole galleries
	$(PYTEST) --dist worksteal -m 'broad and not alone'
	$(BIN)/python -m pytest -m alone

lint: $(VENV)/dev.installed ## ruff, clang-format, spelling, import layers and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	find kernels -name '*.h' -exec $(BIN)/clang-format --dry-run --Werror {} +
	$(BIN)/codespell
	$(BIN)/lint-imports --no-logo
	$(BIN)/basedpyright --threads 2 --pythonpath $(BIN)/python

docs: $(VENV)/docs.installed ## the documentation site, in docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo "The site: $(CURDIR)/docs/_build/html/index.html"

# Its size leaves room for the whole map.
explorer: demo $(VENV)/dev.installed ## docs/wear_power.html from the demo's results
	$(BIN)/sweep explore results/wear_power.zarr -o docs/wear_power.html

verify: $(VENV)/dev.installed ## published figures compared with ours, in results/verification (DOC=sdnd104: one document)
	$(BIN)/python -m tests.validation $(DOC)

bench: $(CUPY) $(VENV)/dev.installed ## the speeds of this machine, in results/ and the README's table (BACKEND=gpu: of its GPU)
	$(BIN)/python -m tests.benchmarks$(if $(ON_GPU),.gpu)

modules: $(VENV)/dev.installed ## the WebAssembly modules that a wheel contains
	$(BIN)/python -m sweep.kernel.wasm

wheel: modules ## a wheel for a release, in dist/
	$(BIN)/python -m build --wheel

no-cupy:
	@echo "There is a CuPy for CUDA 12 and one for 13, but none for what nvidia-smi or CUDA= tells: '$(CUDA)'." \
	    "Name the one that your driver takes, as in 'make bench BACKEND=gpu CUDA=12'"; exit 1

# CuPy beside no driver, for the tests, downloaded while lint runs: in a folder of its own, since all
# others go without it.
# Where there is no such CuPy (macOS), they are skipped.
$(VENV)/cupy.apart: $(VENV)/dev.installed
	@$(call install,--upgrade --no-deps --target $(VENV)/cupy 'cupy-cuda13x>=14.0' cuda-pathfinder) || true
	@touch $@

clean: ## remove the environment, caches and build products; results stay
	rm -rf $(VENV) build dist docs/_build docs/generated .pytest_cache .hypothesis .ruff_cache .import_linter_cache
	find sweep tests -name __pycache__ -prune -exec rm -rf {} +

# One stamp for what a user needs, one for what a developer needs, one for the site, one for CuPy:
# each is installed once, and again when pyproject.toml changes.
$(VENV)/demo.installed: EXTRAS := $(if $(COMPILER),,[compiler])
$(VENV)/dev.installed: EXTRAS := $(if $(COMPILER),[dev],[dev,compiler])
$(VENV)/docs.installed: EXTRAS := $(if $(COMPILER),[docs],[docs,compiler])
$(VENV)/cuda%.installed: EXTRAS = [$*]

$(VENV)/%.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "$(PYTHON) is missing or older than 3.11: name a newer one, as in 'make PYTHON=python3.12'"; exit 1; }
	@echo "Installing into $(VENV) (the first time takes a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(call install,--editable '.$(EXTRAS)')
	@touch $@
