#!/usr/bin/env bash
# Holds what a call may cost, in instructions above a direct call: `call_cost_test.sh CALL_COST`. Counts are exact for a
# compiler and its flags, so the test runs with those it was made for, and says so elsewhere. The bounds are what was
# reached; those of the profiler, which reads clocks, leave some room.
set -euo pipefail

program=$1
# shellcheck source=callgrind.sh
source "$(dirname "${BASH_SOURCE[0]}")/callgrind.sh"
out=$folder/out

instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>"$out" ||
    { cat "$out"; exit 1; }
  counted "$out"
}

# What one call by path $1 costs.
cost() {
  local few many
  few=$(instructions "$1" 1000)
  many=$(instructions "$1" 3000)
  echo $(((many - few) / 2000))
}

direct=$(cost direct)
echo "a direct call: $direct instructions"
failed=0
check() {
  local above=$(($(cost "$1") - direct))
  echo "$1: $above above a direct call (at most $2)"
  [ "$above" -le "$2" ] || failed=1
}
check typed 30
check boxed 97
check typed_through_fallback 152
boxed=$(cost boxed)
check_added() {
  local added=$(($(cost "$1") - boxed))
  echo "$1: $added added to a boxed call (at most $2)"
  [ "$added" -le "$2" ] || failed=1
}
check_added boxed_through_fallback 24
check_added boxed_through_profiler 250
check_added boxed_through_full_profiler 280
exit $failed
