#!/usr/bin/env bash
# Holds the size of what a user installs, stripped and without CUDA: `size_test.sh AT_MOST PROGRAM LIBRARY`, in bytes.
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
[ "$total" -le "$at_most" ]
