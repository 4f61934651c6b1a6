#!/usr/bin/env bash
# Tests `boxcar fmt` as a program.
# Usage: fmt_test.sh BOXCAR
set -u

source "$(dirname "$0")/expectations.sh"

expectFile() { [[ $(cat "$1"; echo .) == "$2"$'\n.' ]] || fail "$test_name" "$1 holds:" "$(cat "$1")" "instead of:" "$2"; }

# ---- Standard input ----

test_name="no file"
output=$(printf 'x=1;y=2' | "$boxcar" fmt 2> errors.txt)
status=$?
errors=$(< errors.txt)
expectStatus 0
expectOutput $'x = 1\ny = 2'
expectErrors ""

test_name="-"
output=$(printf 'x=1' | "$boxcar" fmt - 2>&1)
expectOutput "x = 1"

test_name="--check of standard input"
output=$(printf 'x=1' | "$boxcar" fmt --check 2>&1)
status=$?
expectStatus 1
expectOutput "<stdin>"

test_name="standard input that is wrong"
output=$(printf 'x=(1' | "$boxcar" fmt 2> errors.txt)
status=$?
errors=$(< errors.txt)
expectStatus 1
expectOutput ""
expectErrorsHave "<stdin>:1:5: error: the file ends before \`(\` is closed"

# ---- Files ----

printf 'x=1' > a.ops
chmod 750 a.ops
printf 'y = 2\n' > b.ops
touch -d '2001-01-01' b.ops
run "--check names what differs" fmt --check a.ops b.ops
expectStatus 1
expectOutput "a.ops"
expectErrors ""
[[ $(< a.ops) == 'x=1' ]] || fail "$test_name" "it wrote a.ops"

run "files" fmt a.ops b.ops
expectStatus 0
expectOutput ""
expectErrors ""
expectFile a.ops "x = 1"
[[ $(stat -c %a a.ops) == 750 ]] || fail "$test_name" "the mode of a.ops is $(stat -c %a a.ops)"
[[ $(stat -c %Y b.ops) == "$(date -d '2001-01-01' +%s)" ]] || fail "$test_name" "b.ops was written, although nothing changed"

run "--check of what is laid out" fmt --check a.ops b.ops
expectStatus 0
expectOutput ""

printf 'z=3' > c.ops
ln -s c.ops link.ops
run "a link" fmt link.ops
expectStatus 0
[[ -L link.ops ]] || fail "$test_name" "the link is gone"
expectFile c.ops "z = 3"

# ---- Folders ----

mkdir -p folder/inner folder/.hidden outside
printf 'a=1' | tee folder/a.ops folder/inner/b.ops folder/.hidden/c.ops folder/.d.ops folder/e.txt outside/f.ops > /dev/null
ln -s ../outside folder/link
ln -s ../outside/f.ops folder/f.ops
run "--check of a folder" fmt --check folder
expectStatus 1
expectOutput $'folder/a.ops\nfolder/inner/b.ops'
run "a folder" fmt folder
expectStatus 0
expectFile folder/a.ops "a = 1"
expectFile folder/inner/b.ops "a = 1"
for file in folder/.hidden/c.ops folder/.d.ops folder/e.txt outside/f.ops; do
  [[ $(< "$file") == "a=1" ]] || fail "$test_name" "it wrote $file"
done

# ---- Errors ----

printf 'x=1\ny = (2\n' > wrong.ops
printf 'x = "\xff"\n' > latin.ops
printf 'x=1' > good.ops
run "what is wrong keeps no other file from being formatted" fmt absent.ops wrong.ops latin.ops good.ops
expectStatus 1
expectOutput ""
expectErrorsHave "boxcar: absent.ops: cannot be opened: No such file or directory"
expectErrorsHave "wrong.ops:3:1: error: the file ends before \`(\` is closed"
expectErrorsHave "latin.ops:1:6: error: the byte 0xff is not UTF-8; a script is UTF-8 text"
expectFile wrong.ops $'x=1\ny = (2'
expectFile good.ops "x = 1"

mkdir locked
printf 'x=1' > protected.ops
printf 'x=1' > locked/a.ops
chmod 444 protected.ops
chmod 000 locked
if [[ ! -w protected.ops ]]; then
  run "a file that is protected" fmt protected.ops
  expectStatus 1
  expectErrors "boxcar: cannot write 'protected.ops': Permission denied"
  [[ $(< protected.ops) == "x=1" ]] || fail "$test_name" "it was written"
  run "a folder that is locked" fmt locked
  expectStatus 1
  expectErrors "boxcar: locked: cannot be read: Permission denied"
fi
chmod 755 locked

run "an unknown option" fmt --frob a.ops
expectStatus 2
expectErrorsHave "--frob"

[[ $failures -eq 0 ]]
