#!/usr/bin/env bash
# Tests `boxcar profile`, `boxcar run --profile` and `with profile(…)` as a program.
# Usage: profile_test.sh BOXCAR PLUGIN, where the plugin has an operator test_plugin::twice
set -u

source "$(dirname "$0")/expectations.sh"
plugin=$2

expect() {  # STATUS OUTPUT PATTERN-OF-ERRORS
  expectStatus "$1"
  expectOutput "$2"
  expectErrorsLike "$3"
}
# Prints the number of calls of operator $2 in the trace $1.
calls() { grep -c "^{\"name\":\"$2\",\"cat\":\"operator\",\"ph\":\"X\"" "$1"; }

cat > script.ops <<'OPS'
op mine::block(Tensor x) -> Tensor { return relu(x @ x) }
x = ones([4, 4])
for i in range(10) { x = mine::block(x) / 4 }
print(x.sum().item(), argv)
OPS

run "the table goes to stderr, the script's output to stdout" profile script.ops -o trace.json --html page.html --sort calls --limit 2 -- one
expect 0 "16.0 ['one']" \
  '^Name +Self CPU % +Self CPU +CPU total % +CPU total +CPU time avg +Self CPU Mem +# of Calls
[a-z:A-Z.]+ .* 10
[a-z:A-Z.]+ .* 10
… and [0-9]+ more
Wall time of the run: [0-9.]+[mu]?s
In operators: [0-9.]+[mu]?s \([0-9.]+%\), in 5[0-9] calls
Dispatch: about .*, an estimate: [0-9]+ ns a call, measured here on an operator that does nothing
The profiler itself: about .*, an estimate: [0-9]+ ns a call beside these$'
[[ $(calls trace.json mine::block) -eq 10 ]] || fail "a script's operator is in the trace"
[[ $(calls trace.json aten::mm) -eq 10 ]] || fail "what the script's operator calls is in the trace"
[[ $(head -c 15 page.html) == '<!DOCTYPE html>' ]] || fail "the page is written"

run "--by-shape" profile script.ops --by-shape
expect 0 "16.0 []" 'Input Shapes
.*aten::mm .* 10  \[4, 4\], \[4, 4\]'

cat > layers.ops <<'OPS'
fn block(Tensor x, int times) -> Tensor {
    for i in range(times) { x = relu(x) }
    return x
}
op mine::twice(Tensor x) -> Tensor { return block(x, 2) + block(x, 3) }
x = mine::twice(ones([4, 4]))
y = block(x, 5)
OPS
run "--by-line" profile layers.ops --by-line --sort calls
expect 0 "" '^Line +Self CPU % +Self CPU +CPU total % +CPU total +Self CPU Mem +# of Calls +Function +Source
layers.ops:2 +.* 10  block +for i in range\(times\) \{ x = relu\(x\) \}
layers.ops:6 +.* 2   +x = mine::twice\(ones\(\[4, 4\]\)\)
layers.ops:5 +.* 1  mine::twice +op mine::twice\(Tensor x\) -> Tensor \{ return block\(x, 2\) \+ block\(x, 3\) \}
layers.ops:7 +.* 0.00% .* 0  +y = block\(x, 5\)
Wall time'
run "--by-function" profile layers.ops --by-function --sort calls
expect 0 "" '^Function +Self CPU % +Self CPU +CPU total % +CPU total +Self CPU Mem +# of Calls
block \(layers.ops\) +.* 10
layers.ops +.* 100.00% .* 2
mine::twice \(layers.ops\) +.* 1
Wall time'
run "two kinds of rows" profile layers.ops --by-line --by-shape
expect 2 "" '^boxcar profile: --by-(line|shape) excludes --by-(line|shape)'
"$boxcar" profile layers.ops -o lines.json > /dev/null 2>&1
grep -q '"name":"aten::relu".*"line":"layers.ops:2","source":"for i in range(times) { x = relu(x) }","function":"block"' lines.json ||
  fail "the line of a call is in the trace" "$(grep relu lines.json | head -1)"

run "run --profile" run --profile run.json script.ops
expect 0 "16.0 []" '^Name .*
mine::block .*
In operators: '
[[ $(calls run.json mine::block) -eq 10 ]] || fail "run --profile writes the trace"

printf 'y = ones(2)\nwith profile("scope.json") { y = relu(y) }\ny = relu(y)\n' > scope.ops
run "with profile(…)" run scope.ops
expect 0 "" 'aten::relu .* 1
Wall time'
[[ $(calls scope.json 'aten::.*') -eq 1 ]] || fail "a scope has its own calls alone"

printf 'x = test_plugin::twice(ones(2))\nprint(x.sum().item())\n' > plugin.ops
run "a plugin's operator" profile --plugin "$plugin" -o plugin.json plugin.ops
expect 0 "4.0" 'test_plugin::twice '
[[ $(calls plugin.json test_plugin::twice) -eq 1 ]] || fail "a plugin's operator is in the trace"

printf 'x = ones([2, 3])\ny = x @ x\n' > fails.ops
run "a script that fails" profile fails.ops -o fails.json
expect 1 "" 'The run failed; this is what ran until then
error: .*'
grep -q '"name":"aten::mm".*"failed":true' fails.json || fail "the call that failed is marked"

echo 'x = ' > wrong.ops
run "a script that is refused" profile wrong.ops -o wrong.json
expect 1 "" '^wrong.ops:1:5: error: expected an expression'
[[ ! -e wrong.json ]] || fail "a script that is refused leaves no trace"

run "one name for both files" profile script.ops -o same --html same
expect 2 "" "^boxcar profile: --html: --output writes 'same' already: name another file
"
run "a page in the place of the script" profile script.ops --html script.ops
expect 2 "" "^boxcar profile: --html: 'script.ops' is the script itself: name another file
"
run "a handler's file in the place of the script" run script.ops --profile ./script.ops
expect 2 "" "^boxcar run: --profile: './script.ops' is the script itself: name another file
"
grep -q '^op mine::block' script.ops || fail "the script is what it was"
run "a folder that is missing" profile script.ops -o missing/trace.json
expect 1 "" "^boxcar: cannot write 'missing/trace.json': No such file or directory$"
run "a column that is none" profile script.ops --sort time
expect 2 "" '^boxcar profile: --sort: it must be average, calls, device, memory, name, self or total, not .time.'
run "a limit of no rows" profile script.ops --limit 0
expect 2 "" '^boxcar profile: --limit: '

[[ $failures -eq 0 ]] || exit 1
