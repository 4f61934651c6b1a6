#!/usr/bin/env bash
# Tests the program's description of itself: help, the manual page, and shell completion.
# Usage: help_test.sh BOXCAR SOURCE
set -u

source=$2
# shellcheck source=tests/interpreter/cli/expectations.sh
source "$(dirname "$0")/expectations.sh"
export LC_ALL=C.UTF-8

# ---- Help ----

run "--help fits a screen of 80 columns and 24 lines, with a prompt below" --help
expectStatus 0
(($(wc -l <<< "$output") <= 23)) || fail "$test_name" "$output"
(($(wc -L <<< "$output") <= 80)) || fail "$test_name" "$output"
commands=$(sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p; s/^Further commands: //p' <<< "$output" | tr -d ',' | tr ' ' '\n')
(($(wc -l <<< "$commands") >= 15)) || fail "the commands are listed" "$commands"

options=
for command in $commands; do
  run "$command --help fits 80 columns, and ends with examples" "$command" --help
  (($(wc -L <<< "$output") <= 80)) || fail "$test_name" "$output"
  [[ $(sed -n '/^Examples:$/,$p' <<< "$output") == *"boxcar $command"* ]] || fail "$test_name" "$output"
  options+=$(grep -oE '^ +--?[a-z-]+(, --[a-z-]+)*' <<< "$output" | grep -oE -- '--?[a-z-]+')$'\n'
done
options=$(sort -u <<< "$options" | sed '/^$/d')
(($(wc -l <<< "$options") >= 40)) || fail "the options are listed" "$options"

# ---- Every command and option has a test ----

tests=$(find "$(dirname "$0")" "$source/tests/scripts" "$source/tests/readme" \( -name '*_test.sh' -o -name '*_test.py' \) ! -name help_test.sh)
# shellcheck disable=SC2086
for command in $commands; do
  grep -qE -- "(^|[ \"'(])(run|runMerged|\"\\\$boxcar\"|boxcar|BOXCAR|program) (\"[^\"]*\" )?\"?${command}\b|[\"']${command}[\"']" $tests ||
    fail "boxcar $command is called in a test" "no test in $(dirname "$0") calls it"
done
# shellcheck disable=SC2086
for option in $options; do
  grep -qE -- "(^|[^a-z-])$option([^a-z-]|$)" $tests || fail "$option is given in a test" "no test in $(dirname "$0") gives it"
done

# ---- The manual page ----

run "the manual page" manual-page
expectStatus 0
echo "$output" > boxcar.1
plain=${output//\\-/-}
for command in $commands; do [[ $plain == *".SS \"boxcar $command"* ]] || fail "$test_name has $command"; done
for option in $options --help --version --plugin --color --no-progress; do
  grep -qE -- "^\.B (.*, )?$option([ ,[]|$)" <<< "$plain" || fail "$test_name has $option"
done
for status in 0 1 2 130; do grep -q "^\.B $status$" <<< "$plain" || fail "$test_name has the exit status $status"; done
# The environment variables that the sources read, including names kept in constants.
variables=$(grep -rhoE 'getenv\("[A-Z0-9_]+"\)|(variable|asksForTrace|isSwitchedOn)\("[A-Z_]+"\)|"OPENBLAS_CORETYPE"' --include=*.cpp --include=*.h \
  "$source"/{ivalue,schema,dispatcher,backends,interpreter} | grep -oE '[A-Z0-9_]{4,}' | sort -u)
for variable in BOXCAR_NUM_THREADS BOXCAR_SHOW_DISPATCH_TRACE NO_COLOR $variables; do
  grep -qE "^\.B (.*, )?$variable(,|$)" <<< "$plain" || fail "$test_name has the variable $variable"
done
if command -v groff > /dev/null; then
  warnings=$(groff -man -ww -z -K utf8 boxcar.1 2>&1)
  [[ -z $warnings ]] || fail "groff has nothing to say of the manual page" "$warnings"
  text=$(groff -man -Tutf8 -P-cbou boxcar.1 2> /dev/null)
  [[ $text == *"[,shapes=…]"* ]] || fail "the manual page keeps what is no ASCII" "$text"
else
  echo "groff is not installed: the manual page is not laid out"
fi

# ---- Completion in bash ----

run "completion bash" completion bash
expectStatus 0
echo "$output" > completion.bash
touch one.ops two.ops other.txt 'with space.ops' plug.so
mkdir -p folder
# Prints the completions at the end of LINE, which is split into words like readline does.
offered() {
  PATH=$(dirname "$boxcar"):$PATH "$BASH" --norc -c '
    source ./completion.bash
    compopt() { :; }  # works only in a completion that readline starts
    COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=()
    rest=$1
    while [[ $rest =~ ^[[:space:]]*([:=]+|[^[:space:]:=]+)(.*)$ ]]; do COMP_WORDS+=("${BASH_REMATCH[1]}") rest=${BASH_REMATCH[2]}; done
    if [[ $1 == *[[:space:]] ]]; then COMP_WORDS+=(""); fi
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _boxcar "$2"
    printf "%s\n" "${COMPREPLY[@]}"' _ "$1" "$boxcar" | sort | paste -sd' '
}
expectOffer() {  # LINE OFFER
  local found
  found=$(offered "$1")
  [[ $found == "$2" ]] || fail "bash completes '$1'" "it offered: $found" "instead of: $2"
}
expectOffer "boxcar re" "record repl replay"
expectOffer "boxcar --color=never re" "record repl replay"
expectOffer "boxcar --plugin plug.so --no-progress re" "record repl replay"
expectOffer "boxcar run --max" "--max-depth --max-instructions --max-memory --max-seconds"
expectOffer "boxcar run --no-p" "--no-prepare --no-progress"
expectOffer "boxcar run o" "one.ops"
expectOffer "boxcar run --sandbox --threads 2 o" "one.ops"
expectOffer "boxcar run --threads " ""
expectOffer "boxcar run one.ops o" "one.ops other.txt"
expectOffer "boxcar run one.ops -- o" "one.ops other.txt"
expectOffer "boxcar run --allow-read " "folder"
expectOffer "boxcar run --cpu-fallback t" "two.ops"
expectOffer "boxcar ops --script o" "one.ops"
expectOffer "boxcar asm o" "one.ops other.txt"
expectOffer "boxcar --plugin p" "plug.so"
expectOffer "boxcar profile one.ops --sort m" "memory"
expectOffer "boxcar profile one.ops --sort=m" "memory"
expectOffer "boxcar --color=a" "always auto"
expectOffer "boxcar run --color n" "never"
expectOffer "boxcar completion " "bash zsh"
expectOffer "boxcar table aten::celu" "celu celu_"
expectOffer "boxcar explain aten::celu_" "celu_"
expectOffer "boxcar run --deny aten::celu" "celu celu_"
expectOffer "boxcar run --inject=aten::celu" "celu celu_"
expectOffer "boxcar ops aten::celu" "celu celu_"
expectOffer "boxcar ops --key AutogradC" "AutogradCPU AutogradCUDA"
expectOffer "boxcar ops --key CompositeI" "CompositeImplicitAutograd CompositeImplicitAutogradNestedTensor"
expectOffer "boxcar explain --include Trac" "Tracer"
expectOffer "boxcar explain --exclude AutogradC" ""
expectOffer "boxcar nonsense --c" "--color"
for command in $commands; do [[ " $(offered "boxcar ") " == *" $command "* ]] || fail "bash completes $command"; done

[[ $failures -eq 0 ]] || exit 1
