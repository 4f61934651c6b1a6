#!/usr/bin/env bash
# Checks that each wrong kernel gives exactly one error message: `compile_errors_test.sh COMPILER FLAGS…`.
set -uo pipefail
source=$(dirname "$0")/wrong/kernels.cpp
errors=$({ "$@" -fsyntax-only "$source"; "$@" -fsyntax-only -DALONE "$source"; } 2>&1 | grep 'error:')
failures=0

# Expects COUNT errors whose message begins with SENTENCE.
expect() {  # COUNT SENTENCE
  local found
  found=$(grep -cF "$2" <<<"$errors")
  expected=$((expected + $1))
  if ((found == $1)); then return; fi
  echo "FAILED: $found errors instead of $1 say: $2"
  failures=$((failures + 1))
}

expected=0
expect 2 "a pair of parentheses is missing: it is makeFromBoxedFunction<&function>()"
expect 5 "a kernel takes and returns what schemas have types for"
expect 2 "a kernel is a function, BOXCAR_FN(function), a lambda or a functor with one operator()"
expect 1 "this is a boxed kernel: register it with CppFunction::makeFromBoxedFunction<&function>()"
expect 1 "a boxed kernel is void(const OperatorHandle&, Stack*)"

# Compilers add one error of their own for the call that cannot be made.
count=$(grep -c 'error:' <<<"$errors")
if ((count > expected + 1)); then
  echo "FAILED: there are $count errors instead of $expected:"
  failures=$((failures + 1))
fi
((failures == 0)) || echo "$errors"
exit $((failures != 0))
