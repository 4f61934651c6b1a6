#!/usr/bin/env bash
# Holds what starting costs, in instructions: `start_cost_test.sh EMPTY_PROGRAM BOXCAR`. Most of it is the dynamic
# linker's, whose share differs a little with the names of files and the environment, so that the limits are a tenth above
# what was counted.
set -euo pipefail

empty_program=$1 boxcar=$2
skip() {
  echo "skipped: $1"
  exit 77
}
command -v valgrind >/dev/null || skip "valgrind is not installed"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$folder/empty.ops"

callgrind() {
  valgrind --tool=callgrind --callgrind-out-file="$folder/profile" "$@" >"$folder/out" 2>&1 || { cat "$folder/out"; exit 1; }
}
failed=0
check() {  # WHAT COUNT AT_MOST
  echo "$1: $2 instructions (at most $3)"
  [ "$2" -gt 0 ] && [ "$2" -le "$3" ] || failed=1
}

# The functions that the compiler makes of a file's static objects, with all that they call.
callgrind --toggle-collect='_GLOBAL__sub_I_*' "$empty_program"
check "static initialisation" "$(sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$folder/out")" 210000
callgrind "$boxcar" run "$folder/empty.ops"
check "boxcar run of an empty script" "$(sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$folder/out")" 16000000
exit $failed
