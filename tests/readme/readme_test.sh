#!/usr/bin/env bash
# Checks that the programs in READMEs equal the ones compiled here, that the script equals scripts/digits.ops, and that
# each prints what the README says: `readme_test.sh ROOT BUILD`. manual_test.py runs the other examples of
# interpreter/README.md and dispatcher/handlers/README.md.
set -euo pipefail
root=$1
build=$2
readme=$root/README.md
failed=0

# Prints the code block after the line `<!-- $1 -->`.
block() { awk -v mark="<!-- $1 -->" '$0 == mark { found = 1; next } found && /^```/ { if (open) exit; open = 1; next } open' "$readme"; }
# Prints the indented lines that follow the first "It prints" after the line `<!-- $1 -->`.
output() { awk -v mark="<!-- $1 -->" '$0 == mark { found = 1 } found && /^It prints/ { seen = 1; next } seen && /^    / { print substr($0, 5); any = 1; next } any && !/^$/ { exit }' "$readme"; }

expect_same() {
  if ! diff -u <(printf '%s\n' "$2") <(printf '%s\n' "$3"); then
    echo "FAILED: $1"
    failed=1
  fi
}

# Checks the code block and the output of tests/readme/$1.cpp in $readme.
expect_program() {
  expect_same "block of tests/readme/$1.cpp in $readme" "$(block "tests/readme/$1.cpp")" "$(cat "$root/tests/readme/$1.cpp")"
  expect_same "output of tests/readme/$1.cpp in $readme" "$(output "tests/readme/$1.cpp")" "$("$build/readme_$1")"
}

expect_program fallback
expect_same "README block of scripts/digits.ops" "$(block script)" "$(cat "$root/scripts/digits.ops")"
expect_same "output of scripts/digits.ops" "correct 273 of 297" "$("$build/boxcar" run "$root/scripts/digits.ops")"
readme=$root/cmake/README.md
expect_program embed
expect_program train
readme=$root/ivalue/README.md
expect_program dlpack
readme=$root/interpreter/README.md
expect_program program
readme=$root/dispatcher/handlers/README.md
expect_program handler

# Checks that the versions in COMPATIBILITY.md agree with the code.
expect_has() { grep -qF -- "$2" "$1" || { echo "FAILED: $1 does not say '$2'" && failed=1; }; }
version=$("$build/boxcar" --version | sed -n 's/^boxcar //p')
expect_has "$root/COMPATIBILITY.md" "It is $version."
expect_has "$root/COMPATIBILITY.md" "find_package(boxcar ${version%.*})"
expect_has "$root/COMPATIBILITY.md" "\`$(sed -n 's/.*kBytecodeHeader = "\(.*\)";/\1/p' "$root/interpreter/bytecode/bytecode_text.h")\`"
expect_has "$root/COMPATIBILITY.md" "magic bytes, $(sed -n 's/.*kRecordingFormat = \([0-9]*\);/\1/p' "$root/dispatcher/handlers/record/recording.h") ("
exit $failed
