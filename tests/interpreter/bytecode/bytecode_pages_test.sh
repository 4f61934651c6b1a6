#!/usr/bin/env bash
# Checks the pages on bytecode beside the interpreter: opcodes.md must equal what the program prints about its opcodes,
# and the program in bytecode.md must run. Usage: bytecode_pages_test.sh BOXCAR INTERPRETER
set -euo pipefail
boxcar=$1
interpreter=$2
failed=0

if ! diff -u "$interpreter/opcodes.md" <("$boxcar" dis --opcodes); then
  echo "FAILED: opcodes.md is out of date; write it anew with: boxcar dis --opcodes > interpreter/opcodes.md"
  failed=1
fi

program=$(awk '/^boxcar bytecode/ { inside = 1 } /^```/ { inside = 0 } inside' "$interpreter/bytecode.md")
output=$("$boxcar" asm --run - <<< "$program")
if [[ $output != 49 ]]; then
  echo "FAILED: the program of bytecode.md printed '$output' instead of 49"
  failed=1
fi
exit $failed
