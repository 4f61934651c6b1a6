#!/usr/bin/env bash
# What the pages beside the interpreter say of bytecode is so: opcodes.md is what the program prints of its opcodes, and
# the program of bytecode.md runs. Usage: bytecode_pages_test.sh BOXCAR INTERPRETER
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
