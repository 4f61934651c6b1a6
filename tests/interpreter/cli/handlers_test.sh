#!/usr/bin/env bash
# Handlers that the command line switches on for an unchanged script. Usage: handlers_test.sh BOXCAR
set -u

source "$(dirname "$0")/expectations.sh"

expect() {  # STATUS STDOUT STDERR ARGUMENTS…
  local wanted_status=$1 wanted_output=$2 wanted_errors=$3
  shift 3
  run "$*" "$@"
  expectStatus "$wanted_status"
  expectOutput "$wanted_output"
  expectErrors "$wanted_errors"
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

# What is misspelt refuses nothing, and says so; the overload without a name is `default`.
expect 0 "begins
8.0 []" "deny 'aten::Relu': no operator has such a name" run --deny aten::Relu twice.ops
expect 1 begins "$(denied aten::relu aten::relu.default 2 5 'x = relu(ones(2))')" run twice.ops --deny aten::relu.default
expect 2 "" "boxcar run: check-nan was given a disallowed flag override
Run \`boxcar run --help\` to see how it is called." run --check-nan=false twice.ops
expect 2 "" "boxcar run: --inject: 'corrupt' is not understood. Write corrupt=… Behind the first value stand others by name: inject(str pattern, *, int n=1, bool corrupt=False, int seed=0, float probability=0.0) -> ()
Run \`boxcar run --help\` to see how it is called." run --inject relu,corrupt twice.ops
# Files that would take each other's place, or the script's.
expect 2 "" "boxcar run: --trace: --record writes './a' already: name another file
Run \`boxcar run --help\` to see how it is called." run --record a --trace ./a twice.ops
[[ ! -e a ]] || fail "a refused command leaves no file"

[[ $failures -eq 0 ]]
