#!/usr/bin/env bash
# Installs the Debian packages that some suites use, then the kerberos extra into the given virtual environment, if any.
# It has no prompts and never fails: packages that could not be installed are printed at the end, with the reason.
set -u
venv="${1:-}"
if [ -n "$venv" ]; then python="$venv/bin/python"; else python="${PYTHON:-python3}"; fi
# A KDC and its tools, the build dependencies of gssapi, which has no wheel for Linux, and a browser for the pages of the site.
packages=(krb5-kdc krb5-admin-server krb5-user libkrb5-dev gcc chromium)
not_installed=()

# Building an extension needs Python's headers. Only Debian's own Python has them in a package.
if ! "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'; then
    packages+=("$("$python" -c 'import sys; print("python%d.%d-dev" % sys.version_info[:2])')")
fi

installed() { dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo -n DEBIAN_FRONTEND=noninteractive "$@"
    else
        return 1
    fi
}

wanted=()
for package in "${packages[@]}"; do
    installed "$package" || wanted+=("$package")
done

if [ "${#wanted[@]}" -gt 0 ] && command -v apt-get >/dev/null; then
    echo "system: installing ${wanted[*]}"
    as_root apt-get update -qq >/dev/null 2>&1
    # Together first, which is fast; if that fails, one by one, so that a missing package does not affect the others.
    if ! as_root apt-get install -y -qq --no-install-recommends "${wanted[@]}" >/dev/null 2>&1; then
        for package in "${wanted[@]}"; do
            as_root apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1
        done
    fi
fi
for package in "${packages[@]}"; do
    installed "$package" || not_installed+=("Debian package $package: as root, apt-get install $package")
done

stamp="$venv/.kerberos"
if [ -z "$venv" ]; then
    :
elif [ ! "$stamp" -nt requirements-kerberos.lock ] || ! "$python" -c 'import gssapi' 2>/dev/null; then
    # Tests do not need fast code, and a compiler that does not make it faster takes a third of the time.
    pip=("$python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes)
    log="$(mktemp)"
    if "${pip[@]}" -r requirements-build.lock >"$log" 2>&1 \
        && CFLAGS="${CFLAGS:-} -O0" "${pip[@]}" --no-build-isolation -r requirements-kerberos.lock >"$log" 2>&1; then
        touch "$stamp"
    else
        sed 's/^/system:   /' "$log" | tail -n 15
        not_installed+=("the kerberos extra (gssapi): it builds once libkrb5-dev, gcc and Python's headers are here")
    fi
    rm -f "$log"
fi

if [ "${#not_installed[@]}" -gt 0 ]; then
    echo "system: could not be installed:"
    printf '  %s\n' "${not_installed[@]}"
else
    echo "system: everything is installed"
fi
exit 0
