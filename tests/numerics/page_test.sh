#!/usr/bin/env bash
# The page of operators is what the schemas and the kept cases say: `page_test.sh NUMERICS_TESTS PAGE`.
set -euo pipefail
if ! diff -u "$2" <("$1" --page); then
  echo "FAILED: $2 is out of date; ./dev numerics --page > $2"
  exit 1
fi
