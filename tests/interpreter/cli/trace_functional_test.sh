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

[[ $failures -eq 0 ]] || exit 1
