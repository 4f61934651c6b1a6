#!/usr/bin/env bash
# Tests operators of the sample plugin inside of transforms.
# Usage: plugin_transforms_test.sh BOXCAR PLUGIN
set -u

plugin=$2
source "$(dirname "$0")/expectations.sh"

# An operator of float32 alone needs to be registered; one that is made of others is cast by these.
cat > autocast.ops <<'E2'
x = arange(4, dtype=bfloat16)
remove = autocast::register_autocast("sample::polynomial", "cpu", float32)
with autocast("cpu", bfloat16) { print(sample::polynomial(x, [1.0, 2.0])) }
remove()
with autocast("cpu", bfloat16) { print(sample::standardize(ones(2) * 3).dtype) }
with autocast("cpu", bfloat16) { print(sample::polynomial(x, [1.0, 2.0])) }
E2
run "autocast of a plugin's operator" --plugin "$plugin" run autocast.ops
expectStatus 1
expectOutput "tensor([1., 3., 5., 7.])
torch.float32"
expectErrors "error: sample::polynomial: x must be float32, but it is BFloat16; convert it
  sample::polynomial(x: bfloat16[4], coefficients: [1.0, 2.0])
  autocast.ops:6:40
    with autocast(\"cpu\", bfloat16) { print(sample::polynomial(x, [1.0, 2.0])) }
                                           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"

cat > transforms.ops <<'E2'
fn f(Tensor x) -> Tensor { return sample::standardize(sample::polynomial(x, [0.0, 1.0, 1.0])) }
x = arange(6, dtype=float32).view(2, 3)
each = func::vmap(f)
print((each(x) - stack([f(row) for row in x])).abs().max().item() < 1e-6)
with functionalize() { print(f(x[0]).equal(f(x[0]))) }
E2
run "other transforms of a plugin's operators" --plugin "$plugin" run transforms.ops
expectStatus 0
expectOutput "True
True"

[[ $failures -eq 0 ]]
