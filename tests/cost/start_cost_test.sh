#!/usr/bin/env bash
# Holds what starting costs, in instructions: `start_cost_test.sh EMPTY_PROGRAM BOXCAR`. Most of it is the dynamic
# linker's, whose share differs a little with the names of files and the environment, so that the limits are a tenth above
# what was counted.
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

# The functions that the compiler makes of a file's static objects, with all that they call.
count=$(instructions --toggle-collect='_GLOBAL__sub_I_*' "$empty_program")
check "static initialisation" "$count" 210000
count=$(instructions "$boxcar" run "$folder/empty.ops")
check "boxcar run of an empty script" "$count" 16000000
exit $failed
