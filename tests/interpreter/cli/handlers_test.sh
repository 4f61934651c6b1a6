#!/usr/bin/env bash
# Handlers that the command line switches on for an unchanged script. Usage: handlers_test.sh BOXCAR
set -u

boxcar=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

expect() {  # STATUS STDOUT STDERR ARGUMENTS: what `boxcar ARGUMENTS` does
  local status=$1 output=$2 errors=$3 found
  shift 3
  found=$("$boxcar" "$@" 2> errors < /dev/null)
  found_status=$?
  [[ $found_status -eq $status && $found == "$output" && $(cat errors) == "$errors" ]] && return
  printf 'FAILED: boxcar %s: status %s\n%s\n%s\ninstead of: status %s\n%s\n%s\n' "$*" "$found_status" "$found" \
    "$(cat errors)" "$status" "$output" "$errors"
  failures=$((failures + 1))
}

cat > twice.ops <<'OPS'
print("begins")
x = relu(ones(2))
print(mm(ones(2, 2), ones(2, 2)).sum().item(), argv)
OPS
denied() {  # NAME PATTERN LINE COLUMN TEXT
  printf "error: %s is denied here by the pattern '%s': call another operator, or run without it\n  twice.ops:%s:%s\n    %s" "$@"
}

expect 0 "begins
8.0 ['a']" "" run --deny aten::add twice.ops a
expect 1 begins "$(denied aten::relu relu 2 5 'x = relu(ones(2))')" run twice.ops --deny relu
expect 1 begins "$(denied aten::relu 'aten::re*' 2 5 'x = relu(ones(2))')" run --deny mm --deny 'aten::re*' twice.ops
expect 1 begins "$(denied aten::relu relu 2 5 'x = relu(ones(2))')" run --deny pattern=relu twice.ops
expect 2 "" "boxcar run: --deny: 'n=3' is not understood. Behind the first value stand others by name: deny(str pattern) -> ()
Run \`boxcar run --help\` to see how it is called." run --deny relu,n=3 twice.ops
expect 2 "" "boxcar run: --deny: 1 required PATTERN missing
Run \`boxcar run --help\` to see how it is called." run twice.ops --deny

exit $((failures > 0))
