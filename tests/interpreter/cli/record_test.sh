#!/usr/bin/env bash
# record, replay and diff from outside, also of a plugin's operator.
# Usage: record_test.sh BOXCAR SCRIPTS PLUGIN
set -u

boxcar=$1 scripts=$2 plugin=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

run() { output=$("$boxcar" "$@" 2>&1 < /dev/null); status=$?; }
check() {  # NAME EXPECTED-STATUS EXPECTED-TEXT: of what was just run
  [[ $status -eq $2 && $output == "$3" ]] && return
  printf 'FAILED: %s: status %s instead of %s\n%s\ninstead of:\n%s\n' "$1" "$status" "$2" "$output" "$3"
  failures=$((failures + 1))
}

# ---- A script that is shown to users ----

cp -r "$scripts/digits.ops" "$scripts/data" .
run record digits.ops -o full.rec
check "record" 0 "correct 273 of 297
13 calls are recorded in full.rec"
run replay full.rec
check "replay" 0 "full.rec: 13 calls, 10 equal, 3 not made again as acting outside of the program"
run diff full.rec full.rec
check "diff with itself" 0 "full.rec and full.rec are alike: 13 calls"

sed -i 's|/ 16$|/ 15|' digits.ops
run record --hashes digits.ops -o changed.rec
run diff full.rec changed.rec
check "diff with a changed script" 1 'the runs part at call 3: `other`: 16 in full.rec, 15 in changed.rec
  full.rec: aten::div.Scalar at digits.ops:9: x = data["test.images"].to(float32) / 16
  changed.rec: aten::div.Scalar at digits.ops:9: x = data["test.images"].to(float32) / 15
alike before it:
  call 0: io::load at digits.ops:7: data = io::load("data/digits.safetensors")
  call 1: io::load at digits.ops:8: net = io::load("data/digits_mlp.safetensors")
  call 2: aten::to.dtype at digits.ops:9: x = data["test.images"].to(float32) / 16'
run run --record 'shapes.rec,shapes=true' digits.ops
[[ $(stat -c %s shapes.rec) -lt $(($(stat -c %s full.rec) / 10)) ]] || { echo "FAILED: shapes take as much as elements"; failures=$((failures + 1)); }
run diff shapes.rec changed.rec
check "diff by shapes" 0 "shapes.rec and changed.rec are alike: 13 calls, by their shapes"
run replay shapes.rec
check "replay of shapes" 1 "boxcar: the recording 'shapes.rec' keeps the shapes of tensors, so that its calls can be measured, but there is nothing to compare a replay with; record the run in full"

# ---- A script that fails ----

printf 'x = ones(2)\ny = x @ ones(3)\nz = x + 1\n' > fails.ops
run record fails.ops -o fails.rec
check "record of a script that fails" 1 "3 calls are recorded in fails.rec
error: inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements, but got 2 and 3 elements respectively
  fails.ops:2:5
    y = x @ ones(3)"
run replay fails.rec
check "replay of a failure" 0 "fails.rec: 3 calls, 3 equal"
echo 'x = y' > wrong.ops
run record wrong.ops -o fails.rec
check "record of what is no script" 1 'no call was made, so that fails.rec is not written
wrong.ops:1:5: error: there is no variable or constant called `y`
x = y
    ^'

# ---- A plugin's operator ----

echo 'print(test_plugin::twice(ones(2)))' > plugin.ops
run --plugin "$plugin" record plugin.ops -o plugin.rec
check "record with a plugin" 0 "tensor([2., 2.])
3 calls are recorded in plugin.rec"
run --plugin "$plugin" replay plugin.rec
check "replay with the plugin" 0 "plugin.rec: 3 calls, 2 equal, 1 not made again as acting outside of the program"
run replay plugin.rec
check "replay without the plugin" 1 "plugin.rec: 3 calls, 1 equal, 1 of operators that are missing, 1 not made again as acting outside of the program
test_plugin::twice is not registered: load the plugin 'good', which brought it, with --plugin"
run diff plugin.rec plugin.rec
check "diff without the plugin" 0 "plugin.rec and plugin.rec are alike: 3 calls"

# ---- Bad usage ----

usage() {  # NAME EXPECTED-TEXT: of what was just run
  check "$1" 2 "$2
Run \`boxcar ${1%% *} --help\` to see how it is called."
}
run record digits.ops
usage "record without a file to write" "boxcar record: --output is required"
run record digits.ops -o ./digits.ops
usage "record over the script" "boxcar record: --output: './digits.ops' is the script itself, which would be replaced"
run record digits.ops -o x.rec --shapes --hashes
usage "record of shapes and hashes" "boxcar record: --shapes excludes --hashes"
run replay full.rec --rtol -1
usage "replay with a tolerance that is none" "boxcar replay: --rtol: -1 is no number of 0 or more"
run diff full.rec
usage "diff of one recording" "boxcar diff: REC2 is required"
run diff full.rec digits.ops
check "diff with what is no recording" 2 "boxcar: 'digits.ops' is no recording; \`boxcar record FILE -o digits.ops\` makes one"
run replay missing.rec
check "replay of nothing" 1 "boxcar: cannot open 'missing.rec': No such file or directory"
head -c 1000 full.rec > cut.rec
run replay cut.rec
[[ $status -eq 1 && $output == "boxcar: the recording 'cut.rec' is damaged at byte "*"; record the run again" ]] ||
  { echo "FAILED: replay of a part: $output"; failures=$((failures + 1)); }

[[ $failures -eq 0 ]] || exit 1
