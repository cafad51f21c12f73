#!/usr/bin/env bash
# Installs a lock file into a virtual environment: `tools/install.sh .venv requirements.lock`.
# uv needs less than half of pip's time. pip installs where uv cannot: where there is no uv for the machine, or where only
# pip's configuration names an index or a proxy.
set -eu
venv="$1"
lock="$2"
# A lock file is complete, so there is no need to look for dependencies. Modules are compiled when they are first imported.
checked=(--quiet --require-hashes --no-deps)
pip=("$venv/bin/python" -m pip install "${checked[@]}" --disable-pip-version-check --no-input --no-compile)

configured() { "$venv/bin/python" -m pip config list | grep -qE '[.](index-url|extra-index-url|no-index|proxy)='; }

if configured; then
    echo "pip installs $lock, with the index or the proxy of its own configuration"
elif "${pip[@]}" -r requirements-uv.lock \
    && "$venv/bin/uv" pip install "${checked[@]}" --python "$venv/bin/python" -r "$lock"; then
    echo "uv has installed $lock"
    exit 0
else
    echo "uv could not install $lock: pip installs it"
fi
"${pip[@]}" -r "$lock"
