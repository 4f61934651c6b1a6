#!/usr/bin/env bash
# Checks the size of what a user installs, stripped and without CUDA: `size_test.sh AT_MOST PROGRAM LIBRARY`, in bytes.
# Also checks that the library exports no function types, which are most of what a compiler exports by default, and that its
# thread-local variables fit where Python opens it.
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
# Python opens the library when it runs already. glibc then has about 1,600 bytes for the thread-local variables of all
# such libraries together, and beyond that `import` fails.
library=${*: -1}
static_bytes=$((16#$(readelf -lW "$library" | awk '$1 == "TLS" {sub("0x", "", $6); print $6}')))
echo "${library##*/}: $static_bytes bytes of thread-local variables (at most 1200)"
((static_bytes > 0 && static_bytes <= 1200))
[ "$total" -le "$at_most" ]
