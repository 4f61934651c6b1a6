#!/usr/bin/env bash
# Tests the sample plugin's classes of tensors.
# Usage: tensor_classes_test.sh BOXCAR PLUGIN
set -u

plugin=$2
source "$(dirname "$0")/expectations.sh"

cat > units.ops <<'E2'
way = sample::with_unit(tensor([3.0, 4.0]), "m")
time = sample::with_unit(tensor([2.0]), "s")
way.add_(way)
print((way / time).mean(), sample::unit((way / time).mean()), sample::unit(way * 2 / way), way.requires_grad)
print(way + time)
E2
run "units" --plugin "$plugin" run units.ops
expectStatus 1
expectOutput "tensor(3.5000) m s^-1 1 False"
expectErrors "error: aten::add.Tensor: the units differ, 'm' and 's'; convert one of them
  units.ops:5:7
    print(way + time)
          ^~~~~~~~~~"

echo 'sample::with_unit(ones(2), "m").exp()' > exp.ops
run "an operator that no class answers" --plugin "$plugin" run exp.ops
expectStatus 1
expectErrors "error: no class of tensors answers aten::exp: Quantity left the call to others; answer it in one of them, or call it with plain tensors
  aten::exp(self: float32[2])
  exp.ops:1:1
    sample::with_unit(ones(2), \"m\").exp()
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"

cat > log.ops <<'E2'
log: str[] = []
x = sample::logged(tensor([-1.0, 2.0]), log)
values, indices = x.relu().topk(1)
print(log, values + 1, len(log))
E2
run "a log" --plugin "$plugin" run log.ops
expectStatus 0
expectOutput "['aten::relu', 'aten::topk', 'aten::add.Scalar'] tensor([3.]) 3"

[[ $failures -eq 0 ]]
