#!/usr/bin/env bash
# Checks the cost of starting, in instructions: `start_cost_test.sh EMPTY_PROGRAM BOXCAR`. Most of it is spent in the
# dynamic linker and varies slightly with file names and the environment, so the limits are a tenth above the measured
# counts.
set -euo pipefail

empty_program=$1 boxcar=$2
# shellcheck source=callgrind.sh
source "$(dirname "${BASH_SOURCE[0]}")/callgrind.sh"
touch "$folder/empty.ops"

failed=0
check() {  # WHAT COUNT AT_MOST
  echo "$1: $2 instructions (at most $3)"
  (($2 > 0 && $2 <= $3)) || failed=1
}

# Counts the functions that initialise a file's static objects, with everything that they call.
count=$(instructions --toggle-collect='_GLOBAL__sub_I_*' "$empty_program")
check "static initialisation" "$count" 25000
count=$(instructions "$boxcar" run "$folder/empty.ops")
check "boxcar run of an empty script" "$count" 16000000
exit $failed
