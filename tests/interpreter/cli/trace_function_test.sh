#!/usr/bin/env bash
# Tests `boxcar trace --function`: what it writes gives the results of the function, bit by bit.
# Usage: trace_function_test.sh BOXCAR MODELS
set -u

source "$(dirname "$0")/expectations.sh"
models=$2

# The body of the traced function in a file, with the head that says its parameters.
body() { sed -n '/^fn /,$p' "$1"; }

# A process has an operator once, so the script that `compare.ops` imports under a name defines none.
echo 'op my::twice(Tensor x) -> Tensor { return x * 2 }' >twice_op.ops
cat >tool.ops <<'END'
import "twice_op.ops"
const net = {"fc.weight": tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "fc.bias": tensor([0.5, -1.0])}
const layers = {"blocks": [{"scale": tensor([2.0, 3.0])}, {"scale": tensor([0.25, 1.5])}]}
const table = tensor([1.0, -2.0])
const more = [tensor([9.0])]
const turned = arange(6, dtype=float32).view(2, 3).t()
const tied = {"w": table}
const state = {"count": tensor([0])}
fn twin() -> Tensor[] {
    x = ones(2)
    return [x, x]
}
fn mlp(Tensor x) -> Tensor { return my::twice(linear(x, net["fc.weight"], net["fc.bias"]).relu()) }
fn named(Tensor x) -> Tensor {
    for layer in layers["blocks"] { x = x * layer["scale"] }
    return x * table + more[0] + tied["w"]
}
fn mix(Tensor x, Tensor[] xs, Any d, Tensor? mask=None) -> Any {
    y = linear(x, net["fc.weight"], net["fc.bias"])
    if mask is not None { y = y * mask }
    values, indices = topk(y, 1)
    return {"a": values, "l": [y + xs[0], None, indices], "t": (d["pair"][0] + 1, d["n"], "s"), "bias": net["fc.bias"], "x": x}
}
fn fixed(Tensor x, int by=2, *, str how="add", Scalar[] steps, Any? extra=None, float e=1, ScalarType d, int? z=None) -> (Tensor, int) {
    return x.to(d) * by + steps[1], by
}
fn views(Tensor x) -> Tensor { return x @ turned }
fn counts(Tensor x) -> Tensor {
    fresh = tensor([1.0, 1.0])
    fresh += x
    state["count"].add_(1)
    return fresh * state["count"]
}
fn random(Tensor x) -> Tensor { return x + rand(2) }
fn branches(Tensor t0) -> Tensor {
    s = t0.sum().item()
    print("sum", s)
    if s > 1.0 { return t0 - s }
    return t0 * s
}
fn loss(Tensor x) -> Tensor { return (x * table).sin().sum() }
fn slopes(Tensor x) -> Tensor {
    slope = func::grad(loss)
    return slope(x * 2) + slope(x)
}
fn gives(Tensor x) -> Any { return {"f": mlp, "x": x} }
fn fails(Tensor x) -> Tensor {
    y = x + 1
    return y @ ones(7)
}
fn nothing(Tensor x) -> () { x.add_(1) }
END

# Traces FUNCTION with the arguments, and compares its results on ARGUMENTS of the language with those of the trace.
check() {  # FUNCTION ARGUMENTS WORD...
  local function=$1 arguments=$2
  shift 2
  runMerged "trace $function" trace tool.ops --function "$function" -o "$function.ops" "$@"
  expectStatus 0
  cat >compare.ops <<END
fn same(Any a, Any b) -> bool {
    if isinstance(a, Tensor) and isinstance(b, Tensor) { return a.dtype == b.dtype and equal(a, b) }
    if type(a) != type(b) { return False }
    if type(a).startswith("Dict") {
        return all([same(a[k], b[k]) for k in a.keys()]) and str(a.keys()) == str(b.keys())
    }
    if type(a).startswith("(") or type(a).endswith("[]") {
        return len(a) == len(b) and all([same(x, y) for x, y in zip(a, b)])
    }
    return a == b
}
import "tool.ops" as tool
import "$function.ops" as traced
with no_grad() {
    print(same(tool.$function($arguments), traced.$function($arguments)))
}
END
  runMerged "the trace of $function" run compare.ops
  expectStatus 0
  expectOutputHas "True"
  [[ $output != *False* ]] || fail "the trace of $function gives something else" "$output"
  runMerged "check of the trace" check "$function.ops"
  expectStatus 0
}

# ---- What is written ----

check mlp 'ones(2, 3)' 'ones(2, 3)'
tensors=$(grep -o 'tensors-[0-9a-f]*.safetensors' mlp.ops)
[[ $(< mlp.ops) == "# A trace of mlp: the operator calls of one call, in their order. What that call computed without operators, such
# as numbers from x.item(), sizes, its loops and its decisions, is constant here, whatever the tensors hold.
#
# x: float32 [2, 3]
const tensors = io::load('$tensors')

fn mlp(Tensor x) -> Tensor {
    fc_weight = tensors[\"fc.weight\"]
    fc_bias = tensors[\"fc.bias\"]
    t0 = aten::linear.default(x, fc_weight, fc_bias)
    t1 = aten::relu.default(t0)
    t2 = aten::mul.Scalar(t1, 2)
    return t2
}" ]] || fail "the trace of mlp is" "$(< mlp.ops)"
[[ -f $tensors ]] || fail "the weights are not beside the trace"

check named 'tensor([3.0, 4.0])' 'ones(2)'
[[ $(body named.ops) == 'fn named(Tensor x) -> Tensor {
    blocks_0_scale = tensors["blocks.0.scale"]
    t0 = aten::mul.Tensor(x, blocks_0_scale)
    blocks_1_scale = tensors["blocks.1.scale"]
    t1 = aten::mul.Tensor(t0, blocks_1_scale)
    table = tensors["table"]
    t2 = aten::mul.Tensor(t1, table)
    more_0 = tensors["more.0"]
    t3 = aten::add.Tensor(t2, more_0)
    t4 = aten::add.Tensor(t3, table)
    return t4
}' ]] || fail "names of constants, and of what they hold; a tied weight is one" "$(body named.ops)"

check mix 'ones(1, 3), [ones(2)], {"pair": (ones(1), 2), "n": 3}' 'ones(1, 3)' '[ones(2)]' 'd={"pair": (ones(1), 2), "n": 3}'
[[ $(body mix.ops) == 'fn mix(Tensor x, Tensor[] xs, Any d, Tensor? mask=None) -> Any {
    assert len(xs) == 1, '\''this trace of mix is for len(xs) == 1'\''
    assert mask is None, '\''this trace of mix is for mask=None'\''
    fc_weight = tensors["fc.weight"]
    fc_bias = tensors["fc.bias"]
    t0 = aten::linear.default(x, fc_weight, fc_bias)
    t1, t2 = aten::topk.default(t0, 1)
    t3 = aten::add.Tensor(t0, xs[0])
    t4 = aten::add.Scalar(d['\''pair'\''][0], 1)
    return {'\''a'\'': t1, '\''l'\'': [t3, None, t2], '\''t'\'': (t4, 3, '\''s'\''), '\''bias'\'': fc_bias, '\''x'\'': x}
}' ]] || fail "inputs within others, and a result with a structure" "$(body mix.ops)"
check mix 'ones(1, 3), [ones(2)], {"pair": (ones(1), 2), "n": 3}, tensor([2.0, 0.5])' 'ones(1, 3)' xs='[ones(2)]' 'd={"pair": (ones(1), 2), "n": 3}' 'mask=ones(2)'
[[ $(body mix.ops) == *"Tensor? mask) -> Any {"*"    assert mask is not None"* ]] || fail "a mask" "$(body mix.ops)"

# ---- What is no tensor ----

check fixed 'ones(2), 3, how="mul", steps=[1, 2.5], d=float64' 'ones(2)' by=3 'how="mul"' steps='[1, 2.5]' d=float64
[[ $(body fixed.ops | head -n 9) == "fn fixed(Tensor x, int by=3, *, str how='mul', Scalar[] steps, Any? extra=None, float e=1.0, ScalarType d, int? z=None) -> (Tensor, int) {
    assert by == 3, 'this trace of fixed is for by=3'
    assert how == 'mul', \"this trace of fixed is for how='mul'\"
    assert steps == [1, 2.5], 'this trace of fixed is for steps=[1, 2.5]'
    assert extra is None, 'this trace of fixed is for extra=None'
    assert e == 1.0, 'this trace of fixed is for e=1.0'
    assert d == float64, 'this trace of fixed is for d=float64'
    assert z is None, 'this trace of fixed is for z=None'"* ]] || fail "checks of what is no tensor" "$(body fixed.ops)"
runMerged "another number" call fixed.ops fixed 'ones(2)' by=4 steps='[1, 2.5]' d=float64
expectStatus 1
expectOutputHas "assertion failed: this trace of fixed is for by=3"
check branches 'ones(3)' 'ones(3)'
[[ $(body branches.ops) == *"t2 = aten::sub.Scalar(t0, 3.0)"* ]] || fail "a number from data, and a parameter called t0" "$(body branches.ops)"

# ---- Memory ----

check views 'ones(1, 3)' 'ones(1, 3)'
[[ $(body views.ops) == *'turned = aten::as_strided'* || $(body views.ops) == *'as_strided('* ]] || fail "a view" "$(body views.ops)"
check counts 'ones(2)' 'ones(2)'
cat >twice.ops <<'END'
import "counts.ops" as traced
import "tool.ops" as tool
for i in range(3) { print(equal(traced.counts(ones(2)), tool.counts(ones(2)))) }
END
runMerged "what a call makes anew, and a state that stays" run twice.ops
expectOutput "True
True
True"
check slopes 'arange(6, dtype=float32)[2:4]' 'ones(2)'
[[ $(body slopes.ops) == *"aten::cos"* && $(body slopes.ops) != *as_strided* ]] || fail "a derivative" "$(body slopes.ops)"
check nothing 'ones(2)' 'ones(2)'
[[ $(body nothing.ops) == 'fn nothing(Tensor x) -> () {
    aten::add_.Scalar(x, 1)
}' ]] || fail "a function without results" "$(body nothing.ops)"
runMerged "random numbers" trace tool.ops --function random 'ones(2)' -o random.ops
[[ $(body random.ops) == *"manual_seed("* ]] || fail "$test_name" "$(body random.ops)"

# ---- A model ----

cp "$models/blocks.pt2" "$models/structures.pt2" "$models/models.safetensors" .
runMerged "a model" trace blocks.pt2 --function forward models.safetensors:blocks.in0 -o blocks.ops
expectStatus 0
cat >blocks_run.ops <<'END'
import "blocks.ops" as traced
import "blocks.pt2" as model
x = io::load("models.safetensors")["blocks.in0"]
print(equal(traced.forward(x), model.forward(x)))
names = io::load(TENSORS).keys()
print(all([name in model.parameters() for name in names if name != "w0"]), len(names) > 4)
END
sed -i "s/TENSORS/\"$(grep -o 'tensors-[0-9a-f]*.safetensors' blocks.ops)\"/" blocks_run.ops
runMerged "the trace of a model" run blocks_run.ops
expectOutput "True
True True"

# ---- Errors ----

runMerged "no such function" trace tool.ops --function mpl 'ones(2, 3)' -o none.ops
expectStatus 1
expectOutputHas "called \`mpl\`. Did you mean 'mlp'"
runMerged "an argument that does not fit" trace tool.ops --function mlp '"text"' -o none.ops
expectStatus 1
expectOutputHas "mlp(): argument 'x' must be Tensor, not str"
runMerged "too few arguments" trace tool.ops --function mlp -o none.ops
expectStatus 1
expectOutputHas "argument 'x'"
runMerged "a result that is a function" trace tool.ops --function gives 'ones(2, 3)' -o none.ops
expectStatus 1
expectOutput "boxcar: gives returns a value of kind Object, which a trace cannot return: let it return tensors, numbers and texts, alone or in lists, tuples and dicts"
runMerged "a tensor that is passed twice" trace tool.ops --function mix 'ones(1, 3)' 'xs=twin()' 'd={"pair": (ones(1), 2), "n": 3}' -o none.ops
expectStatus 1
expectOutput "boxcar: mix: argument 'xs' has a tensor that was passed before it: pass a clone(), because the traced function could not tell the two apart"
runMerged "a call that fails" trace tool.ops --function fails 'ones(2, 3)' -o none.ops
expectStatus 1
[[ ! -e none.ops ]] || fail "a trace although the call failed" "$(< none.ops)"
for option in --dot=g.dot --svg=g.svg --unfold --keep-backward; do
  runMerged "--function with $option" trace tool.ops --function mlp 'ones(2, 3)' -o none.ops "$option"
  expectStatus 2
  [[ $output == *"--function excludes ${option%=*}"* || $output == *"${option%=*} excludes --function"* ]] || fail "$test_name" "$output"
done
runMerged "no file for the trace" trace tool.ops --function mlp 'ones(2, 3)'
expectStatus 2
expectOutputHas "--output, --dot or --svg is required"
runMerged "a script that it would overwrite" trace tool.ops --function mlp 'ones(2, 3)' -o tool.ops
expectStatus 2
expectOutputHas "'tool.ops' is the script itself"

# ---- ONNX ----

printf '\x08\x08\x12\x07pytorch' >net.onnx
echo 'import "net.onnx" as net' >onnx.ops
for command in "import net.onnx -o out.ops" "call net.onnx ones(2)" "run onnx.ops" "trace net.onnx --function forward -o out.ops"; do
  # shellcheck disable=SC2086
  runMerged "boxcar $command" $command
  expectStatus 1
  expectOutputHas "net.onnx' is an ONNX model, which boxcar does not read: export the model from PyTorch instead, torch.export.save(torch.export.export(model, (x,)), 'net.pt2')"
done

[[ $failures -eq 0 ]] || exit 1
