#!/usr/bin/env bash
# Tests optimize as a program: what it writes gives the same results. Usage: optimize_test.sh BOXCAR MODELS
set -u

source "$(dirname "$0")/expectations.sh"
models=$2

# ---- Models ----

cp "$models"/*.pt2 "$models/models.safetensors" .
mkdir written
for model in blocks layers_core growing sizes; do
  runMerged "optimize $model.pt2" optimize "$model.pt2" -o "written/$model.ops"
  expectStatus 0
  expectOutput ""
  cat >use.ops <<END
import "written/$model.ops" as prepared
import "$model.pt2" as imported
data = io::load("models.safetensors")
fn tensors(Any result) -> Tensor[] {
    if isinstance(result, Tensor) {
        return [result]
    }
    return [x for x in result if isinstance(x, Tensor)]
}
for i, x in enumerate(tensors(prepared.forward(data["$model.in0"]))) {
    assert allclose(x, data[f"$model.out{i}"], 1e-5, 1e-6), f"result {i} differs from PyTorch's"
    assert x.equal(tensors(imported.forward(data["$model.in0"]))[i]), f"the import is not prepared"
}
END
  runMerged "the program of $model" run use.ops
  expectStatus 0
  expectOutput ""
  grep -q fused written/$model.ops || fail "$model is not prepared"
done
runMerged "optimize without a file to write" optimize blocks.pt2
expectStatus 0
expectOutputHas 'const weights = io::load("blocks.pt2")'

# ---- Files that a script imports ----

mkdir -p parts
cat >parts/sizes.ops <<'END'
fn twice(int n) -> int {
    return n * 2
}
END
cat >parts/layers.ops <<'END'
import "nn.ops"
import "sizes.ops"
struct Size { int n }
fn block(Tensor x, Dict(str, Tensor) net) -> Tensor {
    y = conv2d_layer(x, net, "conv", padding=1).relu()
    return y * twice(Size(1).n)
}
END
cat >net.ops <<'END'
import "parts/layers.ops" as layers
fn forward(Tensor x, Dict(str, Tensor) net) -> Tensor {
    return layers.block(x, net)
}
END
cat >use.ops <<'END'
import "net.ops" as net
import "fast.ops" as fast
weights = {"conv.weight": randn(4, 3, 3, 3), "conv.bias": randn(4)}
x = randn(2, 3, 5, 5)
assert allclose(net.forward(x, weights), fast.forward(x, weights), 1e-5, 1e-5)
END
runMerged "a script with imports" optimize net.ops -o fast.ops
expectStatus 0
expectOutput "wrote parts/layers.fast.ops, which it imports"
[[ $(cat fast.ops) == 'import "fused.ops"
import "parts/layers.fast.ops" as layers
fn forward(Tensor x, Dict(str, Tensor) net) -> Tensor {
    x = to_channels_last(x)
    return to_channels_first(layers.block(x, net))
}' ]] || fail "what calls convolutions of another file" "$(cat fast.ops)"
[[ $(cat parts/layers.fast.ops) == '# boxcar optimize has written this file: layers.ops, prepared, for fast.ops.
import "nn.ops"
import "fused.ops"
import "sizes.ops"
struct Size {
    int n
}
fn block(Tensor x, Dict(str, Tensor) net) -> Tensor {
    y = fused_conv2d_layer(x, net, "conv", padding=1, activation="relu")
    return y * twice(Size(1).n)
}' ]] || fail "the imported file" "$(cat parts/layers.fast.ops)"
runMerged "the program with its files" run use.ops
expectStatus 0
expectOutput ""
runMerged "the script again" optimize net.ops -o fast.ops
expectStatus 0
echo 'fn mine() -> int { return 1 }' >parts/layers.fast.ops
runMerged "a file in the way" optimize net.ops -o fast.ops
expectStatus 1
expectOutput "boxcar: 'parts/layers.fast.ops' would be overwritten, and is no file that boxcar optimize has written: name another output than 'fast.ops'"

# ---- Imported models are prepared ----

cat >use.ops <<'END'
import "layers_core.pt2" as model
forward = model.forward
x = io::load("models.safetensors")["layers_core.in0"]
with no_grad() { forward(x) }
END
runMerged "a trace of an imported model" trace use.ops -o trace.ops
expectStatus 0
grep -q 'fused::convolution' trace.ops || fail "the import is not prepared" "$(cat trace.ops)"
runMerged "a trace with --no-prepare" trace --no-prepare use.ops -o trace.ops
expectStatus 0
grep -q 'fused::' trace.ops && fail "the import is prepared" "$(cat trace.ops)"
runMerged "an export of an imported model" export layers_core.pt2 forward models.safetensors:layers_core.in0 -o again.pt2
expectStatus 0
expectOutput ""

# ---- Errors ----

runMerged "no file" optimize absent.ops
expectStatus 1
expectOutput "boxcar: absent.ops: cannot be opened: No such file or directory"
echo 'x = reluu(1)' >wrong.ops
runMerged "a script with errors" optimize wrong.ops -o out.ops
expectStatus 1
expectOutput "wrong.ops:1:5: error: there is no function or operator called \`reluu\`. Did you mean 'relu', 'relu6' or 'relu_'?
x = reluu(1)
    ^~~~~"
[[ ! -e out.ops ]] || fail "optimize wrote a file in spite of an error"
runMerged "another folder" optimize use.ops -o written/use.ops
expectStatus 1
expectOutput "boxcar: 'written/use.ops' must be in the folder of 'use.ops': the paths that a script opens and imports start from its folder"
runMerged "the script itself" optimize use.ops -o use.ops
expectStatus 1
expectOutput "boxcar: 'use.ops' is the script itself: name another file"
cat >rules.ops <<'END'
fn wrong(Tensor x) -> (Tensor before, Tensor after) { return (relu(x), x) }
fn example_x() -> Tensor { return tensor([-1.0, 2.0]) }
END
runMerged "a rule whose sides differ" optimize --check-rules rules.ops
expectStatus 1
expectOutput "boxcar: rules.ops: the sides of the rule \`wrong\` give results that differ by 1"
echo 'fn none(Tensor x) -> (Tensor before, Tensor after) { return (relu(x), x) }' >rules.ops
runMerged "a rule without an example" optimize use.ops --rules rules.ops
expectStatus 1
expectOutput "boxcar: rules.ops:1:4: the parameter \`x\` of the rule \`none\` has no example, for which both sides can be compared; declare \`fn example_x() -> Tensor\`"

[[ $failures -eq 0 ]] || exit 1
