#!/usr/bin/env bash
# Tests record, replay and diff as a program, including an operator of a plugin.
# Usage: record_test.sh BOXCAR SCRIPTS PLUGIN
set -u

source "$(dirname "$0")/expectations.sh"
scripts=$2 plugin=$3

# ---- An example script ----

cp -r "$scripts/digits.ops" "$scripts/data" .
runMerged "record" record digits.ops -o full.rec
expectStatus 0
expectOutput "correct 273 of 297
13 calls are recorded in full.rec"
runMerged "replay" replay full.rec
expectStatus 0
expectOutput "full.rec: 13 calls, 10 equal, 3 not repeated because of effects outside of the program"
runMerged "diff with itself" diff full.rec full.rec
expectStatus 0
expectOutput "full.rec and full.rec are alike: 13 calls"

sed -i 's|/ 16$|/ 15|' digits.ops
runMerged "record --hashes" record --hashes digits.ops -o changed.rec
expectStatus 0
runMerged "diff with a changed script" diff full.rec changed.rec
expectStatus 1
expectOutput 'the runs differ at call 3: `other`: 16 in full.rec, 15 in changed.rec
  full.rec: aten::div.Scalar at digits.ops:9: x = data["test.images"].to(float32) / 16
  changed.rec: aten::div.Scalar at digits.ops:9: x = data["test.images"].to(float32) / 15
alike before it:
  call 0: io::load at digits.ops:7: data = io::load("data/digits.safetensors")
  call 1: io::load at digits.ops:8: net = io::load("data/digits_mlp.safetensors")
  call 2: aten::to.dtype at digits.ops:9: x = data["test.images"].to(float32) / 16'
runMerged "run --record" run --record 'shapes.rec,shapes=true' digits.ops
expectStatus 0
[[ $(stat -c %s shapes.rec) -lt $(($(stat -c %s full.rec) / 10)) ]] || fail "shapes take as much as elements"
runMerged "diff by shapes" diff shapes.rec changed.rec
expectStatus 0
expectOutput "shapes.rec and changed.rec are alike: 13 calls, by their shapes"
runMerged "replay of shapes" replay shapes.rec
expectStatus 1
expectOutput "boxcar: the recording 'shapes.rec' keeps the shapes of tensors, so that its calls can be measured, but there is nothing to compare a replay with; record the run in full"

# ---- A script that fails ----

printf 'x = ones(2)\ny = x @ ones(3)\nz = x + 1\n' > fails.ops
runMerged "record of a script that fails" record fails.ops -o fails.rec
expectStatus 1
expectOutput "3 calls are recorded in fails.rec
error: inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements, but got 2 and 3 elements respectively
  aten::matmul(self: float32[2], other: float32[3])
  fails.ops:2:5
    y = x @ ones(3)
        ^~~~~~~~~~~"
runMerged "replay of a failure" replay fails.rec
expectStatus 0
expectOutput "fails.rec: 3 calls, 3 equal"
echo 'x = y' > wrong.ops
runMerged "record of what is no script" record wrong.ops -o fails.rec
expectStatus 1
expectOutput 'no call was made, so that fails.rec is not written
wrong.ops:1:5: error: there is no variable or constant called `y`
x = y
    ^'

echo 'x = neg(tensor([-1.0]))' > one.ops
runMerged "record of one call" record one.ops -o one.rec
expectStatus 0
expectOutput "1 call is recorded in one.rec"
runMerged "replay of one call" replay one.rec
expectStatus 0
expectOutput "one.rec: 1 call, 1 equal"
runMerged "replay on another device compares what that has" replay one.rec --device meta
expectStatus 0
expectOutput "one.rec: 1 call, 1 equal in dtype and shape"
echo 'x = ones(2)
with fake() { y = ones(3) * 2 }
print(x)' > fakes.ops
runMerged "record fake tensors" record fakes.ops -o fakes.rec
expectStatus 0
runMerged "replay leaves out fake tensors" replay fakes.rec
expectStatus 0
expectOutput "fakes.rec: 4 calls, 1 equal, 1 not repeated because of effects outside of the program, 2 not repeated because fake tensors have no elements"
runMerged "replay on a device that is none" replay one.rec --device nowhere
expectStatus 2
expectOutputHas "boxcar replay: --device: device 'nowhere' has the unknown type 'nowhere'"
runMerged "replay within a tolerance" replay one.rec --atol 1
expectStatus 0
runMerged "diff of one call" diff one.rec one.rec
expectStatus 0
if [[ -w /dev/full ]]; then
  test_name="diff whose output cannot be written"
  errors=$("$boxcar" diff one.rec one.rec 2>&1 > /dev/full)
  status=$?
  expectStatus 2
  expectErrorsHave "cannot write the output"
fi
test_name="a recording that grows past what ulimit allows"
echo 'x = ones(200000)' > big.ops
# Not 0: ThreadSanitizer writes a small file before the program begins.
errors=$({ ulimit -f 100 && "$boxcar" record big.ops -o big.rec; } 2>&1)
status=$?
expectStatus 1
expectErrorsHave "cannot write 'big.rec': File too large"
expectOutput "one.rec and one.rec are alike: 1 call"

echo 'assert x[0].item() > 0, "no"' >> one.ops
runMerged "record of a run that ends well" record one.ops -o good.rec
sed -i 's/> 0/> 9/' one.ops
runMerged "record of a run that fails outside of operators" record one.ops -o bad.rec
expectStatus 1
runMerged "diff of runs of which one failed outside of operators" diff good.rec bad.rec
expectStatus 0
expectOutput "good.rec and bad.rec are alike: 3 calls
but the program of bad.rec failed after them"

# ---- A plugin's operator ----

echo 'print(test_plugin::twice(ones(2)))' > plugin.ops
runMerged "record with a plugin" --plugin "$plugin" record plugin.ops -o plugin.rec
expectStatus 0
expectOutput "tensor([2., 2.])
3 calls are recorded in plugin.rec"
runMerged "replay with the plugin" --plugin "$plugin" replay plugin.rec
expectStatus 0
expectOutput "plugin.rec: 3 calls, 2 equal, 1 not repeated because of effects outside of the program"
runMerged "replay without the plugin" replay plugin.rec
expectStatus 1
expectOutput "plugin.rec: 3 calls, 1 equal, 1 of operators that are missing, 1 not repeated because of effects outside of the program
test_plugin::twice is not registered: load the plugin 'good', which brought it, with --plugin"
runMerged "diff without the plugin" diff plugin.rec plugin.rec
expectStatus 0
expectOutput "plugin.rec and plugin.rec are alike: 3 calls"

# ---- Bad usage ----

expectBadUsage() {
  expectStatus 2
  expectOutput "$1
Run \`boxcar ${test_name%% *} --help\` for its usage."
}
runMerged "record without a file to write" record digits.ops
expectBadUsage "boxcar record: --output is required"
runMerged "record over the script" record digits.ops -o ./digits.ops
expectBadUsage "boxcar record: --output: './digits.ops' is the script itself: name another file"
echo 'fn f() -> int { return 1 }' > imported.ops
echo 'import "imported.ops"' > imports.ops
runMerged "record over what the script imports" record imports.ops -o imported.ops
expectStatus 1
expectOutputHas "cannot write 'imported.ops': this program already reads or writes it; name another file"
runMerged "record over what the script imports in the sandbox" record --sandbox imports.ops -o imported.ops
expectStatus 1
expectOutputHas "cannot write 'imported.ops': this program already reads or writes it; name another file"
[[ $(< imported.ops) == 'fn f() -> int { return 1 }' ]] || fail "the imported script is what it was"
test_name="record over where the output goes"
"$boxcar" record digits.ops -o /dev/stdout > kept.txt 2> errors.txt
status=$? errors=$(< errors.txt)
expectStatus 1
expectErrorsHave "this program already reads or writes it; name another file"
output=$("$boxcar" record digits.ops -o /dev/stdout 2>&1 | cat)
expectOutputHas "cannot write '/dev/stdout': it is not a regular file"
runMerged "bench over what it replays" bench --recorded full.rec --quick --svg full.rec
expectStatus 1
expectOutputHas "this program already reads or writes it; name another file"
runMerged "record of shapes and hashes" record digits.ops -o x.rec --shapes --hashes
expectBadUsage "boxcar record: --shapes excludes --hashes"
runMerged "replay with a tolerance that is none" replay full.rec --rtol -1
expectBadUsage "boxcar replay: --rtol: -1 is not a number of 0 or more"
runMerged "replay with an absolute tolerance that is none" replay full.rec --atol x
expectBadUsage "boxcar replay: --atol: x is not a number of 0 or more"
runMerged "diff of one recording" diff full.rec
expectBadUsage "boxcar diff: REC2 is required"
runMerged "diff with what is not a recording" diff full.rec digits.ops
expectStatus 2
expectOutput "boxcar: 'digits.ops' is not a recording: it does not begin like one; \`boxcar record\` makes recordings"
runMerged "replay of nothing" replay missing.rec
expectStatus 1
expectOutput "boxcar: cannot open 'missing.rec': No such file or directory"
# Changes one byte of a tensor.
cp full.rec changed_since.rec
printf '\x55' | dd of=changed_since.rec bs=1 seek=300000 conv=notrunc status=none
runMerged "diff with a file that has changed since" diff full.rec changed_since.rec
expectStatus 2
[[ $output == "boxcar: the recording 'changed_since.rec' is damaged at byte "*": a block does not match its checksum"* ]] ||
  fail "$test_name" "$output"
head -c 1000 full.rec > cut.rec
runMerged "replay of a part" replay cut.rec
expectStatus 1
[[ $output == "boxcar: the recording 'cut.rec' is damaged at byte "*"; record the run again" ]] || fail "$test_name" "$output"

# A recording keeps the zeros of a zero tensor.
echo 'z = aten::_efficientzerotensor([2, 3])
print((z[0] + ones(3)).sum().item())' > zero.ops
runMerged "record of a zero tensor" record zero.ops -o zero.rec
expectOutputHas "3.0"
runMerged "replay of a zero tensor" replay zero.rec
expectStatus 0
expectOutput "zero.rec: 7 calls, 6 equal, 1 not repeated because of effects outside of the program"

[[ $failures -eq 0 ]] || exit 1
