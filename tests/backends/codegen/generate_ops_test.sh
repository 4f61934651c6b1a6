#!/usr/bin/env bash
# Tests what generate_ops generates from .schemas files, and what it rejects. Usage: generate_ops_test.sh GENERATE_OPS
set -u

generate_ops=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
failed=0

# Prints the schemas.txt that is generated from the lines of standard input, or the error.
made() { cat > some.schemas && mkdir -p out && if "$generate_ops" out some.schemas 2> errors.txt; then cat out/schemas.txt; else cat errors.txt; fi; }
expect() {  # WHAT FOUND EXPECTED
  [[ $2 == "$3" ]] || { printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$1" "$3" "$2" && failed=1; }
}

expect "forms are made of the functional schema" "$(made << 'END'
# The sine.
t::sin(Tensor self) -> Tensor [pointwise] autogen: sin_, sin.out
# self + alpha * other
t::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor autogen: add_.Tensor, add.out
# Ones.
t::ones() -> Tensor autogen: ones.out
END
)" 't::sin(Tensor self) -> Tensor
t::sin_(Tensor(a!) self) -> Tensor(a!)
t::sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
t::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
t::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
t::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
t::ones() -> Tensor
t::ones.out(*, Tensor(a!) out) -> Tensor(a!)'
expect "tags of forms" "$(grep -c 'Tag::pointwise' out/schemas.cpp)" 3
expect "docstrings of forms" "$(grep -E '^// ' out/ops.h | grep -v '::' | grep -E 'sine|alpha' | sort -u)" '// In place: self + alpha * other
// In place: the sine.
// The sine.
// The sine. Writes the result to [out].
// self + alpha * other
// self + alpha * other. Writes the result to [out].'

expect "a form of several results" "$(made <<< $'# Both.\nt::both(Tensor self) -> (Tensor, Tensor) autogen: both.out')" \
  "generate_ops: error: some.schemas:2: autogen makes forms of operators that return one Tensor: write out the line of t::both.out"
expect "an in-place form of what has no self" "$(made <<< $'# Ones.\nt::ones() -> Tensor autogen: ones_')" \
  "generate_ops: error: some.schemas:2: autogen makes in-place forms of operators whose first argument is \`Tensor self\`: write out the line of t::ones_"
expect "no docstring" "$(made <<< 't::f() -> Tensor')" \
  "generate_ops: error: some.schemas:1: t::f has no docstring: put a \`# \` line above it"
exit $failed
