#!/usr/bin/env bash
# Checks that every test named in backquotes in a README, `Suite.Test`, exists: `readme_names_test.sh README
# EXECUTABLE...`.
set -euo pipefail
readme=$1
shift

named=$(grep -oE "\`[A-Z][A-Za-z0-9]*\.[A-Z][A-Za-z0-9]*\`" "$readme" | tr -d "\`" | sort -u)
if [[ -z $named ]]; then
  echo "FAILED: $readme names no test"
  exit 1
fi
there=$(for executable; do "$executable" --gtest_list_tests; done | awk '/^[^ ]/ { suite = $1; next } { print suite $1 }' | sort -u)
unknown=$(comm -23 <(echo "$named") <(echo "$there"))
if [[ -n $unknown ]]; then
  echo "FAILED: $readme names tests that do not exist:"
  echo "$unknown"
  exit 1
fi
