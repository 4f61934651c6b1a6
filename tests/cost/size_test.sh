#!/usr/bin/env bash
# Checks the size of what a user installs, stripped and without CUDA: `size_test.sh AT_MOST PROGRAM LIBRARY`, in bytes.
# Also checks that the library exports no function types, which are most of what a compiler exports by default.
set -euo pipefail

at_most=$1
shift
total=0
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
for file; do
  strip -o "$stripped" "$file"
  bytes=$(stat -c %s "$stripped")
  echo "${file##*/}: $bytes bytes"
  total=$((total + bytes))
done
echo "together: $total bytes (at most $at_most)"
names=$(nm -D --defined-only "${@: -1}")
if grep -m 3 ' _ZT[IS]F' <<<"$names"; then
  echo "${*: -1} exports these types of functions, which cmake/libboxcar.map should keep in"
  exit 1
fi
grep -q ' _ZTI' <<<"$names" || { echo "nm tells of no type that ${*: -1} exports, and it has some"; exit 1; }
[ "$total" -le "$at_most" ]
