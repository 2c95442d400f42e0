#!/bin/sh
# Makes the virtual environment at $1 from requirements.lock, with junkai itself installed from this folder.
# $PYTHON is tried first; any Python 3.11 or newer that has venv will do.
set -eu
venv=$1

find_python() {
    for candidate in "$PYTHON" python3 python3.14 python3.13 python3.12 python3.11; do
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        newest=$candidate
        "$candidate" -c 'import ensurepip, venv' 2>/dev/null || continue
        printf '%s\n' "$candidate"
        return
    done
    if [ -n "${newest-}" ]; then
        echo "junkai: $newest lacks venv; install it (on Debian and Ubuntu: apt-get install python3-venv)" >&2
    else
        echo "junkai: needs Python 3.11 or newer; install it, or name it: make PYTHON=/path/to/python3" >&2
    fi
    return 1
}

if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1 || [ "$(cat "$venv/ready" 2>/dev/null)" != "$(pwd)" ]; then
    python=$(find_python)
    echo "junkai: setting up $venv with $("$python" --version) (a minute, once)" >&2
    "$python" -m venv --clear "$venv"
else
    echo "junkai: bringing $venv up to date" >&2
fi
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
"$venv/bin/python" -m pip install -qq --require-hashes -r requirements.lock
"$venv/bin/python" -m pip install -qq --no-build-isolation --no-deps -e .
