# Everything a person working on metastored runs. A bare `make` prints the targets.
#
# Lock files hold names, versions and hashes and no index address: pip and uv take it from their own configuration.
# A stamp file is newer than the lock file that was installed, so a second run does nothing.

PYTHON ?= python3
empty :=
space := $(empty) $(empty)
PEERS ?= .peers
VENV := .venv
# Reference implementations (other Thrift codecs and clients) whose dependencies conflict with those of .venv; the
# packages that do not are those of .venv.
WITNESS := .venv-witness
SPARK35 := .venv-spark35
# metastored with the extra pyspark[pipelines]; its pandas stays out of .venv, whose tests show that nothing else needs it.
PIPELINES := .venv-pipelines
# What the demo runs in: .venv if it is complete, else a smaller environment of its own.
DEMO := $(if $(wildcard $(VENV)/.project),$(VENV),.venv-demo)
# The classes of Spark for the JVMs of tests, which then start faster: tests/support/class_archive.py.
CLASSES := .cache/spark-classes.jsa
PY := $(VENV)/bin/python
PIP_FLAGS := --quiet --disable-pip-version-check --no-input
# A lock file is complete, so pip need not look for dependencies. Modules are compiled when they are first imported.
LOCKED := install $(PIP_FLAGS) --no-compile --require-hashes --no-deps
# Packages with a limit of 90 % branch coverage; the limit for all packages together is in pyproject.toml.
WELL_COVERED := catalog client filters hive
# The markers that `make quick` leaves out: slow tests, and tests that need more than .venv.
NOT_QUICK := slow spark apache postgres kerberos peers witness soak
PYTHON_DIRS := src tools tests $(wildcard benchmarks)

export HIVE_PEERS := $(abspath $(PEERS))
# Without bytecode each process of the tests compiles all sources again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv setup packages classes compiled demo quick versions test retest coverage check docs dist bench bench-check soak serve system peers trino peers-check lock clean preflight java

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(VENV)/.project

setup: java $(VENV)/.project $(WITNESS)/.installed $(SPARK35)/.installed $(PIPELINES)/.installed $(PEERS)/hive-3.1.3/.complete ## create the virtual environments, with extras and dev tools, and unpack Hive 3.1.3

demo: java $(DEMO)/.project ## an old and a new metastore, one Spark: joins, MERGE, vectors; KEEP=1 leaves the servers running
	$(DEMO)/bin/python -m tools.demo

quick: $(VENV)/.project ## run the tests that need only .venv, with files in memory, in a minute and a half
	TESTS_IN_MEMORY=1 $(PY) -m pytest -m "not ($(subst $(space), or ,$(NOT_QUICK)))" -n 3 --hypothesis-profile=quick $(ARGS)

versions: $(VENV)/.project ## run the tests of make quick on every Python from 3.11 on that this machine has
	$(PY) tools/versions.py --markers "not ($(subst $(space), or ,$(NOT_QUICK)))" $(ARGS)

test: setup $(CLASSES) ## run the tests in three processes, with a list of skipped tests
	$(PY) -m pytest -m "not soak" -n 3 --durations=60 $(ARGS)

retest: setup $(CLASSES) ## run only the tests that failed the last time
	$(PY) -m pytest -m "not soak" --last-failed --last-failed-no-failures=none $(ARGS)

coverage: setup $(CLASSES) ## run the tests with coverage, which doubles the time of Python, and check its limits
	@rm -f .coverage .coverage.*
	$(PY) -m pytest -m "not soak" -n 2 --cov --cov-report=term $(ARGS)
	$(if $(ARGS),,@$(PY) tools/check_coverage.py $(WELL_COVERED))

check: $(VENV)/.project ## lint, types, generated files, layers, circles, exports, addresses of machines, workflow and hooks
	$(VENV)/bin/ruff check $(PYTHON_DIRS)
	$(VENV)/bin/ruff format --check $(PYTHON_DIRS)
	$(VENV)/bin/mypy $(PYTHON_DIRS)
	$(PY) tools/generate.py --check
	$(PY) tools/unasync.py --check
	$(PY) tools/create_tables.py --check
	$(PY) tools/configuration_reference.py --check
	$(PY) tools/cli_reference.py --check
	$(PY) tools/statement_reference.py --check
	$(PY) tools/refused_statements.py --check
	$(PY) tools/api_reference.py --check
	$(PY) tools/python_reference.py --check
	$(PY) tools/check_api.py
	$(VENV)/bin/lint-imports --no-cache
	$(PY) tools/check_circles.py
	$(PY) tools/check_exports.py
	$(PY) tools/check_tree.py
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml
	$(VENV)/bin/pre-commit validate-config

docs: $(VENV)/.project ## build the documentation as a site, into site/; broken links are errors
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet --site-dir site

dist: $(VENV)/.project ## build the packages into dist/, check them, and try the wheel in an empty environment
	rm -rf dist
	$(PY) -m hatchling build -d dist
	$(PY) -m twine check --strict dist/*
	$(PY) tools/check_dist.py dist
	$(PY) tools/try_wheel.py dist

bench: setup ## measure all groups side by side with Apache HMS 2.3.10 and publish them; ARGS="slice --quick" for one
	$(PY) -m benchmarks $(or $(ARGS),all --publish)

bench-check: setup ## fail if a row of the last make bench is below its limit
	$(PY) -m benchmarks --check

soak: setup trino $(CLASSES) ## run the large tests: millions of partitions, long histories, Trino; SOAK=10 for longer ones
	$(PY) -m pytest -m soak -n 3 --timeout=7200 --durations=0 $(ARGS)

serve: setup ## start a metastore; options in ARGS="--port 9083"
	$(VENV)/bin/metastored serve $(ARGS)

packages: ## install the Debian packages of make system only, which needs no .venv
	@PYTHON="$(PYTHON)" tools/system.sh

system: $(VENV)/.project ## install Debian packages (a KDC, a browser), then the kerberos extra
	@tools/system.sh "$(VENV)"

peers: ## download the other Hive metastores for the comparison tests, with Maven
	@$(PYTHON) tools/peers.py "$(PEERS)"

trino: ## download Trino and a Java for it, with Maven and pip, for the tests of `make soak`
	@$(PYTHON) tools/peers.py "$(PEERS)" --trino

peers-check: setup ## play the recorded comparisons to the real Hives again; ARGS=--record writes the recordings
	$(PY) -m tests.differential.record $(ARGS)

lock: ## update the lock files from pyproject.toml; ARGS=--upgrade for newer versions
	@PYTHON="$(PYTHON)" tools/lock.sh $(ARGS)

clean: ## remove the files that setup, peers and the tests created
	rm -rf $(VENV) .venv-demo $(WITNESS) $(SPARK35) $(PIPELINES) .venv-python3.* $(PEERS) $(CLASSES) dist site /dev/shm/metastored-tests-$$(id -u) .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis

preflight:
	@PYTHON="$(PYTHON)" tools/preflight.sh

java:
	@PYTHON="$(PYTHON)" tools/preflight.sh --java

$(VENV)/bin/python $(WITNESS)/bin/python $(SPARK35)/bin/python $(PIPELINES)/bin/python: | preflight
	$(PYTHON) -m venv $(@:/bin/python=)

$(VENV)/.installed: requirements.lock requirements-uv.lock tools/install.sh | $(VENV)/bin/python
	@tools/install.sh $(VENV) requirements.lock
	@touch $@

classes: $(CLASSES)

# Compiles the modules of metastored and of the tests, which each process of `make test` would do otherwise.
compiled: venv
	@$(PY) -m pytest --collect-only -q >/dev/null

# Tests run without it too, so an error is only printed.
$(CLASSES): $(VENV)/.installed | $(VENV)/.project
	-$(PY) -m tests.support.class_archive

# The build backend is in the lock, so building needs no network.
$(VENV)/.project: pyproject.toml $(VENV)/.installed
	$(PY) -m pip install $(PIP_FLAGS) --no-deps --no-build-isolation --editable .
	@touch $@

# A newcomer waits for this: it says what it does and shows pip's progress. To stay below 1 GB, only modules that are used
# are compiled, and pip is removed at the end: venv installs it again when the lock file has changed.
.venv-demo/.project: requirements-demo.lock pyproject.toml | preflight
	@echo "The demo needs Spark, pyarrow and Lance. They are installed into .venv-demo, once: 640 MB to download, 1 GB on"
	@echo "disk, 2 minutes with 100 Mbit/s. The demo itself takes 2 minutes. rm -r .venv-demo removes all of it."
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install --disable-pip-version-check --no-input --no-compile --require-hashes -r requirements-demo.lock
	.venv-demo/bin/python -m pip install $(PIP_FLAGS) --no-deps --no-build-isolation --editable .
	.venv-demo/bin/python -m pip uninstall --quiet --yes pip setuptools
	@touch $@

# A package of jars declares Python versions, which do not matter for jars.
$(SPARK35)/.installed: requirements-build.lock requirements-spark35.lock | $(SPARK35)/bin/python
	$(SPARK35)/bin/python -m pip $(LOCKED) -r requirements-build.lock
	$(SPARK35)/bin/python -m pip $(LOCKED) --no-build-isolation --ignore-requires-python -r requirements-spark35.lock
	@touch $@

# Tests run this checkout's metastored in it, by PYTHONPATH. It holds only what .venv does not.
$(PIPELINES)/.installed: requirements-pipelines.lock tools/overlay.py $(VENV)/.installed | $(PIPELINES)/bin/python
	$(PIPELINES)/bin/python tools/overlay.py $(VENV)
	$(PIPELINES)/bin/python -m pip $(LOCKED) -r requirements-pipelines.lock
	@touch $@

# thrift 0.13 is a source package; it builds with setuptools and, where there is no compiler, without its C extension.
$(WITNESS)/.installed: requirements-build.lock requirements-witness.lock tools/overlay.py $(VENV)/.installed | $(WITNESS)/bin/python
	$(WITNESS)/bin/python tools/overlay.py $(VENV)
	$(WITNESS)/bin/python -m pip $(LOCKED) -r requirements-build.lock
	$(WITNESS)/bin/python -m pip $(LOCKED) --no-build-isolation -r requirements-witness.lock
	@touch $@

$(PEERS)/hive-3.1.3/.complete: requirements-hive3.lock tools/hive3.py | $(VENV)/bin/python
	$(PY) tools/hive3.py requirements-hive3.lock $(@D)
	@touch $@
