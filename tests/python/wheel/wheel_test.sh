#!/usr/bin/env bash
# wheel_test.sh WHEEL [PYTHON]: installs a wheel in a new environment of Python that has nothing else, and uses it there.
# `./dev wheel --test` runs it: a wheel takes minutes to build.
set -euo pipefail
wheel=$(readlink -f "${1:?usage: wheel_test.sh WHEEL [PYTHON]}") python=${2:-python3}
uses=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/uses_wheel.py
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
"$python" -m venv "$sandbox/environment"
"$sandbox/environment/bin/python" -m pip install -q --no-index --disable-pip-version-check "$wheel"
cp "$uses" "$sandbox/"
# Nothing of this machine's settings may help: neither PYTHONPATH nor LD_LIBRARY_PATH.
cd "$sandbox" && env -i PATH=/usr/bin:/bin HOME="$sandbox" "$sandbox/environment/bin/python" -I uses_wheel.py
echo "the wheel works"
