#!/usr/bin/env bash
# Tests `boxcar bench` as a program: its rows, JSON and chart, its counts, and what it rejects.
# Usage: bench_test.sh BOXCAR [counted], where "counted" means that callgrind can run the program.
set -u

source "$(dirname "$0")/expectations.sh"
counted=${2:-}

refuses() {  # STATUS TEXT WORDS…: the whole output of `boxcar bench WORDS…`
  local wanted=$1 text=$2
  shift 2
  runMerged "bench $*" bench "$@"
  expectStatus "$wanted"
  expectOutput "$text"
}

command -v python3 > /dev/null || { echo "skipped: JSON and SVG are read with python3"; exit 77; }

# Without an operator: every path of a call that does nothing, and the cost of boxing for sizes up to a million
# elements.
runMerged "bench" bench --quick --seconds 0.2 --json --svg chart.svg
[[ $status -eq 0 ]] || fail "bench --json: status $status" "$output"
output=$(printf '%s' "$output" | python3 -c '
import json, sys, xml.dom.minidom
report = json.load(sys.stdin)
calls = report["operators"]
titles = [call["call"] for call in calls]
assert titles == ["bench::no_op(float32[2], float32[2])", "aten::add.Tensor(float32[2], float32[2], 1)",
                  "aten::mm(float32[8, 8], float32[8, 8])",
                  "aten::add.Tensor(float32[1000000], float32[1000000], 1)"], titles
names = [row["name"] for row in calls[0]["rows"]]
skipped = {row["name"]: row["reason"] for row in calls[0]["skipped"]}
for wanted in ["C++ function", "typed call", "boxed call", "call in a script", "typed call, 1 fallthrough key",
               "typed call, 4 fallthrough keys", "typed call, 16 fallthrough keys",
               "typed call, a fallback that redispatches", "boxed call, a fallback that redispatches",
               "boxed call, a mode that redispatches", "boxed call, deny"]:
    assert wanted in names, (wanted, names, skipped)
for call in calls[1:]:
    assert [row["name"] for row in call["rows"]] == ["kernel alone", "typed call", "boxed call", "call in a script"]
rows = [row for call in calls for row in call["rows"]]
for row in rows:
    times = row["nanoseconds"]
    assert 0 < times["min"] <= times["first_quartile"] <= times["median"] <= times["third_quartile"], row
    assert row["ratio"] > 0 and row["instructions"] is None, row
for call in calls:
    assert call["ratio_to"] == "typed call"
    assert [row["ratio"] for row in call["rows"] if row["name"] == "typed call"] == [1.0], call
chart = xml.dom.minidom.parse("chart.svg")
texts = ["".join(node.data for node in text.childNodes) for text in chart.getElementsByTagName("text")]
assert len(chart.getElementsByTagName("rect")) == len(rows) + 1
for text in titles + names: assert text in texts, (text, texts)
' 2>&1) || fail "the report without operators" "$output"

# The sentence agrees with the table.
runMerged "bench" bench --quick --seconds 0.05 aten::relu
ratio=$(sed -nE 's/^  boxed call  .* ([0-9.]+)$/\1/p' <<< "$output")
[[ $status -eq 0 && -n $ratio && $output == *"A boxed call of aten::relu(float32[4, 4]) takes $ratio times as long as a typed one." ]] ||
  fail "the sentence under the table, with $ratio" "$output"

# All kinds of operators: with given arguments, with an unknown C++ type, defined by a script.
runMerged "bench" bench --quick --seconds 0.05 aten::mm --args '[ones([3, 2]), ones([2, 5])]'
[[ $status -eq 0 && $output == "aten::mm(float32[3, 2], float32[2, 5])
"* ]] || fail "--args" "$output"
runMerged "bench" bench --quick --seconds 0.05 aten::zeros
[[ $status -eq 0 && $output == *"of boxed"* && $output == *"
  typed call: not measured: its C++ type is none of those that this program has loops for" ]] || fail "an operator whose C++ type is not known" "$output"
echo 'op mine::twice(Tensor x, int times) -> Tensor { return x + times }' > mine.ops
runMerged "bench" bench --quick --seconds 0.05 --script mine.ops mine::twice
[[ $status -eq 0 && $output == "mine::twice(float32[4, 4], 1)
"* && $output == *"
  typed call  "* && $output != *"kernel alone"* ]] || fail "an operator of a script" "$output"

runMerged "bench --no-instructions counts none, even where valgrind is" bench --no-instructions --seconds 0.05 --json aten::relu
[[ $status -eq 0 && $output == *'"instructions": null'* && $(grep '"instructions"' <<< "$output") != *[0-9]* ]] || fail "$test_name" "$output"

# Callgrind's counts do not depend on the machine's load. Keys with a fallthrough cost nothing.
if [[ $counted == counted ]] && command -v valgrind > /dev/null; then
  runMerged "bench" bench --quick --seconds 0.05 --instructions --json aten::add_.Tensor
  output=$(printf '%s' "$output" | python3 -c '
import json, sys
rows = {row["name"]: row["instructions"] for row in json.load(sys.stdin)["operators"][0]["rows"]}
typed = rows["typed call"]
assert 0 < typed - rows["kernel alone"] <= 40, rows
for count in ["1 fallthrough key", "4 fallthrough keys", "16 fallthrough keys"]:
    assert rows["typed call, " + count] == typed, rows
assert rows["boxed call"] < rows["boxed call, a fallback that redispatches"] <= rows["boxed call"] + 50, rows
assert rows["boxed call"] < rows["call in a script"] < rows["boxed call"] + 400, rows
' 2>&1) || fail "what callgrind counts" "$output"
fi

remedy="give its arguments with --args '[…]', an expression, in this order: aten::mm(Tensor self, Tensor mat2) -> Tensor"
refuses 1 "boxcar: aten::add has several overloads; name one: aten::add.Tensor, aten::add.Scalar, aten::add.out" aten::add
refuses 1 "boxcar: aten::_print reads or writes outside of the program, so it cannot be called repeatedly; name another operator" aten::_print
refusesUsage() {  # TEXT WORDS…
  local text=$1
  shift
  refuses 2 "boxcar bench: $text
Run \`boxcar bench --help\` for its usage." "$@"
}
refusesUsage "--args gives no value for \`mat2\` of aten::mm, which has no default; $remedy" aten::mm --args '[ones([8, 8])]'
refusesUsage "--args gives 3 values, more than aten::mm takes; $remedy" aten::mm --args '[1, 2, 3]'
refusesUsage "\`mat2\` of aten::mm is of type Tensor, which value 2 of --args is not; $remedy" aten::mm --args '[ones(2), 3]'
list="--args must be a list, such as '[ones([8, 8]), 2]', in this order: aten::relu(Tensor self) -> Tensor"
refusesUsage "$list" aten::relu --args 1
runMerged "bench --args of what does not compile" bench aten::relu --args '[ones(2'
expectStatus 2
expectOutputHas "--args:1:"
expectOutputHas "
[ones(2
"
expectOutputHas "
boxcar bench: $list
"
[[ $output != *given* ]] || fail "$test_name shows its text alone" "$output"
runMerged "bench --args of what fails" bench aten::relu --args '[ones(-1)]'
expectStatus 2
expectOutputHas "  --args:1:2
    [ones(-1)]
     ^~~~~~~~
boxcar bench: $list
"
refuses 1 "boxcar: the values of --args do not fit aten::mm: mat2 must be a matrix, got a 1-D tensor; $remedy" \
  aten::mm --args '[ones([8, 8]), ones(8)]'
echo 'op mine::strict(Tensor x) -> Tensor { assert x.dim() == 3, "three dimensions, please"; return x }' > strict.ops
runMerged "bench" bench --script strict.ops mine::strict
[[ $status -eq 1 && $output == "boxcar: made-up arguments do not fit mine::strict: "*"three dimensions, please"*"; give its arguments with --args"* ]] ||
  fail "made-up arguments that do not fit" "$output"
refuses 2 "boxcar bench: --args: needs one OP, and gives its arguments
Run \`boxcar bench --help\` for its usage." --args '[]'
runMerged "bench --seconds nan" bench --seconds nan
expectStatus 2
expectOutputHas "boxcar bench: --seconds: it must be a number from 0.001 to 1000000"
refuses 1 "boxcar: cannot write 'none/chart.svg': No such file or directory" --svg none/chart.svg

output=$(TMPDIR=$folder/none "$boxcar" bench --quick aten::relu 2>&1)
[[ $output == "boxcar: the folder for temporary files cannot be used: "*"; set TMPDIR to one that can be written" ]] ||
  fail "a folder for temporary files that is missing" "$output"

# No files are left over.
mkdir empty
TMPDIR=$folder/empty "$boxcar" bench --quick --seconds 0.01 aten::relu > /dev/null
output=$(ls empty)
[[ -z $output ]] || fail "files are left" "$output"

# ---- Arguments of a recording ----

echo 'x = ones(3, 2); y = x @ ones(2, 5); z = y.add_(1); print(z.sum().item())' > recorded.ops
"$boxcar" record recorded.ops -o shapes.rec --shapes > /dev/null 2>&1
runMerged "--recorded" bench --quick --seconds 0.05 --recorded shapes.rec aten::matmul aten::add_.Scalar
expectStatus 0
expectOutputHas "aten::matmul(float32[3, 2], float32[2, 5])"
expectOutputHas "aten::add_.Scalar(float32[3, 5], 1"
runMerged "--recorded, all" bench --quick --seconds 0.05 --recorded shapes.rec --json
expectStatus 0
for op in aten::ones aten::matmul aten::add_.Scalar aten::sum aten::item; do expectOutputHas "$op("; done
# The bias, None, is omitted because it is the schema's default, so the arguments after it are passed by name.
echo 'x = conv2d(ones(1, 2, 4, 4), ones(3, 2, 3, 3), None, [2, 2], [1, 1]); y = x.clamp(None, 3.0)' > none.ops
"$boxcar" record none.ops -o none.rec > /dev/null 2>&1
runMerged "--recorded, with arguments that are None" bench --quick --seconds 0.05 --recorded none.rec aten::conv2d aten::clamp --json
expectStatus 0
expectOutputHas "aten::conv2d(float32[1, 2, 4, 4], float32[3, 2, 3, 3], None, [2, 2], [1, 1]"
expectOutputHas "aten::clamp(float32[1, 3, 2, 2], None, 3.0"
[[ $(grep -o '"call in a script"' <<< "$output" | wc -l) -eq 2 && $output != *"must be"* ]] ||
  fail "$test_name" "a script cannot make the calls:" "$output"
refuses 1 "boxcar: 'shapes.rec' has no call of aten::relu that can be made again; leave it out, or record a run that makes one" \
  --recorded shapes.rec aten::relu
refuses 1 "boxcar: cannot open 'missing.rec': No such file or directory" --recorded missing.rec
refuses 2 "boxcar bench: --args excludes --recorded
Run \`boxcar bench --help\` for its usage." aten::mm --recorded shapes.rec --args '[1]'

[[ $failures -eq 0 ]] || exit 1
