#!/usr/bin/env bash
# Checks that a script's bytecode, written and read back, does the same as the script. Usage: bytecode_run_test.sh
# BOXCAR SCRIPT...
set -u
boxcar=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

for script in "$@"; do
  cd "$(dirname "$script")" || exit 1
  name=$(basename "$script")
  "$boxcar" run "$name" -- one --two > "$work/output" 2> "$work/errors" < /dev/null
  status=$?
  # Scripts that do not compile have no bytecode.
  "$boxcar" dis "$name" > "$work/text" 2> /dev/null || continue
  "$boxcar" asm --run "$work/text" -- one --two > "$work/asm_output" 2> "$work/asm_errors" < /dev/null
  asm_status=$?
  if [[ $status -ne $asm_status ]] || ! diff -u "$work/output" "$work/asm_output" ||
    ! diff -u "$work/errors" "$work/asm_errors"; then
    echo "FAILED: $name ends with status $status, its bytecode with $asm_status"
    failed=1
  fi
done
exit $failed
