#!/usr/bin/env bash
# Runs a script and compares what it does with what its comments expect:
#
#   # expect: text              the next line of its output
#   # expect error: text        a line `error: text…` of its error output; after code, the error must be at this line
#   # expect stderr: text       any other line of its error output, such as one of the call stack
#   # args: a b                 arguments after the script's name
#
# A script with an expected error must exit with status 1; any other must exit with 0 and print nothing to its error
# output unless it expects that. Usage: run_script_test.sh BOXCAR SCRIPT
set -u

boxcar=$1
name=$(basename "$2")
cd "$(dirname "$2")" || exit 1

expected_output=$(mktemp)
output=$(mktemp)
errors=$(mktemp)
trap 'rm -f "$expected_output" "$output" "$errors"' EXIT

sed -n 's/^\(.*[^#]\)\{0,1\}# expect: \{0,1\}//p' "$name" > "$expected_output"
read -r -a args < <(sed -n 's/^# args: //p' "$name")
"$boxcar" run "$name" "${args[@]}" > "$output" 2> "$errors" < /dev/null
status=$?

failed=0
complain() {
  echo "$name: $1"
  failed=1
}

if ! difference=$(diff --unchanged-line-format='  %L' --old-line-format='- %L' --new-line-format='+ %L' \
  "$expected_output" "$output"); then
  complain "the output differs (-: expected, +: printed)"
  echo "$difference"
fi

expected_errors=0
while IFS=: read -r line text; do
  code=${text%%# expect error: *}
  wanted="error: ${text#*# expect error: }"
  expected_errors=$((expected_errors + 1))
  if [[ $code =~ ^[[:space:]]*$ ]]; then
    grep -qF -- "$wanted" "$errors" || complain "no error output says '$wanted'"
  elif ! grep -F -- "$wanted" "$errors" | grep -qE "^$name:$line:[0-9]+: error: " &&
    ! grep -F -A2 -- "$wanted" "$errors" | grep -qE "^  $name:$line:[0-9]+"; then
    complain "no error output says '$wanted' at line $line"
  fi
done < <(grep -nF '# expect error: ' "$name")

while read -r wanted; do
  grep -qF -- "$wanted" "$errors" || complain "no error output says '$wanted'"
done < <(sed -n 's/^.*# expect stderr: //p' "$name")

# The source lines shown in errors contain the expectations themselves.
found_errors=$(grep -vF '# expect' "$errors" | grep -cE '^error: |^[^ ]+:[0-9]+:[0-9]+: error: ')
[[ $found_errors -eq $expected_errors ]] || complain "$found_errors errors instead of $expected_errors"

wanted_status=$((expected_errors > 0 ? 1 : 0))
[[ $status -eq $wanted_status ]] || complain "it ended with status $status instead of $wanted_status"
[[ $expected_errors -gt 0 || ! -s $errors ]] || grep -qF '# expect stderr: ' "$name" ||
  complain "something was written to the error output"

if [[ $failed -ne 0 && -s $errors ]]; then
  echo "its error output:"
  cat "$errors"
fi
exit $failed
