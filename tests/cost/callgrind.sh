# shellcheck shell=bash
# Sourced by the tests that count instructions: they have valgrind and a folder, $folder, or are skipped.
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# What fails inside $(…) ends the test, where its result is assigned on a line of its own.
set -e
shopt -s inherit_errexit

# How many instructions a command takes: `instructions [OPTION_OF_CALLGRIND...] COMMAND...`. One that fails has no count.
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
