#!/usr/bin/env bash
# Tests `boxcar run --check-nan`, `--check-schema` and `--check-meta` as a program.
# Usage: checkers_test.sh BOXCAR PLUGIN
set -u

plugin=$2
source "$(dirname "$0")/expectations.sh"

# NAME EXPECTED-STATUS EXPECTED-TEXT ARGUMENTS…
check() {
  local wanted_status=$2 wanted=$3
  runMerged "$1" run "${@:4}"
  expectStatus "$wanted_status"
  expectOutput "$wanted"
}

cat > nan.ops <<'END'
fn normalise(Tensor x) -> Tensor { return x / x.sum() }
print(normalise(tensor([1.0, 3.0])))
print(normalise(tensor([-1.0, 1.0, 0.0])))
END
check "a run that goes on without it" 0 "tensor([0.2500, 0.7500])
tensor([-inf, inf, nan])" nan.ops
check "--check-nan" 1 "tensor([0.2500, 0.7500])
error: aten::div.Tensor made 1 NaN and 2 Inf in the 3 elements of its result, float32[3], and its inputs have none:
  argument 'self': float32[3], from -1 to 1, clean
  argument 'other': float32[], from 0 to 0, clean
  nan.ops:3:7
    print(normalise(tensor([-1.0, 1.0, 0.0])))
          ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
  nan.ops:1:43 in fn normalise
    fn normalise(Tensor x) -> Tensor { return x / x.sum() }
                                              ^~~~~~~~~~~" --check-nan nan.ops

cat > schema.ops <<'END'
op my::first(Tensor x) -> Tensor { return x[0] }
print(my::first(tensor([1.0])))
END
check "--check-schema" 1 "error: my::first returned memory of argument 'x' as its result, but my::first(Tensor x) -> Tensor does not say that they share it: return a copy, or annotate both with (a)
  schema.ops:2:7
    print(my::first(tensor([1.0])))
          ^~~~~~~~~~~~~~~~~~~~~~~~" --check-schema schema.ops

cat > meta.ops <<'END'
op my::pair(Tensor x) -> Tensor
impl my::pair @ CPU { return stack([x, x]) }
impl my::pair @ Meta { return x }
print(my::pair(ones(3)).shape)
END
check "--check-meta" 1 "error: my::pair computes its result as float32[2, 3] with strides [3, 1], but on meta tensors it says float32[3] with strides [1]: one of its two kernels is wrong
  meta.ops:4:7
    print(my::pair(ones(3)).shape)
          ^~~~~~~~~~~~~~~~~" --check-meta meta.ops
check "all at once, on a script that keeps its promises" 0 "tensor(10.)" --check-nan --check-schema --check-meta <(
  echo 'print((ones(2, 5) @ ones(5)).sum())')

# ---- An operator of a plugin ----

echo 'print(test_plugin::twice(tensor([1.0, 3.0])))' > plugin.ops
check "a plugin's operator" 0 "tensor([2., 6.])" --plugin "$plugin" --check-nan --check-schema --check-meta plugin.ops
echo 'print(test_plugin::twice(tensor([3e38])))' > plugin_inf.ops
runMerged "a plugin's operator that makes an Inf" run --plugin "$plugin" --check-nan plugin_inf.ops
expectStatus 1
expectOutputHas "aten::mul.Scalar made 1 Inf in the one element of its result, float32[1], and its inputs have none:"

[[ $failures -eq 0 ]]
