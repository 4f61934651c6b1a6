#!/usr/bin/env bash
# Checks that the work of compiling a script, and of reading it at a prompt, is proportional to its length:
# `script_growth_test.sh BOXCAR`. Callgrind counts instructions for three lengths, each twice the one before. The second
# doubling must add about twice as many instructions as the first.
set -euo pipefail

boxcar=$1
# shellcheck source=callgrind.sh
source "$(dirname "${BASH_SOURCE[0]}")/callgrind.sh"

# Writes COUNT lines of a kind to $folder/input.
functions() { for ((i = 0; i < $1; ++i)); do echo "fn f_$i(int x) -> int { if x > $i { return x } else { return $i } }"; done; }
# A loop that hands types from each variable to the previous one, one variable per round of type inference.
handed_on() {
  for ((i = 0; i <= $1; ++i)); do echo "x_$i = $i"; done
  echo "while x_0 == 0 {"
  for ((i = 0; i < $1; ++i)); do echo "x_$i = x_$((i + 1))"; done
  echo "x_$1 = 'text'"
  echo "}"
}
# An input of many lines: after each line, the prompt must decide whether it was the last.
long_function() { echo "fn f(int x) -> int {" && statements "$1" && echo "return x" && echo "}"; }
statements() { for ((i = 0; i < $1; ++i)); do echo "x_$i = $i + 1"; done; }

failed=0
check() {  # KIND FEWEST COMMAND...
  local kind=$1 fewest=$2 counts=() times count ratio
  for times in 1 2 4; do
    "$kind" $((fewest * times)) >"$folder/input"
    count=$(instructions "${@:3}" <"$folder/input")
    counts+=("$count")
  done
  ((counts[0] < counts[1] && counts[1] < counts[2])) || { echo "$kind, ${*:4}: longer scripts take no more: ${counts[*]}"; exit 1; }
  ratio=$((100 * (counts[2] - counts[1]) / (counts[1] - counts[0])))
  echo "$kind, ${*:4}: $ratio % of what the doubling before added (at most 230)"
  ((ratio <= 230)) || failed=1
}
check functions 60 "$boxcar" check -
check statements 150 "$boxcar" check -
check handed_on 80 "$boxcar" check -
check long_function 80 "$boxcar" repl
exit $failed
