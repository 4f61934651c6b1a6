# shellcheck shell=bash
# Sourced by the tests of the program, whose first argument is the program. Gives them a temporary working folder,
# functions that run the program, and functions that check its output. The tests end with `[[ $failures -eq 0 ]]`.

boxcar=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
exec < /dev/null
failures=0

fail() {
  echo "FAILED: $1"
  shift
  printf '  %s\n' "$@"
  failures=$((failures + 1))
}

# Runs the program with the arguments after the test's name; sets $status, $output and $errors.
run() {
  test_name=$1
  shift
  output=$("$boxcar" "$@" 2> errors.txt)
  status=$?
  errors=$(< errors.txt)
}

# The same, with standard error merged into $output.
runMerged() {
  test_name=$1
  shift
  output=$("$boxcar" "$@" 2>&1)
  status=$?
  errors=
}

expectStatus() { [[ $status -eq $1 ]] || fail "$test_name" "status $status instead of $1" "${errors:-$output}"; }
expectOutput() { [[ $output == "$1" ]] || fail "$test_name" "it printed:" "$output" "instead of:" "$1"; }
expectErrors() { [[ $errors == "$1" ]] || fail "$test_name" "its error output was:" "$errors" "instead of:" "$1"; }
expectOutputHas() { [[ $output == *"$1"* ]] || fail "$test_name" "it printed:" "$output" "without:" "$1"; }
expectErrorsLike() { [[ $errors =~ $1 ]] || fail "$test_name" "its error output was:" "$errors" "which is not like:" "$1"; }
expectErrorsHave() { [[ $errors == *"$1"* ]] || fail "$test_name" "its error output was:" "$errors" "without:" "$1"; }
