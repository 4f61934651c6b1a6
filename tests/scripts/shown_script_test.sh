#!/usr/bin/env bash
# Checks that a script of scripts/ prints exactly the contents of its file in expected/:
# `shown_script_test.sh BOXCAR SCRIPT EXPECTED`.
set -euo pipefail
"$1" run "$2" | diff -u "$3" -
