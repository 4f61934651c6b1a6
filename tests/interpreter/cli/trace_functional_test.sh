#!/usr/bin/env bash
# Tests `boxcar trace --functional`: the program prints what its script printed, writes nothing, and computes the same
# numbers as the script's own trace. Usage: trace_functional_test.sh BOXCAR SCRIPT...
set -u

source "$(dirname "$0")/expectations.sh"
shift

same() {  # NAME EXPECTED FOUND
  [[ $2 == "$3" ]] || fail "$1:"$'\n'"$3"$'\n'"instead of:"$'\n'"$2"
}
# Prints a trace that also prints each number that its run took from a tensor.
telling() { sed -E 's/^aten::(_local_scalar_dense|item|is_nonzero)\((.*)\)$/print(aten::item(\2))/' "$1"; }
# Prints the lines that write: calls in place and with out=, except those of operators without a functional form, which
# write copies.
writes() {
  grep -nE "^([^'(]* = )?[a-z_]+::[a-z0-9_]*[a-z0-9]_(\.[A-Za-z_]+)?\(|[(, ]out=" "$1" |
    grep -vE "_print\('|aten::_fused_(sgd|adam|adamw)_\."
}

check() {  # SCRIPT
  local script=$1 args
  read -r -a args < <(sed -n 's/^# args: //p' "$script")
  # A script that fails has half a trace. It fails alike.
  if ! (cd "$(dirname "$script")" && "$boxcar" trace -o "$folder/plain.ops" "$(basename "$script")" "${args[@]}") \
    > "$folder/printed" 2> "$folder/expected" < /dev/null; then
    for option in --functional "--functional --keep-views"; do
      # shellcheck disable=SC2086
      (cd "$(dirname "$script")" && "$boxcar" trace $option -o "$folder/made.ops" "$(basename "$script")" "${args[@]}") \
        > "$folder/again" 2> "$folder/errors" < /dev/null && fail "trace $option $script does not fail"
      cmp "$folder/printed" "$folder/again" || fail "$script prints something else under trace $option"
      same "the error of trace $option $script" "$(grep -m 1 error: "$folder/expected")" "$(grep -m 1 error: "$folder/errors")"
    done
    return
  fi
  [[ -f $folder/plain.ops ]] || return
  telling "$folder/plain.ops" > "$folder/plain_telling.ops"
  "$boxcar" run "$folder/plain_telling.ops" > "$folder/expected" 2> /dev/null
  for option in --functional "--functional --keep-views"; do
    # shellcheck disable=SC2086
    (cd "$(dirname "$script")" && "$boxcar" trace $option -o "$folder/made.ops" "$(basename "$script")" "${args[@]}") \
      > "$folder/again" 2> "$folder/errors" < /dev/null || { fail "trace $option $script: $(< "$folder/errors")"; continue; }
    cmp "$folder/printed" "$folder/again" || fail "$script prints something else under trace $option"
    same "the writes in trace $option $script" "" "$(writes "$folder/made.ops")"
    telling "$folder/made.ops" > "$folder/made_telling.ops"
    "$boxcar" run "$folder/made_telling.ops" > "$folder/found" 2> "$folder/errors" ||
      fail "the program of trace $option $script does not run: $(< "$folder/errors")"
    cmp "$folder/expected" "$folder/found" || fail "trace $option $script computes something else"
  done
}

for script in "$@"; do check "$script"; done

cat > "$folder/f.ops" << 'END'
fn f(Tensor x) -> Tensor {
    x[0].add_(1)
    y = x * 2
    y.relu_()
    return y
}
END
"$boxcar" trace "$folder/f.ops" --function f --functional -o "$folder/of_f.ops" 'ones(2)' || fail "a function cannot be traced"
same "a function" "fn f(Tensor x) -> Tensor {
    t0 = aten::select_copy.int(x, 0, 0)
    t1 = aten::add.Scalar(t0, 1)
    t2 = aten::select_scatter.default(x, t1, 0, 0)
    t3 = aten::mul.Scalar(t2, 2)
    t4 = aten::relu.default(t3)
    aten::copy_(x, t2)
    return t4
}" "$(sed -n '/^fn/,$p' "$folder/of_f.ops")"

# What is conjugated lazily depends on what it was made of.
cat > "$folder/conj.ops" << 'END'
fn f(Tensor x) -> Tensor {
    y = (x * 2).conj()
    return y * 3
}
END
"$boxcar" trace "$folder/conj.ops" --function f --functional -o "$folder/of_conj.ops" 'ones(2, dtype=complex64)' ||
  fail "a function with a conjugate cannot be traced"
grep -q "conj_physical" "$folder/of_conj.ops" || fail "the trace conjugates nothing: $(< "$folder/of_conj.ops")"
grep -q "tensors\[" "$folder/of_conj.ops" && fail "the trace has a constant: $(< "$folder/of_conj.ops")"


# What the program holds without that a call made it, or as a lazy conjugate, follows from the arguments, too.
cat > "$folder/lazy.ops" << 'END'
fn imaginary_part_of_a_conjugate(Tensor x) -> Tensor {
    z = complex(x, x + 1)
    return z.conj().imag() * 1
}
fn imaginary_part_of_a_transposed_conjugate(Tensor x) -> Tensor {
    return complex(x, x + 1).mH().imag() * 1
}
fn lazy_conjugate_that_is_returned(Tensor x) -> Tensor {
    return complex(x, x + 1).t().conj()
}
fn write_through_a_negative(Tensor x) -> Tensor {
    c = complex(x, x + 1)
    c.conj().imag().mul_(2)
    return c.imag()
}
fn writes_through_both_parts(Tensor x) -> Tensor {
    c = complex(x, x + 1)
    c.real().add_(x)
    c.conj().imag().copy_(x)
    return c.imag()
}
fn conjugate_after_a_write(Tensor x) -> Tensor {
    y = complex(x, x)
    v = y.t()
    v.mul_(2)
    return view_as_real(v.conj().resolve_conj())
}
fn data_after_a_write(Tensor x) -> Tensor {
    y = complex(x, x)
    v = view_as_real(y)
    y.mul_(2)
    return v.data + 1
}
fn data_that_is_written(Tensor x) -> Tensor {
    y = complex(x, x)
    view_as_real(y).data.add_(3)
    y.real().data[0].mul_(2)
    return y.imag() + y.real()
}
fn data_of_a_view_that_is_gone(Tensor x) -> Tensor {
    y = complex(x, x)
    d = view_as_real(y).data
    for i in range(600) {
        w = x[0] + i
    }
    return d * 2
}
fn data_that_is_returned(Tensor x) -> (Tensor, Tensor) {
    y = complex(x, x)
    return (view_as_real(y).data, y.data)
}
END
for name in $(sed -n 's/^fn \([a-z_]*\)(.*/\1/p' "$folder/lazy.ops"); do
  for option in --functional "--functional --keep-views"; do
    # shellcheck disable=SC2086
    "$boxcar" trace "$folder/lazy.ops" --function "$name" $option -o "$folder/of_lazy.ops" \
      'tensor([[1., 2.], [3., 5.]])' || { fail "$name cannot be traced with $option"; continue; }
    grep -q "tensors\[" "$folder/of_lazy.ops" && fail "trace $option $name has a constant: $(< "$folder/of_lazy.ops")"
    same "the writes in trace $option $name" "" "$(writes "$folder/of_lazy.ops")"
    printf 'import "lazy.ops" as direct\nimport "of_lazy.ops" as traced\nx = tensor([[-1., 2.], [5., 7.]])\n' > "$folder/both.ops"
    for module in direct traced; do echo "print($module.$name(x))" >> "$folder/both.ops"; done
    printed=$("$boxcar" run "$folder/both.ops") || fail "the program of trace $option $name does not run"
    half=$(($(wc -l <<< "$printed") / 2))
    same "trace $option $name" "$(head -n "$half" <<< "$printed")" "$(tail -n "+$((half + 1))" <<< "$printed")"
  done
done

# An argument that is conjugated lazily has a memory, too.
cat > "$folder/given.ops" << 'END'
fn f(Tensor c) -> Tensor {
    c.mul_(2)
    return c.imag() + 1
}
END
for option in --functional "--functional --keep-views"; do
  # shellcheck disable=SC2086
  "$boxcar" trace "$folder/given.ops" --function f $option -o "$folder/of_given.ops" \
    'complex(tensor([1., 2.]), tensor([3., 4.])).conj()' || fail "a lazy conjugate cannot be an argument"
  printf 'import "of_given.ops"\nc = complex(tensor([5.]), tensor([7.]))\n%s\n' \
    'print(f(c.conj()), c, f(c), c)' > "$folder/both.ops"
  same "an argument that is a lazy conjugate with $option" "tensor([-13.]) tensor([20.+28.j]) tensor([29.]) tensor([20.+28.j])" \
    "$("$boxcar" run "$folder/both.ops")"
done

[[ $failures -eq 0 ]] || exit 1
