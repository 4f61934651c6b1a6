#!/usr/bin/env bash
# Tests `boxcar run` and `boxcar check` as a program: standard input, arguments, limits, Ctrl-C, JSON.
# Usage: run_test.sh BOXCAR
set -u

source "$(dirname "$0")/expectations.sh"

# ---- Standard input, #!, arguments ----

runMerged "run -" run - <<< 'print(1 + 1)'
expectStatus 0
expectOutput 2
runMerged "run - names its input" run - <<< 'print(1 // 0)'
expectStatus 1
expectOutput "error: integer division or modulo by zero
  <stdin>:1:7
    print(1 // 0)
          ^~~~~~"

printf '#!%s run\nprint("ran", argv)\n' "$boxcar" > script.ops
chmod +x script.ops
[[ $(./script.ops one 2>&1) == "ran ['one']" ]] || fail "a script of its own"
runMerged "arguments behind --" run script.ops -- --flag -x "two words"
expectStatus 0
expectOutput "ran ['--flag', '-x', 'two words']"
runMerged "no arguments" run script.ops
expectStatus 0
expectOutput "ran []"
runMerged "an option that is none" run script.ops --flag
expectStatus 2
expectOutputHas "boxcar run: there is no option '--flag'."
expectOutputHas "Run \`boxcar run --help\` for its usage."
for misspelt in --thread --thread=2 --treads; do
  runMerged "a misspelt option, $misspelt" run "$misspelt" script.ops
  expectStatus 2
  expectOutputHas "boxcar run: there is no option '${misspelt%%=*}'. Did you mean '--threads'?"
done
runMerged "a misspelt option of all commands" run script.ops --colour never
expectOutputHas "boxcar run: there is no option '--colour'. Did you mean '--color'?"
runMerged "a misspelt option of another command" check --threads-of script.ops
expectOutputHas "boxcar check: there is no option '--threads-of'."

# ---- Limits ----

echo 'while True { }' > endless.ops
runMerged "--max-instructions" run --max-instructions 100000 endless.ops
expectStatus 1
expectOutput "error: the run took more than 100000 instructions, which is its limit
  endless.ops:1:7
    while True { }
          ^~~~"
runMerged "--max-seconds" run --max-seconds 0.2 endless.ops
expectStatus 1
expectOutput "error: the run took more than 0.2 seconds, which is its limit
  endless.ops:1:7
    while True { }
          ^~~~"
echo 'print(sum(ones(1).expand(2 ** 62)))' > long.ops
runMerged "--max-seconds within an operator" run --max-seconds 0.2 long.ops
expectStatus 1
expectOutputHas "error: the run took more than 0.2 seconds, which is its limit
  long.ops:1:7"
runMerged "--max-seconds that is none" run --max-seconds 0 long.ops
expectStatus 2
expectOutputHas "--max-seconds"
printf 'fn f(int n) -> int { return f(n + 1) }\nprint(f(0))' > deep.ops
runMerged "--max-depth" run --max-depth 20 deep.ops
expectStatus 1
expectOutputHas "error: more than 20 nested calls: does the recursion end?"
echo 'xs = [0]
while True { xs = xs + xs }' > large.ops
if [[ -z ${MEMORY_CANNOT_BE_LIMITED:-} ]]; then
  runMerged "--max-memory of lists" run --max-memory 200M large.ops
  expectStatus 1
  expectOutput "error: out of memory
  large.ops:2:19
    while True { xs = xs + xs }
                      ^~~~~~~
note: --max-memory 200M is the limit; raise it, or keep less in memory"
  echo 'kept = []
while True { kept.append(ones([1000, 1000])) }' > tensors.ops
  runMerged "--max-memory of tensors" run --max-memory 100M tensors.ops
  expectStatus 1
  expectOutputHas "out of memory"
  expectOutputHas "
note: --max-memory 100M is the limit"
  echo 'kept = []
while True { kept.append([kept]) }' > small.ops
  runMerged "--max-memory of many small things" run --max-memory 50M small.ops
  expectStatus 1
  expectOutputHas "error: out of memory"
  runMerged "--max-memory in which nothing begins" run --max-memory 1K large.ops
  expectStatus 1
  expectOutputHas "out of memory"
  expectOutputHas "
note: --max-memory 1K is the limit; raise it, or keep less in memory"
fi
for size in 99999999999G 8388608T 99999999999999999999; do
  runMerged "a size that is too large: $size" run --max-memory "$size" large.ops
  expectStatus 2
  expectOutputHas "boxcar run: --max-memory: '$size' is more memory than any system has; write bytes, or"
done
runMerged "a size that is none" run --max-memory 5X large.ops
expectStatus 2
expectOutput "boxcar run: --max-memory: '5X' is not a size of memory; write bytes, or a number followed by K, M, G or T: 512M
Run \`boxcar run --help\` for its usage."
runMerged "an option with = and no value" run --max-depth= large.ops
expectStatus 2
expectOutput "boxcar: --max-depth= has no value after the =
Run \`boxcar --help\` for its usage."
echo 'print(argv)' > argv.ops
run "behind -- a word may end with =" run argv.ops -- --fast=
expectOutput "['--fast=']"
runMerged "a limit that is none" run --max-instructions 0 endless.ops
expectStatus 2
expectOutputHas "--max-instructions"

# ---- Ctrl-C ----

echo 'mode m { return redispatch(op, args) } exit { print("exit ran") }
print("started")
with m { while True { y = ones(2) } }' > interrupted.ops
"$boxcar" run interrupted.ops > out.txt 2> err.txt &
pid=$!
for _ in $(seq 100); do sleep 0.05; kill -0 $pid || break; [[ $(grep -c 'SigCgt.*[2367abef]$' /proc/$pid/status) -eq 1 ]] && break; done
sleep 0.2
kill -INT $pid
wait $pid
status=$?
test_name="Ctrl-C"
output=$(cat out.txt err.txt)
errors=
expectStatus 130
expectOutputHas "started
exit ran
error: interrupted
  interrupted.ops:3:"

for threads in 1 2; do
  "$boxcar" run --threads $threads long.ops > out.txt 2> err.txt &
  pid=$!
  for _ in $(seq 100); do sleep 0.05; kill -0 $pid || break; [[ $(grep -c 'SigCgt.*[2367abef]$' /proc/$pid/status) -eq 1 ]] && break; done
  sleep 0.2
  kill -INT $pid
  wait $pid
  status=$?
  test_name="Ctrl-C within an operator, with $threads threads"
  output=$(cat out.txt err.txt)
  expectStatus 130
  expectOutputHas "error: interrupted
  long.ops:1:7"
done

# ---- check --json ----

printf 'x = 1\nprint(y)\n' > wrong.ops
runMerged "check --json" check --json wrong.ops
expectStatus 1
expectOutput '[
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
runMerged "check --json of a good script" check --json script.ops
expectStatus 0
expectOutput "[]"
runMerged "check --json of an editor's text" check --json --name lib/edited.ops - <<< 'print(z)'
expectStatus 1
expectOutputHas '"file": "lib/edited.ops"'
run "check --json of a file that is missing" check --json missing.ops
expectStatus 1
expectErrors ""
expectOutput '[
  {
    "severity": "error",
    "message": "missing.ops: cannot be opened: No such file or directory",
    "file": "missing.ops",
    "line": 1,
    "column": 1,
    "end_line": 1,
    "end_column": 1,
    "notes": []
  }
]'

[[ $failures -eq 0 ]] || exit 1
