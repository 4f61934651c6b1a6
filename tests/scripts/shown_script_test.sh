#!/usr/bin/env bash
# A script of scripts/ prints exactly what expected/ holds for it: `shown_script_test.sh BOXCAR SCRIPT EXPECTED`.
set -euo pipefail
"$1" run "$2" | diff -u "$3" -
