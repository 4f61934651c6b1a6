#!/usr/bin/env bash
# Checks the cost of a call, in instructions above a direct call: `call_cost_test.sh CALL_COST`. Counts are exact for
# one compiler and its flags, so the test runs only with the ones it was made for, and otherwise says so. The bounds are
# the measured counts; those of the profiler, which reads clocks, leave some room.
set -euo pipefail

program=$1
# shellcheck source=callgrind.sh
source "$(dirname "${BASH_SOURCE[0]}")/callgrind.sh"

# Prints the instructions of one call through path $1.
cost() {
  local few many
  few=$(instructions "$program" "$1" 1000)
  many=$(instructions "$program" "$1" 3000)
  echo $(((many - few) / 2000))
}

failed=0
check_above() {  # PATH AT_MOST BASE WHAT_IT_IS
  local spent above
  spent=$(cost "$1")
  above=$((spent - $3))    # negative if something went wrong
  echo "$1: $above $4 (at most $2)"
  ((above >= 0 && above <= $2)) || failed=1
}
check() { check_above "$1" "$2" "$direct" "above a direct call"; }
check_added() { check_above "$1" "$2" "$boxed" "added to a boxed call"; }

direct=$(cost direct)
echo "a direct call: $direct instructions"
((direct > 0)) || failed=1
check typed 30
check boxed 97
check typed_through_fallback 146
boxed=$(cost boxed)
check_added boxed_through_fallback 24
check_added boxed_through_mode 185
check_added boxed_through_profiler 250
check_added boxed_through_full_profiler 280
# The same for an operator that takes two tensors and returns one. Only these counts include what a call does with a
# result. The bounds are the measured counts; the boxed call also drops its result.
direct=$(cost direct_returning)
echo "a direct call that returns a tensor: $direct instructions"
((direct > 0)) || failed=1
check typed_returning 31
check boxed_returning 100
check typed_returning_through_fallback 160
boxed=$(cost boxed_returning)
check_added boxed_returning_through_fallback 24
exit $failed
