#!/usr/bin/env bash
# `boxcar run` and `boxcar check` from outside: standard input, arguments, limits, Ctrl-C, JSON.
# Usage: run_test.sh BOXCAR
set -u

boxcar=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

check() {  # NAME EXPECTED-STATUS EXPECTED-TEXT: of what was just run
  [[ $status -eq $2 && $output == "$3" ]] && return
  printf 'FAILED: %s: status %s instead of %s\n%s\ninstead of:\n%s\n' "$1" "$status" "$2" "$output" "$3"
  failures=$((failures + 1))
}
has() {  # NAME EXPECTED-STATUS PART
  [[ $status -eq $2 && $output == *"$3"* ]] && return
  printf 'FAILED: %s: status %s instead of %s\n%s\nwithout:\n%s\n' "$1" "$status" "$2" "$output" "$3"
  failures=$((failures + 1))
}
run() { output=$("$boxcar" "$@" 2>&1 < /dev/null); status=$?; }

# ---- Standard input, #!, arguments ----

output=$(echo 'print(1 + 1)' | "$boxcar" run - 2>&1); status=$?
check "run -" 0 2
output=$(echo 'print(1 // 0)' | "$boxcar" run - 2>&1); status=$?
check "run - names its input" 1 "error: integer division or modulo by zero
  <stdin>:1:7
    print(1 // 0)"

printf '#!%s run\nprint("ran", argv)\n' "$boxcar" > script.ops
chmod +x script.ops
output=$(./script.ops one 2>&1); status=$?
check "a script of its own" 0 "ran ['one']"
run run script.ops -- --flag -x "two words"
check "arguments behind --" 0 "ran ['--flag', '-x', 'two words']"
run run script.ops
check "no arguments" 0 "ran []"
run run script.ops --flag
has "an option that is none" 2 "boxcar run: The following argument was not expected: --flag"

# ---- Limits ----

echo 'while True { }' > endless.ops
run run --max-instructions 100000 endless.ops
check "--max-instructions" 1 "error: the run took more than 100000 instructions, which is its limit
  endless.ops:1:7
    while True { }"
printf 'fn f(int n) -> int { return f(n + 1) }\nprint(f(0))' > deep.ops
run run --max-depth 20 deep.ops
has "--max-depth" 1 "error: more than 20 calls inside one another: does the recursion end?"
echo 'xs = [0]
while True { xs = xs + xs }' > large.ops
run run --max-memory 200M large.ops
check "--max-memory of lists" 1 "error: out of memory
  large.ops:2:19
    while True { xs = xs + xs }"
echo 'kept = []
while True { kept.append(ones([1000, 1000])) }' > tensors.ops
run run --max-memory 100M tensors.ops
has "--max-memory of tensors" 1 "out of memory"
echo 'kept = []
while True { kept.append([kept]) }' > small.ops
run run --max-memory 50M small.ops
has "--max-memory of many small things" 1 "error: out of memory"
run run --max-memory 5X large.ops
check "a size that is none" 1 "boxcar: '5X' is no size of memory; write bytes, or a number with K, M, G or T behind it: 512M"
run run --max-instructions 0 endless.ops
has "a limit that is none" 2 "--max-instructions"

# ---- Ctrl-C ----

echo 'mode m { return redispatch(op, args) } exit { print("exit ran") }
print("started")
with m { while True { y = ones(2) } }' > interrupted.ops
"$boxcar" run interrupted.ops > out.txt 2> err.txt &
pid=$!
for _ in $(seq 100); do sleep 0.05; kill -0 $pid || break; [[ $(grep -c SigCgt.*[2367abef]$ /proc/$pid/status) -eq 1 ]] && break; done
sleep 0.2
kill -INT $pid
wait $pid
status=$?
output=$(cat out.txt err.txt)
has "Ctrl-C" 130 "started
exit ran
error: interrupted
  interrupted.ops:3:"

# ---- check --json ----

printf 'x = 1\nprint(y)\n' > wrong.ops
run check --json wrong.ops
check "check --json" 1 '[
  {
    "severity": "error",
    "message": "there is no variable or constant called `y`",
    "file": "wrong.ops",
    "line": 2,
    "column": 7,
    "end_line": 2,
    "end_column": 8,
    "notes": []
  }
]'
run check --json script.ops
check "check --json of a good script" 0 "[]"
output=$(echo 'print(z)' | "$boxcar" check --json --name lib/edited.ops - 2>&1); status=$?
has "check --json of an editor's text" 1 '"file": "lib/edited.ops"'

[[ $failures -eq 0 ]] || exit 1
