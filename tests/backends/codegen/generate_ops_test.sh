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

expect "forms of views" "$(made << 'END'
# A view of diagonal [offset].
t::diagonal(Tensor(a) self, int offset=0) -> Tensor(a) autogen: diagonal_copy, diagonal_copy.out, diagonal_scatter, diagonal_scatter.out
# Views of each index.
t::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[] autogen: unbind_copy.int, unbind_copy.int_out
END
)" 't::diagonal(Tensor(a) self, int offset=0) -> Tensor(a)
t::diagonal_copy(Tensor self, int offset=0) -> Tensor
t::diagonal_copy.out(Tensor self, int offset=0, *, Tensor(a!) out) -> Tensor(a!)
t::diagonal_scatter(Tensor self, Tensor src, int offset=0) -> Tensor
t::diagonal_scatter.out(Tensor self, Tensor src, int offset=0, *, Tensor(a!) out) -> Tensor(a!)
t::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
t::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]
t::unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()'
expect "docstrings of forms of views" "$(grep -E '^// (A (copy|view)|Copies)' out/ops.h | sort -u)" '// A copy of [self] in which [src] is written to: a view of diagonal [offset].
// A copy of [self] in which [src] is written to: a view of diagonal [offset]. Writes the result to [out].
// A copy of diagonal [offset].
// A copy of diagonal [offset]. Writes the result to [out].
// A view of diagonal [offset].
// Copies of each index.
// Copies of each index. Writes the results to [out].'
expect "kernels of forms of views" "$(grep -o '{"[^}]*}' out/view_forms.cpp | tr -d '\"')" '{diagonal_copy, t::diagonal, , ViewForm::kCopy, false}
{diagonal_copy.out, t::diagonal, , ViewForm::kCopy, true}
{diagonal_scatter, t::diagonal, , ViewForm::kScatter, false}
{diagonal_scatter.out, t::diagonal, , ViewForm::kScatter, true}
{unbind_copy.int, t::unbind, int, ViewForm::kCopy, false}
{unbind_copy.int_out, t::unbind, int, ViewForm::kCopy, true}'
expect "a form of a view with another name" "$(made <<< $'# A view of x.\nt::v(Tensor(a) self) -> Tensor(a) autogen: v_')" \
  "generate_ops: error: some.schemas:2: autogen makes forms of a view that are called _copy or _scatter: write out the line of t::v_"
expect "a scatter form of several views" "$(made <<< $'# Views of x.\nt::v(Tensor(a -> *) self) -> Tensor(a)[] autogen: v_scatter')" \
  "generate_ops: error: some.schemas:2: autogen makes scatter forms of views that return one Tensor: write out the line of t::v_scatter"
expect "a copy of a view whose docstring does not say so" "$(made <<< $'# Shows x.\nt::v(Tensor(a) self) -> Tensor(a) autogen: v_copy')" \
  "generate_ops: error: some.schemas:2: autogen makes copies of views whose docstring begins with \`A view\` or \`Views\`: write out the line of t::v_copy"

expect "a form of several results" "$(made <<< $'# Both.\nt::both(Tensor self) -> (Tensor, Tensor) autogen: both.out')" \
  "generate_ops: error: some.schemas:2: autogen makes forms of operators that return one Tensor: write out the line of t::both.out"
expect "an in-place form of what has no self" "$(made <<< $'# Ones.\nt::ones() -> Tensor autogen: ones_')" \
  "generate_ops: error: some.schemas:2: autogen makes in-place forms of operators whose first argument is \`Tensor self\`: write out the line of t::ones_"
expect "no docstring" "$(made <<< 't::f() -> Tensor')" \
  "generate_ops: error: some.schemas:1: t::f has no docstring: put a \`# \` line above it"
exit $failed
