#!/usr/bin/env bash
# Tests what the program prints and its exit status, command by command.
# Usage: cli_test.sh BOXCAR
set -u

source "$(dirname "$0")/expectations.sh"

# ---- The command line ----

run "--version" --version
expectStatus 0
versions='^boxcar [0-9]+\.[0-9]+\.[0-9]+'$'\n''CUDA.+$'
[[ $output =~ $versions ]] || fail "$test_name" "$output"

run "--help" --help
expectStatus 0
commands="run trace profile record replay diff bench check fmt ops explain table schema dis asm lsp repl import optimize export call bench-model"
for command in run trace profile record replay diff bench check fmt ops explain table repl import optimize export call; do
  expectOutputHas "
  $command "
done
expectOutputHas "Further commands: schema, dis, asm, bench-model, lsp, completion"
expectErrors ""

for command in $commands; do
  run "$command --help" "$command" --help
  expectStatus 0
  expectOutputHas "Usage: boxcar $command"
done

run "no command"
expectStatus 2
expectOutput ""
expectErrors "boxcar: A subcommand is required
Run \`boxcar --help\` for its usage."

expectNoOption() {  # OPTION REMEDY
  run "an unknown option, $1" "$1"
  expectStatus 2
  expectErrors "boxcar: there is no option '$1'.$2
Run \`boxcar --help\` for a list."
}
expectNoOption -v " Did you mean '--version'?"
expectNoOption -V " Did you mean '--version'?"
expectNoOption --versoin " Did you mean '--version'?"
expectNoOption --nonsense ""

run "an unknown command" chek file.ops
expectStatus 2
expectErrors "boxcar: there is no command 'chek'. Did you mean 'check'?
Run \`boxcar --help\` for a list."

run "a missing argument" run
expectStatus 2
expectErrors "boxcar run: FILE is required
Run \`boxcar run --help\` for its usage."

run "an unknown option" run --fast file.ops
expectStatus 2
expectErrorsHave "--fast"

# ---- --plugin ---- (tests/install tests the contents of plugins)

echo 'print(1)' > one.ops
for command in "run one.ops" "check one.ops" "fmt one.ops" "dis one.ops" "asm one.asm" ops "explain aten::relu" "table aten::relu" "schema one.ops"; do
  # shellcheck disable=SC2086
  for order in "--plugin absent.so $command" "$command --plugin absent.so" "$command --plugin=./absent.so"; do
    run "$order" $order
    expectStatus 1
    expectOutput ""
    expectErrorsHave "absent.so cannot be opened: No such file or directory"
  done
done

run "a script as a plugin" --plugin one.ops run one.ops
expectStatus 1
expectErrors "boxcar: plugin one.ops is not a shared library for this machine; build one with boxcar_add_plugin(), a function of boxcar's CMake package"

run "--plugin without a file" run one.ops --plugin
expectStatus 2
expectErrorsHave "--plugin"

run "an unknown command behind a plugin" --plugin absent.so chek one.ops
expectStatus 2
expectErrorsHave "there is no command 'chek'. Did you mean 'check'?"

# ---- run ----

echo 'print("hello", 1 + 1)' > hello.ops
run "a script" run hello.ops
expectStatus 0
expectOutput "hello 2"
expectErrors ""

printf 'print("kept")\nprint(1 // 0)\n' > fails.ops
run "a script that fails" run fails.ops
expectStatus 1
expectOutput "kept"
expectErrors "error: integer division or modulo by zero
  fails.ops:2:7
    print(1 // 0)
          ^~~~~~"

printf 'x = ones([1, 2])\nprint(linear(x, x, zeros([1])).item())\n' > linear.ops
expectTrace() {
  expectStatus 0
  expectOutput "2.0"
  expectErrorsHave "[callBoxed] op=[aten::linear], key=[CPU]"
  expectErrorsHave $'\n [call] op=[aten::addmm], key=[CPU]'
}
run "run --dispatch-trace" run --dispatch-trace linear.ops
expectTrace
for variable in BOXCAR_SHOW_DISPATCH_TRACE TORCH_SHOW_DISPATCH_TRACE; do
  export $variable=1
  run "$variable=1" run linear.ops
  expectTrace
  export $variable=0
  run "$variable=0" run linear.ops
  expectErrors ""
  unset $variable
done

# ---- run --sandbox ----

mkdir -p home/sub results elsewhere
save='io::save({"x": ones([2])}, '
load='print(io::load('
echo "$save\"home/x\"); $save\"elsewhere/x\")" > setup.ops
run "files for the sandbox" run setup.ops
expectStatus 0
here=$(pwd -P)
ln -s ../elsewhere/x home/link
# Runs the script home/s.ops, which gets the line $1, with the options that follow.
runHome() {
  test_name="run ${*:2} of $1"
  echo "$1" > home/s.ops
  run "$test_name" run "${@:2}" home/s.ops
}
# Expects the error for a forbidden access: what was accessed, where it is, and which option would allow it.
expectRefusal() {
  expectStatus 1
  expectOutput ""
  [[ $errors == "error: $1 is outside of the folders that the sandbox allows to be $2 (in C++: SandboxFolders::"*")
  home/s.ops:1:"* ]] || fail "$test_name" "its error output was:" "$errors"
}

runHome "$load\"x\").keys())" --sandbox
expectStatus 0
expectOutput "['x']"
runHome "$load\"../elsewhere/x\"))" --sandbox
expectRefusal "cannot open 'home/../elsewhere/x': '$here/elsewhere/x'" "read; allow it with --allow-read '$here/elsewhere'"
runHome "$load\"link\"))" --sandbox
expectRefusal "cannot open 'home/link': the symbolic link '$here/home/link' leads to '$here/elsewhere/x', which" \
  "read; allow it with --allow-read '$here/elsewhere'"
runHome "$load\"link\").keys())" --sandbox --allow-read results --allow-read elsewhere
expectStatus 0
expectOutput "['x']"
runHome "$load\"missing\"))" --sandbox
expectStatus 1
expectErrorsHave "error: cannot open 'home/missing': No such file or directory"

runHome "$save\"x\")" --sandbox
expectRefusal "cannot write 'home/x': '$here/home/x'" "written; allow it with --allow-write '$here/home'"
runHome "$save\"../results/x\")" --sandbox --allow-read results
expectRefusal "cannot write 'home/../results/x': '$here/results/x'" "written; allow it with --allow-write '$here/results'"
runHome "$save\"../results/x\")" --sandbox --allow-write elsewhere --allow-write=results
expectStatus 0
expectErrors ""
[[ $(echo results/*) == results/x ]] || fail "$test_name" "results has" results/*
runHome "$load\"../results/x\"))" --sandbox --allow-write results
expectRefusal "cannot open 'home/../results/x': '$here/results/x'" "read; allow it with --allow-read '$here/results'"

# An operator's folder is that of its script, whoever calls it; it may access what the run may access.
runHome 'op cli_test::peek(str path) -> int { return len(io::load(path)) }
print(cli_test::peek("x")); cli_test::peek("../elsewhere/x")' --sandbox
expectStatus 1
expectOutput 1
expectErrorsHave "cannot open 'home/../elsewhere/x'"

# The script itself may be read from any folder.
ln -s ../hello.ops home/hello.ops
run "a script that is a link, in the sandbox" run --sandbox home/hello.ops
expectStatus 0
expectOutput "hello 2"

run "--allow-read of a missing folder" run --sandbox --allow-read nowhere hello.ops
expectStatus 2
expectOutput ""
expectErrors "boxcar run: --allow-read: the sandbox cannot allow the folder 'nowhere' to be read: No such file or directory
Run \`boxcar run --help\` for its usage."
run "--allow-write of a file" run --sandbox --allow-write hello.ops hello.ops
expectStatus 2
expectErrors "boxcar run: --allow-write: the sandbox cannot allow the folder 'hello.ops' to be written: Not a directory
Run \`boxcar run --help\` for its usage."
run "a missing file in the sandbox" run --sandbox nowhere/absent.ops
expectStatus 1
expectErrors "boxcar: nowhere/absent.ops: cannot be opened: No such file or directory"
for option in --allow-read --allow-write; do
  run "$option without --sandbox" run $option results hello.ops
  expectStatus 2
  expectOutput ""
  expectErrors "boxcar run: $option requires --sandbox
Run \`boxcar run --help\` for its usage."
done

printf 'print("never")\nx = nothing\n' > wrong.ops
for command in run check dis; do
  run "$command of a wrong script" "$command" wrong.ops
  expectStatus 1
  expectOutput ""
  expectErrors "wrong.ops:2:5: error: there is no variable or constant called \`nothing\`
x = nothing
    ^~~~~~~"
done

for command in run check dis asm schema; do
  run "$command of a missing file" "$command" absent.ops
  expectStatus 1
  expectErrors "boxcar: absent.ops: cannot be opened: No such file or directory"
  run "$command of a directory" "$command" .
  expectStatus 1
  expectErrors "boxcar: .: cannot be read: it is a directory"
done

echo 'print(1)' > locked.ops
chmod 000 locked.ops
if [[ ! -r locked.ops ]]; then
  run "an unreadable file" run locked.ops
  expectStatus 1
  expectErrors "boxcar: locked.ops: cannot be opened: Permission denied"
fi

printf 'x = "\xff\xfe"\n' > latin.ops
run "a script that is not UTF-8" run latin.ops
expectStatus 1
expectErrorsHave "UTF-8"

printf 'op cli_test::f(Tensor x) -> Tensor { return x }\nop cli_test::f(Tensor x) -> Tensor { return x }\n' > twice.ops
run "an operator defined twice" run twice.ops
expectStatus 1
expectErrorsHave "cli_test::f"

printf 'op aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor { return self }\n' > redefines.ops
run "an operator that exists" run redefines.ops
expectStatus 1
expectErrorsHave "aten::add.Tensor"

if [[ -w /dev/full ]]; then
  test_name="output that cannot be written"
  errors=$("$boxcar" run hello.ops 2>&1 > /dev/full)
  status=$?
  expectStatus 1
  expectErrorsHave "No space left on device"
  for arguments in "run --memory hello.ops" "--version" "dis --opcodes" "table --all" "completion bash"; do
    test_name="output of $arguments that cannot be written"
    # shellcheck disable=SC2086
    errors=$("$boxcar" $arguments 2>&1 > /dev/full)
    status=$?
    expectStatus 1
    expectErrorsHave "boxcar: cannot write the output"
  done
fi

test_name="a reader that goes away"
errors=$({ "$boxcar" ops | head -n 1 > /dev/null; } 2>&1)
expectErrors ""

# ---- check and dis ----

run "check of a right script" check hello.ops
expectStatus 0
expectOutput ""
expectErrors ""

run "dis" dis hello.ops
expectStatus 0
expectOutputHas "; hello.ops:1: print(\"hello\", 1 + 1)"
expectOutputHas "CallBuiltin print"

run "dis without a script" dis
expectStatus 2
expectErrors "boxcar dis: FILE is required
Run \`boxcar dis --help\` for its usage."

run "dis --opcodes" dis --opcodes
expectStatus 0
expectOutputHas "| \`AddInt\` | \`i\` | \`i\` | \`i\` |"
run "dis --opcodes with a script" dis --opcodes hello.ops
expectStatus 2
expectErrorsHave "--opcodes"

# ---- asm ----

"$boxcar" dis hello.ops > hello.asm
run "asm" asm hello.asm
expectStatus 0
expectOutput "$(< hello.asm)"
expectErrors ""

test_name="asm from standard input"
output=$("$boxcar" asm - < hello.asm 2> errors.txt)
status=$?
expectStatus 0
expectOutput "$(< hello.asm)"

run "asm of text without comments and columns" asm <(sed 's/ *;.*//; s/   */ /g' hello.asm)
expectStatus 0
expectOutput "$(< hello.asm)"

run "asm --run" asm --run hello.asm
expectStatus 0
expectOutput "hello 2"
expectErrors ""

echo 'while True { }' > endless.ops
"$boxcar" dis endless.ops > endless.asm
run "asm --run with a limit" asm --run --max-instructions 1000 endless.asm
expectStatus 1
expectErrorsHave "error: the run took more than 1000 instructions, which is its limit"
run "asm --run with a limit of time" asm --run --max-seconds 0.2 endless.asm
expectStatus 1
expectErrorsHave "error: the run took more than 0.2 seconds, which is its limit"
run "asm with a limit and nothing to run" asm --max-seconds 1 endless.asm
expectStatus 2
expectErrorsHave "--run"
echo 'print(io::read_text("/etc/hostname"))' > reads.ops
"$boxcar" dis reads.ops > reads.asm
run "asm --run in the sandbox" asm --run --sandbox reads.asm
expectStatus 1
expectOutput ""
expectErrorsHave "/etc/hostname"
expectErrorsHave "sandbox"
run "asm --run under a handler" asm --run --deny 'io::*' reads.asm
expectStatus 1
expectErrorsHave "io::read_text"
rm endless.ops endless.asm reads.ops reads.asm

echo 'print(argv)' > argv.ops
"$boxcar" dis argv.ops > argv.asm
run "asm --run with arguments" asm --run argv.asm -- one --two
expectStatus 0
expectOutput "['one', '--two']"
run "asm with arguments" asm argv.asm one
expectStatus 2
expectErrorsHave "--run"

test_name="dis from standard input"
output=$("$boxcar" dis - < argv.ops 2> errors.txt)
status=$?
expectStatus 0
expectOutputHas "; <stdin>:1: print(argv)"
rm argv.ops argv.asm

printf 'op asm_test::half(int n) -> int {\n    return 1 // n\n}\nprint("kept")\nprint(asm_test::half(0))\n' > half.ops
run "a script with an operator that fails" run half.ops
as_script=$errors
"$boxcar" dis half.ops > half.asm
rm half.ops
run "asm --run of what fails" asm --run half.asm
expectStatus 1
expectOutput "kept"
expectErrors "$as_script"

sed 's/CallBuiltin print/CallBuiltin pritn/' hello.asm > wrong.asm
run "asm of wrong text" asm wrong.asm
expectStatus 1
expectOutput ""
expectErrorsHave "error: there is no built-in \`pritn\`. Did you mean 'print'?"
expectErrorsHave "wrong.asm:$(grep -n pritn wrong.asm | sed 's/:.*//'):"

run "asm of a script" asm hello.ops
expectStatus 1
expectErrors "hello.ops:1:1: error: the first line must be \`boxcar bytecode 1\`
print(\"hello\", 1 + 1)
^~~~~~~~~~~~~~~~~~~~~"

# ---- ops ----

run "ops" ops
expectStatus 0
expectOutputHas "aten::relu(Tensor self) -> Tensor"
[[ $(sort -c <(sed 's/(.*//' <<< "$output") 2>&1) == "" ]] || LC_ALL=C sort -c <(sed 's/(.*//' <<< "$output") ||
  fail "$test_name" "the operators are not sorted"

run "ops with a part of a name" ops softmax
expectStatus 0
expectOutputHas "aten::softmax.int("
[[ $(grep -vc softmax <<< "$output") -eq 0 ]] || fail "$test_name" "$output"

run "ops with a pattern" ops 'aten::relu'
expectStatus 0
run "ops with a glob" ops 'aten::rel?'
expectStatus 0
expectOutput "aten::relu(Tensor self) -> Tensor"

run "ops without a match" ops aten::rellu
expectStatus 1
expectOutput ""
expectErrors "boxcar: no operator matches 'aten::rellu'. Did you mean 'aten::relu', 'aten::celu' or 'aten::elu'?"

# ---- schema ----

cat > good.schemas << 'END'
# A comment, and a blank line.

aten::relu(Tensor self)->Tensor
  aten::add.Tensor( Tensor self,Tensor other, *, Scalar alpha=1 ) -> Tensor
END
good="aten::relu(Tensor self) -> Tensor
aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
run "schema" schema good.schemas
expectStatus 0
expectOutput "$good"
expectErrors ""

test_name="schema from standard input"
output=$("$boxcar" schema - < good.schemas 2> errors.txt)
status=$?
expectStatus 0
expectOutput "$good"

printf 'f(Tensor x) -> Tensor\nf(Tensor) -> Tensor\ng(int x=)\nh() -> int\n' > bad.schemas
run "schema with bad lines" schema bad.schemas
expectStatus 1
expectOutput "f(Tensor x) -> Tensor
h() -> int"
[[ $(grep -c '^bad.schemas:[23]:[0-9]*: error: ' <<< "$errors") -eq 2 ]] || fail "$test_name" "$errors"
expectErrorsHave "f(Tensor) -> Tensor
        ^"

[[ $failures -eq 0 ]] || exit 1
