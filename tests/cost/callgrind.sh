# shellcheck shell=bash
# Sourced by the tests that count instructions: they have valgrind and a folder, $folder, or are skipped.
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The count in valgrind's own output, the file $1.
counted() { sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$1"; }
