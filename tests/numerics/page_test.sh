#!/usr/bin/env bash
# Checks that the page of operators agrees with the schemas and the kept cases: `page_test.sh NUMERICS_TESTS PAGE`.
set -euo pipefail
if ! diff -u "$2" <("$1" --page); then
  echo "FAILED: $2 is out of date; ./dev numerics --page > $2"
  exit 1
fi
