#!/usr/bin/env bash
# Tests handlers that the command line enables for an unchanged script. Usage: handlers_test.sh BOXCAR
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
  printf "error: %s is denied by the pattern '%s': call another operator, or run without deny\n  twice.ops:%s:%s\n    %s\n        ^~~~~~~~~~~~~" "$@"
}

expect 0 "begins
8.0 ['a']" "" run --deny aten::add twice.ops a
expect 1 begins "$(denied aten::relu relu 2 5 'x = relu(ones(2))')" run twice.ops --deny relu
expect 1 begins "$(denied aten::relu 'aten::re*' 2 5 'x = relu(ones(2))')" run --deny mm --deny 'aten::re*' twice.ops
expect 1 begins "$(denied aten::relu relu 2 5 'x = relu(ones(2))')" run --deny pattern=relu twice.ops
expect 2 "" "boxcar run: --deny: 'n=3' is not understood. After the first value, name the others: deny(str pattern) -> ()
Run \`boxcar run --help\` for its usage." run --deny relu,n=3 twice.ops
expect 2 "" "boxcar run: --deny needs a value: --deny PATTERN
Run \`boxcar run --help\` for its usage." run twice.ops --deny

# The overload without a name is `default`.
expect 1 begins "$(denied aten::relu aten::relu.default 2 5 'x = relu(ones(2))')" run twice.ops --deny aten::relu.default
expect 2 "" "boxcar run: --check-nan takes no value: write it as --check-nan, or leave it out
Run \`boxcar run --help\` for its usage." run --check-nan=false twice.ops
expect 2 "" "boxcar run: --sandbox takes no value: write it as --sandbox, or leave it out
Run \`boxcar run --help\` for its usage." run --sandbox=false twice.ops
expect 2 "" "boxcar run: --color: it must be always, auto or never, not 'alway'. Did you mean 'always'?
Run \`boxcar run --help\` for its usage." run --color alway twice.ops
expect 2 "" "boxcar ops: there are too many arguments: b, c
Run \`boxcar ops --help\` for its usage." ops a b c
expect 2 "" "boxcar run: --inject: 'corrupt' is not understood. Write corrupt=… After the first value, name the others: inject(str pattern, *, int n=1, bool corrupt=False, int seed=0, float probability=0.0) -> ()
Run \`boxcar run --help\` for its usage." run --inject relu,corrupt twice.ops
# Output files that would overwrite each other, or the script.
expect 2 "" "boxcar run: --trace: --record writes './a' already: name another file
Run \`boxcar run --help\` for its usage." run --record a --trace ./a twice.ops
[[ ! -e a ]] || fail "a refused command leaves no file"

# Bad file names and values are reported before anything is written; a file that cannot be written is a failure.
expectUsage() {  # MESSAGE ARGUMENTS…
  local message=$1
  shift
  expect 2 "" "boxcar $message
Run \`boxcar $1 --help\` for its usage." "$@"
}
for option in --trace --record --profile; do
  expectUsage "run: $option: an empty path names no file" run "$option" "" twice.ops
  expectUsage "run: $option: this needs a file, not standard output: name one, or ./- for a file called -" \
    run "$option" - twice.ops
done
expectUsage "run: --record: an empty path names no file" run --record , twice.ops
expectUsage "run: --record: a recording keeps shapes or hashes, not both: ask for hashes, which have the shapes" \
  run --record a,shapes=True,hashes=True twice.ops
for words in "trace --output" "trace -o a --dot" "trace -o a --svg" "profile --output" "profile --html" "record --output" \
  "bench --svg" "table --html"; do
  # shellcheck disable=SC2086
  set -- $words -
  expectUsage "$1: ${*: -2:1}: this needs a file, not standard output: name one, or ./- for a file called -" "$@"
done
[[ ! -e - && ! -e a ]] || fail "a refused command leaves no file"
expect 1 "" "boxcar: cannot write 'nowhere/a': No such file or directory" run --record nowhere/a twice.ops
run "a file that is called -" record twice.ops -o ./-
expectStatus 0
[[ -s ./- ]] || fail "$test_name is written"

# A pattern that matches no operator is reported before anything runs; operators of the script count.
expectUsage "run: --deny: no operator is called 'aten::Relu'. Did you mean 'aten::relu', 'aten::celu' or 'aten::elu'? \`boxcar ops\` lists all" \
  run --deny aten::Relu twice.ops
for pattern in "" "[" "no::*"; do
  run "--deny of '$pattern'" run --deny "$pattern" twice.ops
  expectStatus 2
  expectOutput ""
  expectErrorsHave "boxcar run: --deny: no operator is called '$pattern'."
done
expectUsage "record: --inject: no operator is called 'no::op'. \`boxcar ops\` lists all" record --inject no::op -o no.rec twice.ops
[[ ! -e no.rec ]] || fail "a refused command leaves no file"
cat > own.ops <<'OPS'
op own::twice(Tensor x) -> Tensor { return x + x }
print(own::twice(ones(1)).item())
OPS
run "an operator of the script, denied" run --deny 'own::*' own.ops
expectStatus 1
expectErrorsHave "error: own::twice is denied by the pattern 'own::*'"

[[ $failures -eq 0 ]]
