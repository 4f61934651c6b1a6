#!/usr/bin/env bash
# Tests the tests that count instructions, with a fake valgrind: they must fail if a program crashes or is not counted.
set -uo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
failures=0

# The fake valgrind: a call of call_cost takes 5 instructions, and $BOXED more through any path except `direct`.
cat >"$sandbox/valgrind" <<'FAKE'
#!/bin/bash
shift 2
while [[ $1 == --* ]]; do shift; done
case $1 in
  call_cost)
    [[ $2 != "${CRASHES:-}" ]] || exit 139
    [[ $2 != "${UNCOUNTED:-}" ]] || exit 0
    [[ $2 == direct ]] && each=5 || each=$((BOXED + 5))
    echo "==1== Collected : $((1000 + $3 * each))" >&2 ;;
  boxcar)
    # `run` gets an empty script; `check` and `repl` get lines.
    [[ $2 != "${CRASHES:-}" ]] || exit 1
    lines=0
    if [[ $2 != run ]]; then lines=$(wc -l); fi
    echo "==1== Collected : $((1000 + lines * ${EACH_LINE:-10}))" >&2 ;;
  *) [[ ${CRASHES:-} != start ]] && echo "==1== Collected : 1000" >&2 ;;
esac
FAKE
chmod +x "$sandbox/valgrind"

# Runs a test of this folder; SETTINGs are the variables that the fake reads.
expect() {  # STATUS PATTERN SETTING... -- TEST ARGUMENTS...
  local wanted=$1 pattern=$2 settings=() output status=0
  shift 2
  while [[ $1 != -- ]]; do settings+=("$1") && shift; done
  shift
  output=$(env PATH="$sandbox:$PATH" "${settings[@]}" "$here/$1" "${@:2}" 2>&1) || status=$?
  # shellcheck disable=SC2053
  [[ $status == "$wanted" && $output == $pattern ]] && return
  printf '%s: status %s is not %s, or the output is not %s:\n%s\n' "$1 ${settings[*]}" "$status" "$wanted" "$pattern" "$output"
  failures=$((failures + 1))
}

call_cost=(-- call_cost_test.sh call_cost)
expect 1 '*boxed: 90 above a direct call*fallback: 0 added*' BOXED=90 "${call_cost[@]}"    # a typed call may cost 30
expect 0 '*typed: 20 above a direct call*' BOXED=20 "${call_cost[@]}"
expect 1 '*typed: -2 above a direct call*' BOXED=-2 "${call_cost[@]}"
for path in direct typed boxed boxed_through_fallback boxed_through_full_profiler; do
  expect 1 "*'call_cost $path 1000' ended with status 139 *" BOXED=20 CRASHES=$path "${call_cost[@]}"
  expect 1 "*'call_cost $path 1000' ended with status 0 under callgrind, which counted ''*" BOXED=20 UNCOUNTED=$path "${call_cost[@]}"
done
start_cost=(-- start_cost_test.sh empty_program boxcar)
expect 0 '*empty script: 1000 instructions*' CRASHES= "${start_cost[@]}"
expect 1 '*empty_program* ended with status 1 *' CRASHES=start "${start_cost[@]}"
expect 1 '*boxcar run * ended with status 1 *' CRASHES=run "${start_cost[@]}"
script_growth=(-- script_growth_test.sh boxcar)
expect 0 '*functions, check -: 200 % *statements, check -: 200 % *handed_on, check -: 200 % *long_function, repl: 200 % *' EACH_LINE=10 "${script_growth[@]}"
expect 1 "*'boxcar check -' ended with status 1 *" CRASHES=check "${script_growth[@]}"
expect 1 '*longer scripts take no more*' EACH_LINE=0 "${script_growth[@]}"
echo "$failures failed expectations"
((failures == 0))
