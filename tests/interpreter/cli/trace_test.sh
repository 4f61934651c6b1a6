#!/usr/bin/env bash
# Tests `boxcar trace` and the handler `trace`: a trace prints what its script printed, and tracing it gives the same
# text. Usage: trace_test.sh BOXCAR SAMPLE-PLUGIN DEMO-SCRIPT SCRIPT...
set -u

source "$(dirname "$0")/expectations.sh"
plugin=$2
demo=$3
shift 3

same() {  # NAME EXPECTED FOUND
  [[ $2 == "$3" ]] || fail "$1:"$'\n'"$3"$'\n'"instead of:"$'\n'"$2"
}
has() {  # NAME PART TEXT
  [[ $3 == *"$2"* ]] || fail "$1:"$'\n'"$3"$'\n'"without:"$'\n'"$2"
}

# Traces SCRIPT, runs the trace, and traces the trace into another folder under another name.
check() {  # SCRIPT [OPTION...]
  local script=$1 work args
  shift
  work=$(mktemp -d -p "$folder")
  read -r -a args < <(sed -n 's/^# args: //p' "$script")
  (cd "$(dirname "$script")" && "$boxcar" "$@" trace -o "$work/a.ops" "$(basename "$script")" "${args[@]}") > "$work/printed" 2> "$work/errors" < /dev/null
  [[ -f $work/a.ops ]] || { fail "$script has no trace: $(< "$work/errors")"; return; }
  "$boxcar" "$@" run "$work/a.ops" > "$work/again" 2> "$work/errors" || fail "the trace of $script does not run: $(< "$work/errors")"
  cmp "$work/printed" "$work/again" || fail "the trace of $script prints something else"
  mkdir "$work/other"
  (cd "$work/other" && "$boxcar" "$@" trace ../a.ops -o renamed.ops) > "$work/third" 2>&1
  cmp "$work/printed" "$work/third" || fail "the trace of $script prints something else when it is traced"
  cmp "$work/a.ops" "$work/other/renamed.ops" || fail "the trace of the trace of $script is another text"
  same "the tensors of $script" "$(cd "$work" && md5sum tensors-*.safetensors 2> /dev/null)" \
    "$(cd "$work/other" && md5sum tensors-*.safetensors 2> /dev/null)"
}

# Prints the trace of the script on standard input, without the comments at its head.
traced() {
  cat > "$folder/small.ops"
  check "$folder/small.ops"
  (cd "$folder" && "$boxcar" trace small.ops -o small_trace.ops > small.txt) || fail "small.ops fails"
  sed '1,2d' "$folder/small_trace.ops"
}

for script in "$@"; do check "$script"; done
check "$demo" --plugin "$plugin"
"$boxcar" --plugin "$plugin" trace "$demo" -o "$folder/demo.ops" > /dev/null
same "what the demo needs" "# needs: $(basename "$plugin")" "$(grep '^# needs' "$folder/demo.ops")"

same "the head of a trace" "# A trace: the operator calls of one run, in their order. What that run computed without operators, such as
# numbers from x.item(), its loops and its decisions, is constant here, whatever the tensors hold.
t0 = aten::ones.default([2])" "$(echo 'x = ones(2)' | { cat > "$folder/h.ops"; "$boxcar" trace "$folder/h.ops" -o "$folder/ht.ops"; cat "$folder/ht.ops"; })"

# ---- Overloads, defaults, constants ----

same "values as scripts write them" "t0 = aten::full.default([2], 1.5, dtype=float64)
t1 = aten::add.Scalar(t0, 2, 3)
t2 = aten::add.Tensor(t0, t1, alpha=3)
t3 = aten::sum.default(t2)
t4 = aten::sum.dim_IntList(t2, [0], dtype=float32)
t5 = aten::softmax.int(t2, 0)
t6 = aten::maximum.default(t2, 2)
t7 = aten::full.default([1], -inf)
t8 = aten::full.default([1], -(0.0 + infj), dtype=complex128)
t9 = aten::div.Tensor_mode(t0, t1, rounding_mode='floor')
t10 = aten::to.dtype_layout(t0, device='cpu', copy=True)
aten::_print('it\\'s \"é\"\\n')" "$(traced <<'END'
x = full([2], 1.5, dtype=float64)
y = add(x, 2, 3)
z = add(x, y, alpha=3)
s = z.sum()
d = z.sum(0, dtype=float32)
p = softmax(z, 0)
m = maximum(z, 2)
i = full([1], -inf)
c = full([1], 1e308j * -10, dtype=complex128)
q = div(x, y, rounding_mode="floor")
t = x.to(device="cpu", copy=True)
print("it's \"é\"")
END
)"

# ---- Tensors from outside, views, writing in place ----

same "what is written in place later is kept as it was" "tensors = io::load('tensors-FILE.safetensors')
t0 = tensors[\"t0\"]
aten::add_.Scalar(t0, 1)
t1 = aten::mul.Scalar(t0, 2)
aten::_print('tensor([4, 6])\n')" "$(traced <<'END' | sed 's/tensors-[0-9a-f]*/tensors-FILE/'
x = tensor([1, 2])
x += 1
print(x * 2)
END
)"

cat > "$folder/views.ops" <<'END'
x = tensor([[1.0, 2.0], [3.0, 4.0]])
column = x.T[0]
with trace("views_trace.ops") {
    column += 10
    print(x + 0)
    x[0, 0] = 5
    print(column)
}
END
printed=$("$boxcar" run "$folder/views.ops")
same "views of one storage from outside" "tensors = io::load('tensors-FILE.safetensors')
t0 = tensors[\"t0\"]
t1 = aten::as_strided(t0, [2], [2], 0)
aten::add_.Scalar(t1, 10)
t2 = aten::as_strided(t0, [2, 2], [2, 1], 0)
t3 = aten::add.Scalar(t2, 0)
aten::_print('tensor([[11.,  2.],\\n        [13.,  4.]])\\n')
t4 = aten::select.int(t2, 0, 0)
t5 = aten::select.int(t4, 0, 0)
aten::fill_.Scalar(t5, 5)
aten::_print('tensor([ 5., 13.])\\n')" "$(sed '1,2d; s/tensors-[0-9a-f]*/tensors-FILE/' "$folder/views_trace.ops")"
same "the trace of views" "$printed" "$("$boxcar" run "$folder/views_trace.ops")"
check "$folder/views_trace.ops"

cat > "$folder/zeros.ops" <<'END'
row = aten::_efficientzerotensor([2, 3])[1]
with trace("zeros_trace.ops") { print(row * 2 + ones(3)) }
END
printed=$("$boxcar" run "$folder/zeros.ops")
has "the trace of a zero tensor from outside" "io::load(" "$(cat "$folder/zeros_trace.ops")"
same "the replay of a zero tensor from outside" "tensor([1., 1., 1.])" "$("$boxcar" run "$folder/zeros_trace.ops")"
same "the run with a zero tensor from outside" "tensor([1., 1., 1.])" "$printed"

# ---- Lists and several results ----

same "lists and several results" "tensors = io::load('tensors-FILE.safetensors')
t0 = aten::arange.default(4)
t1 = aten::view.default(t0, [2, 2])
l2 = aten::unbind.int(t1)
t3 = aten::add.Tensor(l2[1], l2[0])
t4 = aten::cat.default([l2[0], t3])
t5, t6 = aten::max.dim(t1, 1)
t7 = tensors[\"t7\"]
t8 = aten::index.Tensor(t1, [None, t7])
aten::_print('tensor([[1],\\n        [3]]) tensor([1, 1])\\n')" "$(traced <<'END' | sed 's/tensors-[0-9a-f]*/tensors-FILE/'
x = arange(4).view(2, 2)
a = x.unbind(0)
b = a[1] + a[0]
c = cat([a[0], b])
m = x.max(1)
print(x[:, tensor([1])], m.indices)
END
)"

# ---- Names of tensors in a dict ----

cat > "$folder/words.ops" <<'END'
net: Dict(str, Tensor) = {}
for k in ["use", "import", "impl", "fallback", "mode", "fn", "const", "return", "if", "elif", "else", "while", "for", "in", "break",
    "continue", "with", "assert", "and", "or", "not", "is", "None", "True", "False", "inf", "nan", "op", "self", "tensor", "tensors",
    "manual_seed", "io", "aten", "int", "str", "Tensor", "float32", "float64", "complex64", "contiguous_format", "t", "t1", "_"] {
    net[k] = tensor([1.0, 2.0])
}
for k in net.keys() {
    a = net[k].to(float64)
    b = net[k].contiguous(memory_format=contiguous_format) + full([2], inf)
    c = (a * nan + rand(2) * 2j).to(complex64)
}
print("done")
END
check "$folder/words.ops"
(cd "$folder" && "$boxcar" trace words.ops -o words_trace.ops > /dev/null)
for line in 'use_ = tensors["use"]' 'use__to = aten::to.dtype(use_, float64)' 'float32_ = tensors["float32"]' 't = tensors["t"]'; do
  has "words of the language as keys" "$line" "$(< "$folder/words_trace.ops")"
done

cat > "$folder/before.ops" <<'END'
net = {"fc.weight": ones(2, 2), "fc": ones(1)}
x = ones(1, 2)
with trace("before_trace.ops") { y = linear(x, net["fc.weight"]) * net["fc"] }
END
"$boxcar" run "$folder/before.ops"
same "a dict from before the trace" 'tensors = io::load('\''tensors-FILE.safetensors'\'')
t0 = tensors["t0"]
fc_weight = tensors["fc.weight"]
t1 = aten::linear.default(t0, fc_weight)
fc = tensors["fc"]
t2 = aten::mul.Tensor(t1, fc)' "$(sed '1,2d; s/tensors-[0-9a-f]*/tensors-FILE/' "$folder/before_trace.ops")"

# ---- Random numbers ----

same "random numbers" "manual_seed(67280421310721)
t0 = aten::rand.default([2])
manual_seed(5)
t1 = aten::randn.default([1])
t2 = aten::rand.default([1])
aten::uniform_(t2, 1.0, 2.0)" "$(traced <<'END'
x = rand(2)
manual_seed(5)
y = randn(1)
z = rand(1)
z.uniform_(1, 2)
END
)"
cat > "$folder/seeded.ops" <<'END'
manual_seed(3)
x = randn(1)
with trace("seeded_trace.ops") { print(randn(3)) }
END
printed=$("$boxcar" run "$folder/seeded.ops")
same "a generator amid its sequence" "$printed" "$("$boxcar" run "$folder/seeded_trace.ops")"
[[ $(sed -n 3p "$folder/seeded_trace.ops") =~ ^manual_seed\(3,\ drawn=[0-9]+,\ next_normal=-?[0-9.]+\)$ ]] ||
  fail "the state of the generator: $(sed -n 3p "$folder/seeded_trace.ops")"

# ---- Operators, kernels and modes of scripts ----

same "operators of scripts are traced through" "t0 = aten::ones.default([2])
t1 = aten::mul.Tensor(t0, t0)
t2 = aten::neg.default(t1)
t3 = aten::add.Scalar(t0, 1)
aten::_print('tensor([2., 2.])\\n')" "$(traced <<'END'
op my::inner(Tensor x) -> Tensor { return x * x }
op my::outer(Tensor x) -> Tensor { return -my::inner(x) }
mode adds { if op.name == "aten::relu" { return [args[0] + 1] }
    return redispatch(op, args) }
x = ones(2)
y = my::outer(x)
with adds { print(relu(x)) }
END
)"

same "what kernels of scripts hand on" "t0 = aten::ones.default([2])
aten::_print('autograd of aten::relu\\n')
t1 = aten::relu.default(t0)
t2 = aten::add.Scalar(t1, 1)
t3 = aten::neg.default(t2)
aten::_print('fallback of aten::abs\\n')
t4 = aten::abs.default(t3)
t5 = aten::mul.Scalar(t4, 2)
aten::_print('tensor([4., 4.])\\n')" "$(traced <<'END'
impl aten::relu @ Autograd {
    print("autograd of", op.name)
    return redispatch(op, args)[0] + 1
}
x = ones(2)
with include(AutogradFunctionality) { y = relu(x) }
y = neg(y)
fallback @ ADInplaceOrView {
    if op.name != "aten::abs" { return redispatch(op, args) }
    print("fallback of", op.name)
    return [redispatch(op, args)[0] * 2]
}
print(abs(y))
END
)"

# ---- Failures ----

printf 'x = ones(2)\ny = x + 1\nz = y @ ones(3)\n' > "$folder/fails.ops"
(cd "$folder" && "$boxcar" trace fails.ops -o fails_trace.ops > /dev/null 2>&1)
same "the status of a run that fails" 1 $?
same "the trace of a run that fails" "t0 = aten::ones.default([2])
t1 = aten::add.Scalar(t0, 1)
t2 = aten::ones.default([3])" "$(sed '1,2d' "$folder/fails_trace.ops")"
has "a run that fails" "trace: the run failed; by_run.ops has the calls before that" \
  "$(cd "$folder" && "$boxcar" run --trace by_run.ops fails.ops 2>&1)"
cmp "$folder/fails_trace.ops" "$folder/by_run.ops" || fail "run --trace writes something else than trace"
echo 'print(1' > "$folder/wrong.ops"
"$boxcar" trace "$folder/wrong.ops" -o "$folder/by_run.ops" > /dev/null 2>&1
cmp "$folder/fails_trace.ops" "$folder/by_run.ops" || fail "a script that does not compile costs an older trace"
same "a folder that is not there" "boxcar: cannot write '$folder/none/x.ops': No such file or directory" \
  "$("$boxcar" trace "$folder/fails.ops" -o "$folder/none/x.ops" 2>&1)"
printf 'with trace("a.ops") { x = ones(2) }' > "$folder/boxed.ops"
[[ $("$boxcar" run --sandbox "$folder/boxed.ops" 2>&1) == *"a.ops"*"outside of the folders"* ]] ||
  fail "a sandbox: $("$boxcar" run --sandbox "$folder/boxed.ops" 2>&1)"

# ---- The graph ----

printf 'x = tensor([1.0, 2.0])\ny = x * 2\nx += 1\nprint("done", x + y)\n' > "$folder/graph.ops"
"$boxcar" trace "$folder/graph.ops" -o "$folder/graph_trace.ops" --dot "$folder/graph.dot" > /dev/null
boxes() {  # FILE: prints the calls of a graph with the tensors in them, and the edges
  sed -n -e 's/^  \(n[0-9]*\) \[label=<\(.*\)<\/table>>.*/\1 \2/; T edge; s/<[^>]*>/ /g; s/  */ /g; p; b' \
    -e ':edge; s/^  \(n[0-9]* -> n[0-9]*\) \[label="\([^"]*\)"\(, style=dashed\)\?.*/\1 \2\3/p' -e 's/^ *subgraph.*label="\([^"]*\)".*/{ \1/p; s/^  }/}/p' "$1" |
    sed 's/ *$//'
}
same "the graph" 'n0 aten::mul t0 float32 [2]
n1 aten::add_ t0 float32 [2]
n2 aten::add
n3 aten::_print done tensor([4., 7.])
n0 -> n2 float32 [2]
n1 -> n2 float32 [2]' "$(boxes "$folder/graph.dot")"
if command -v dot > /dev/null; then
  "$boxcar" trace "$folder/graph.ops" -o "$folder/graph_trace.ops" --svg "$folder/graph.svg" > /dev/null
  grep -q 'aten::add_</text>' "$folder/graph.svg" || fail "the picture: $(head -c 300 "$folder/graph.svg")"
fi
printf 'x = ones(2)\nfor i in range(2000) { x = x + 1 }\n' > "$folder/large.ops"
if command -v dot > /dev/null; then
  same "a picture that is too large" "boxcar: a picture of some 4006 nodes and edges is more than \`dot\` draws in reasonable time: write the graph with --dot, leave out --unfold, or trace a part of the script by \`with trace(…)\`" \
    "$("$boxcar" trace "$folder/large.ops" -o "$folder/large_trace.ops" --svg "$folder/large.svg" --unfold 2>&1)"
  "$boxcar" trace "$folder/large.ops" -o "$folder/large_trace.ops" --svg "$folder/large.svg" 2>&1
  grep -q 'aten::add ×2000</text>' "$folder/large.svg" || fail "what repeats is drawn once: $(head -c 300 "$folder/large.svg")"
fi
cat > "$folder/layers.ops" <<'END'
fn block(Tensor x, Dict(str, Tensor) net, int i) -> Tensor {
    h = relu(linear(x, net[f"layer{i}.up.weight"], net[f"layer{i}.up.bias"]))
    return x + linear(h, net[f"layer{i}.down.weight"])
}
net: Dict(str, Tensor) = {}
for i in range(20) {
    net[f"layer{i}.up.weight"] = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    net[f"layer{i}.up.bias"] = tensor([1.0, 2.0, 3.0])
    net[f"layer{i}.down.weight"] = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) / 100
}
h = tensor([[1.0, 2.0]])
for i in range(20) { h = block(h, net, i) }
h = h.softmax(1)
END
"$boxcar" trace "$folder/layers.ops" -o "$folder/layers_trace.ops" --dot "$folder/layers.dot"
same "layers that repeat" '{ block ×20
n20 aten::linear t40 float32 [1, 2] layer*.up.weight float32 [3, 2] layer*.up.bias float32 [3]' "$(boxes "$folder/layers.dot" | grep -A1 'block ×20')"
has "a weight's name in the trace of layers" 'layer7_up_bias = tensors["layer7.up.bias"]' "$(< "$folder/layers_trace.ops")"
check "$folder/layers.ops"
"$boxcar" trace "$folder/layers.ops" -o "$folder/layers_trace.ops" --dot "$folder/layers.dot" --unfold
same "layers that are not folded" 20 "$(grep -c '<td>aten::relu</td>' "$folder/layers.dot")"

same "a picture without Graphviz" "boxcar: the program \`dot\`, which draws the picture, was not found: install the package graphviz, or write the graph to a .dot file" \
  "$(PATH=/nowhere "$boxcar" trace "$folder/graph.ops" -o "$folder/x.ops" --svg "$folder/x.svg" 2>&1)"
[[ ! -e $folder/x.ops ]] || fail "a trace although no picture could be drawn"

"$boxcar" trace "$folder/wrong.ops" -o "$folder/graph_trace.ops" --dot "$folder/graph.dot" > /dev/null 2>&1
grep -q 'aten::add_' "$folder/graph.dot" || fail "a script that does not compile costs an older graph"

# ---- Files that would overwrite others ----

refused() {  # EXPECTED ARGUMENT...
  local expected=$1
  shift
  same "files of one name" "boxcar trace: $expected: name another file
Run \`boxcar trace --help\` for its usage." "$(cd "$folder" && "$boxcar" trace "$@" 2>&1)"
}
before=$(< "$folder/graph.ops")
refused "--output: './graph.ops' is the script itself" graph.ops -o ./graph.ops
refused "--dot: 'graph.ops' is the script itself" graph.ops -o new.ops --dot graph.ops
refused "--svg: --dot writes './new.dot' already" graph.ops -o new.ops --dot new.dot --svg ./new.dot
refused "--record: --output writes 'new.ops' already" graph.ops -o new.ops --record new.ops,shapes=True
same "the script" "$before" "$(< "$folder/graph.ops")"
[[ ! -e $folder/new.ops ]] || fail "a trace although the graph could not be written"

(cd "$folder" && "$boxcar" trace graph.ops --dot alone.dot > /dev/null) || fail "a graph without a trace"
[[ $(head -n 1 "$folder/alone.dot") == digraph* ]] || fail "no graph: $(head -n 1 "$folder/alone.dot")"
refusal=$("$boxcar" trace "$folder/graph.ops" 2>&1)
has "a trace of nothing" "boxcar trace: --output, --dot or --svg is required" "$refusal"

# ---- Training ----

cat > "$folder/train.ops" << 'EOF'
manual_seed(3)
w = randn(2, 3).requires_grad_()
x = randn(3, 4)
for step in range(2) {
    loss = (w @ x).tanh().sum()
    loss.backward()
    g = w.grad
    if g is not None and w.requires_grad {
        with no_grad() {
            w -= 0.1 * g
            w.mul_(0.5)
        }
        w.grad = None
    }
}
print(w.detach())
EOF
"$boxcar" trace "$folder/train.ops" -o "$folder/steps.ops" > "$folder/trained.txt"
same "a trace that differentiates nothing" 0 "$(grep -c 'backward(\|grad' "$folder/steps.ops")"
same "its run" "$(< "$folder/trained.txt")" "$("$boxcar" run "$folder/steps.ops")"
"$boxcar" trace "$folder/train.ops" -o "$folder/kept.ops" --keep-backward > /dev/null
same "a trace that differentiates" "aten::requires_grad_(t0)
aten::backward(t4)
t5 = prim::grad.default(t0)
with no_grad() {
    t6 = aten::mul.Tensor(0.1, t5)
    aten::sub_.Tensor(t0, t6)
    aten::mul_.Scalar(t0, 0.5)
}
prim::grad.set(t0, None)" "$(grep -A4 'grad\|backward' "$folder/kept.ops" | grep 'grad\|backward\|^    \|}' | head -n 9)"
same "calls of backward alone" "2 0" \
  "$(grep -c 'backward(' "$folder/kept.ops") $(grep -c 'tanh_backward\|requires_grad(' "$folder/kept.ops")"
same "its run" "$(< "$folder/trained.txt")" "$("$boxcar" run "$folder/kept.ops")"
"$boxcar" trace "$folder/kept.ops" -o "$folder/kept_again.ops" --keep-backward > /dev/null
same "a trace of that trace" "$(< "$folder/kept.ops")" "$(< "$folder/kept_again.ops")"
cat > "$folder/forwards.ops" << 'EOF'
fn f(Tensor x) -> Tensor { return (x.sin() * x).prod() + (x.softmax(0) * x).sum() }
print(func::jvp(f, [tensor([0.5, 2.0])], [tensor([1.0, 3.0])]))
EOF
"$boxcar" trace "$folder/forwards.ops" -o "$folder/tangents.ops" > "$folder/forwards.txt"
same "a trace that differentiates forwards has all calls" 2 "$(grep -c 'jvp\|tensors\[' "$folder/tangents.ops")"
same "its run" "$(< "$folder/forwards.txt")" "$("$boxcar" run "$folder/tangents.ops")"

echo 'a = ones(2, 2)
with autocast("cpu") { print(mm(a, a)) }' > "$folder/casts.ops"
"$boxcar" trace "$folder/casts.ops" -o "$folder/casts_trace.ops" > "$folder/casts.txt"
same "a trace has the casts of autocast" 2 "$(grep -c 'aten::_to_copy(t0, dtype=bfloat16)' "$folder/casts_trace.ops")"
same "its run" "$(< "$folder/casts.txt")" "$("$boxcar" run "$folder/casts_trace.ops")"
echo 'with autocast("cpu") { print(einsum("ij,jk->ik", [ones(2, 2), ones(2, 2)])) }' > "$folder/casts.ops"
"$boxcar" trace "$folder/casts.ops" -o "$folder/casts_trace.ops" > "$folder/casts.txt"
same "the run of a trace of an operator that casts inside" "$(< "$folder/casts.txt")" "$("$boxcar" run "$folder/casts_trace.ops")"

echo 'fn f(Tensor x) -> Tensor { return x * 2 }
autograd::checkpoint(f, ones(2))' > "$folder/checkpoint.ops"
refusal=$("$boxcar" trace "$folder/checkpoint.ops" -o "$folder/checkpoint_trace.ops" --keep-backward 2>&1)
[[ $refusal == *"the tracer cannot write down argument 'function' of autograd::checkpoint, a value of kind Object"* ]] ||
  fail "a trace of a call that takes a function: $refusal"

echo 'fn double(Tensor g) -> Tensor { return g * 2 }
x = ones(2).requires_grad_()
x.register_hook(double)' > "$folder/hook.ops"
has "a trace of a hook" "the tracer cannot write down argument 'hook' of aten::register_hook, a value of kind Object" \
  "$("$boxcar" trace "$folder/hook.ops" -o "$folder/hook_trace.ops" --keep-backward 2>&1)"
echo 'op my::scale(Tensor x) -> Tensor { return x * 2 }
fn scale_backward(Tensor grad) -> Tensor { return grad * 2 }
autograd::register_derivative("my::scale", scale_backward)' > "$folder/own.ops"
has "a trace of a derivative of one's own" \
  "the tracer cannot write down argument 'backward' of autograd::register_derivative, a value of kind Object" \
  "$("$boxcar" trace "$folder/own.ops" -o "$folder/own_trace.ops" --keep-backward 2>&1)"
for name in hook own; do
  "$boxcar" trace "$folder/$name.ops" -o "$folder/${name}_trace.ops" > /dev/null || fail "$name: a trace without backward"
done

[[ $failures -eq 0 ]] || exit 1
