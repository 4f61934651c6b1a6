#!/usr/bin/env bash
# The README's programs are those that are compiled here, its script is scripts/digits.ops, and each prints what the
# README says: `readme_test.sh ROOT BUILD`.
set -euo pipefail
root=$1
build=$2
readme=$root/README.md
failed=0

# The code block behind the line `<!-- $1 -->`.
block() { awk -v mark="<!-- $1 -->" '$0 == mark { found = 1; next } found && /^```/ { if (open) exit; open = 1; next } open' "$readme"; }
# The indented lines behind the first "It prints" after the line `<!-- $1 -->`.
output() { awk -v mark="<!-- $1 -->" '$0 == mark { found = 1 } found && /^It prints/ { seen = 1; next } seen && /^    / { print substr($0, 5); any = 1; next } any && !/^$/ { exit }' "$readme"; }

expect_same() {
  if ! diff -u <(printf '%s\n' "$2") <(printf '%s\n' "$3"); then
    echo "FAILED: $1"
    failed=1
  fi
}

for name in embed fallback; do
  expect_same "README block of tests/readme/$name.cpp" "$(block "tests/readme/$name.cpp")" "$(cat "$root/tests/readme/$name.cpp")"
  expect_same "output of tests/readme/$name.cpp" "$(output "tests/readme/$name.cpp")" "$("$build/readme_$name")"
done
expect_same "README block of scripts/digits.ops" "$(block script)" "$(cat "$root/scripts/digits.ops")"
expect_same "output of scripts/digits.ops" "correct 273 of 297" "$("$build/boxcar" run "$root/scripts/digits.ops")"
exit $failed
