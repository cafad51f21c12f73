#!/usr/bin/env bash
# Prints which programs that `make setup` needs are missing, and which Debian package contains each.
# With --java, Java is checked too: `make setup` needs it, `make quick` does not.
set -u
python="${PYTHON:-python3}"
missing=()

if ! command -v "$python" >/dev/null; then
    missing+=("$python (Python 3.11 or newer): apt-get install python3")
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    missing+=("Python 3.11 or newer ($python is $("$python" -c 'import platform; print(platform.python_version())')): apt-get install python3, or make PYTHON=python3.11")
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    missing+=("Python's venv module: apt-get install python3-venv")
fi

java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
if [ "${1:-}" != --java ]; then
    : # not needed
elif ! command -v "$java" >/dev/null; then
    missing+=("Java 17 or newer: apt-get install openjdk-17-jre-headless")
else
    version="$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)"
    if [ "${version:-0}" -lt 17 ]; then
        missing+=("Java 17 or newer ($java is ${version:-of unknown version}): apt-get install openjdk-17-jre-headless")
    fi
fi

if [ "${#missing[@]}" -gt 0 ]; then
    echo "This machine misses:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    exit 1
fi
