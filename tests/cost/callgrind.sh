# shellcheck shell=bash
# Sourced by the tests that count instructions: gives them a folder, $folder, or skips them if valgrind is missing.
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A failure inside $(…) ends the test if its result is assigned on a separate line.
set -e
shopt -s inherit_errexit

# `instructions [OPTION_OF_CALLGRIND...] COMMAND...` prints the instructions that COMMAND takes. Fails if COMMAND fails.
instructions() {
  local count status=0
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" >"$folder/out" 2>"$folder/errors" || status=$?
  count=$(sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$folder/errors")
  if ((status != 0)) || [[ ! $count =~ ^[0-9]+$ ]]; then
    cat "$folder/out" "$folder/errors" >&2
    echo "'$*' ended with status $status under callgrind, which counted '$count'; it must end with 0, and one count" >&2
    exit 1
  fi
  echo "$count"
}
