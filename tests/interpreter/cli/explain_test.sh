#!/usr/bin/env bash
# Tests `boxcar explain`, what `boxcar ops --key` lists, and the errors of both.
# Usage: explain_test.sh BOXCAR
set -u
source "$(dirname "$0")/expectations.sh"

# Runs the program with the arguments after the first one, which is the expected error output.
refuses() {
  local expected=$1
  shift
  run "$*" "$@"
  expectStatus 1
  expectOutput ""
  expectErrors "boxcar: $expected"
}
# The same for a wrong command line.
misuses() {
  local expected=$1
  shift
  run "$*" "$@"
  expectStatus 2
  expectOutput ""
  expectErrors "boxcar $1: $expected
Run \`boxcar $1 --help\` for its usage."
}

# ---- explain ----

thread="this thread includes: BackendSelect, ADInplaceOrView
this thread excludes: the autocast keys, as every thread at its start"
through="passed over: ADInplaceOrView, which lets the call through by default
passed over: BackendSelect, which lets the call through by default"

run "explain: all tensors on the CPU" explain aten::relu
expectStatus 0
site=$(grep -o 'backends/native/[a-z_]*.[a-z]*:[0-9]*$' <<< "$output")
formula=$(grep -o 'backends/ops/aten_functions.derivatives:[1-9][0-9]*$' <<< "$output")
[[ $(sed -n "${formula##*:}p" "$(dirname "$0")/../../../${formula%:*}") == aten::relu ]] || fail "the formula is there" "$output"
expectOutput "aten::relu(Tensor self) -> Tensor
gradient: by the formula at $formula
argument 'self' (position 1, Tensor) brings: CPU, ADInplaceOrView
$thread
$through
dispatched to: CPU, which runs the kernel registered for CPU at $site"
expectErrors ""

run "explain: a backend that is not there" explain aten::sub.Tensor --arg cpu+grad --arg other=privateuseone:1 --exclude AutogradFunctionality
expectStatus 0
formula=$(grep '^gradient: by the formula at backends/ops/aten_arithmetic.derivatives:' <<< "$output")
expectOutput "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
$formula
argument 'self' (position 1, Tensor) brings: CPU, ADInplaceOrView, AutogradCPU
argument 'other' (position 2, Tensor) brings: PrivateUse1, ADInplaceOrView
together: CPU, PrivateUse1, ADInplaceOrView, AutogradCPU, AutogradPrivateUse1
this thread includes: BackendSelect, ADInplaceOrView
this thread excludes: AutogradFunctionality, AutocastCPU, AutocastXPU, AutocastIPU, AutocastHPU, AutocastXLA, AutocastCUDA, AutocastPrivateUse1
passed over: AutogradPrivateUse1, which this thread excludes
$through
the highest of several backends serves the call: PrivateUse1 before CPU
dispatched to: PrivateUse1, which has no kernel
the operator has kernels for: Autograd, Meta, CPU
the call would be served by: a kernel for PrivateUse1 or for an alias of it (CompositeImplicitAutograd, CompositeExplicitAutograd, CompositeExplicitAutogradNonFunctional), or a fallback at PrivateUse1"

run "explain: a tensor that requires grad, before any does" explain aten::relu --arg cpu+grad
expectStatus 0
expectOutputHas "dispatched to: AutogradCPU, which runs the kernel registered for Autograd, which covers AutogradCPU, at backends/autograd/autograd_kernel.cpp:"
printf 'op my::plain(Tensor x) -> Tensor { return x }\n' > plain.ops
gradient() {  # OPERATOR EXPECTED [OPTION...]
  run "the gradient of $1" explain "$1" "${@:3}"
  expectStatus 0
  expectOutputHas "
gradient: $2
"
}
gradient aten::linear "composed of other operators, which are differentiated"
gradient my::plain "composed of other operators, which are differentiated" --script plain.ops
gradient aten::argmax "none, as its results are not differentiable"
gradient aten::mul.out "none, as it has out=, so to call it on tensors that require grad is an error"
gradient aten::floor_divide "no formula, so to ask for it is an error"
gradient aten::resize_ "by its own kernel for Autograd"

run "explain: autocast" explain aten::mm --autocast cpu
expectStatus 0
expectOutputHas "
autocast: on cpu, arguments are cast to bfloat16
"
expectOutputHas "this thread includes: BackendSelect, ADInplaceOrView, AutocastCPU"
expectOutputHas "dispatched to: AutocastCPU, which runs the kernel registered for AutocastCPU at backends/ops/aten.autocast:"
run "explain: autocast on another device, as JSON" explain aten::sum.dim_IntList --autocast cuda --json
expectStatus 0
expectOutputHas "\"autocast\": \"on cuda, the argument 'dtype' becomes float32, unless it is given\""
run "explain: an operator that autocast leaves alone" explain aten::add.Tensor --autocast cpu
expectStatus 0
expectOutputHas "passed over: AutocastCPU, which lets the call through by default"

# ---- explain, level by level ----

# The lines from where the call gets to first, without the places of kernels.
way() { sed -n '/^dispatched to:/,$p' <<< "$output" | sed -E 's/(at|registered at) [a-z_/.]+(:[0-9]+)?$/at …/'; }
goes() {  # NAME EXPECTED ARGUMENTS...
  run "explain: $1" explain "${@:3}"
  expectStatus 0
  expectErrors ""
  [[ $(way) == "$2" ]] || fail "$test_name" "the way was:" "$(way)" "instead of:" "$2"
}
batched="which runs the fallback of FuncTorchBatched, at …"
recorded="AutogradCPU, which runs the kernel registered for Autograd, which covers AutogradCPU, at …"
computed="CPU, which runs the kernel registered for CPU at …"
forward="FuncTorchDynamicLayerFrontMode, which runs the fallback of FuncTorchDynamicLayerFrontMode, at …"

goes "vmap, autocast and grad" "dispatched to: FuncTorchBatched, $batched
  takes level 1 off self, and takes mat2 for every slice; calls by the rule 'product'
  its calls, if of aten::mm, go on with: CPU, AutogradCPU, AutocastCPU
then: AutocastCPU, which runs the kernel registered for AutocastCPU at …
  casts self and mat2 from float32 to bfloat16
  goes on with: CPU, AutogradCPU
then: $recorded
  records MmBackward0 for the gradient of self, which keeps mat2
  goes on with: CPU
then: $computed" aten::mm --arg cpu+grad+vmap --arg cpu --autocast cpu
expectOutputHas "
argument 'self' (position 1, Tensor) brings: CPU, FuncTorchBatched; inside level 1: CPU, ADInplaceOrView, AutogradCPU
"
goes "two levels of vmap" "dispatched to: FuncTorchBatched, $batched
  takes level 2 off other, and takes self for every slice; calls by the rule 'pointwise'
  its calls, if of aten::add.Tensor, go on with: CPU, FuncTorchBatched
then: FuncTorchBatched, $batched
  takes level 1 off self and other; calls by the rule 'pointwise'
  its calls, if of aten::add.Tensor, go on with: CPU
then: $computed" aten::add.Tensor --arg cpu+vmap --arg cpu+vmap2+vmap
expectOutputHas "argument 'other' (position 2, Tensor) brings: CPU, FuncTorchBatched; inside level 2: CPU, FuncTorchBatched; inside level 1: CPU, ADInplaceOrView"
run "explain: the inner level alone" explain aten::relu --arg cpu+vmap3
expectOutputHas "brings: CPU, FuncTorchBatched; inside level 3: CPU, ADInplaceOrView"
goes "a loop over the slices" "dispatched to: FuncTorchBatched, $batched
  takes level 1 off self; calls the operator for each slice
  its calls, if of aten::histc, go on with: CPU
then: CPU, which runs the kernel registered for CompositeExplicitAutograd, which covers CPU, at …" aten::histc --arg cpu+vmap
goes "what vmap decomposes" "dispatched to: FuncTorchBatched, $batched
  calls the operators that it is made of, on the batched tensors
  its calls begin at the top" aten::linear --arg cpu+vmap
goes "what vmap refuses" "dispatched to: FuncTorchBatched, $batched
  refuses the call: the sizes of its result depend on the elements, and those of slices could differ" aten::nonzero --arg cpu+vmap
goes "random numbers inside vmap" "dispatched to: FuncTorchVmapMode, which runs the kernel registered for FuncTorchVmapMode at …
  takes level 1 off self; draws as the randomness of func::vmap() says
  its calls, if of aten::rand_like, go on with: CPU
then: CPU, which runs the kernel registered for CompositeExplicitAutograd, which covers CPU, at …" aten::rand_like --arg cpu+vmap
goes "tangents inside vmap" "dispatched to: $forward
  leaves the call to the tensors inside func::vmap(), on which it comes here again
  goes on with: CPU, FuncTorchBatched
then: FuncTorchBatched, $batched
  takes level 1 off self; calls by the rule 'pointwise'
  its calls, if of aten::sin, go on with: CPU, FuncTorchDynamicLayerFrontMode
then: $forward
  computes the result's tangent, after the call, from that of self, by its gradients' formulas
  goes on with: CPU
then: $computed" aten::sin --jvp --arg cpu+vmap
goes "tangents of what is made of others" "dispatched to: $forward
  leaves the call to the operators that it is made of
  goes on with: CPU
then: CPU, which runs the kernel registered for CompositeImplicitAutograd, which covers CPU, at …
  is made of other operators
  its calls begin at the top" aten::linear --jvp
goes "a program without writes" "dispatched to: $recorded
  records AddBackward0 for the gradient of self, which keeps nothing
  goes on with: CPU, Functionalize
then: Functionalize, which runs the fallback of Functionalize, at …
  calls aten::add.Tensor instead, whose result becomes the value of self
  goes on with: CPU
then: aten::add.Tensor at $computed" aten::add_.Tensor --functionalize --arg cpu+grad --arg cpu
goes "a view in such a program" "dispatched to: Functionalize, which runs the fallback of Functionalize, at …
  makes the view of the value of self, and remembers how
  goes on with: CPU
then: CPU, which runs the kernel registered for CompositeExplicitAutograd, which covers CPU, at …" aten::select.int --functionalize
goes "fake tensors" "dispatched to: Fake, which runs the fallback of Fake, at …
  calls the kernel for Meta on tensors of the same sizes, and gives its results the device
  goes on with: Meta
then: Meta, which runs the kernel registered for Meta at …" aten::relu --fake
goes "what fake tensors lack" "dispatched to: Fake, which runs the fallback of Fake, at …
  needs elements, and fake tensors have none, unless they are numbers of the program" aten::nonzero --arg cpu+fake
goes "parts on fake tensors" "dispatched to: Fake, which runs the fallback of Fake, at …
  calls the operators that it is made of, on the fake tensors
  its calls begin at the top" aten::linear --fake
goes "dtypes that autocast leaves" "dispatched to: AutocastCPU, which runs the kernel registered for AutocastCPU at …
  casts mat2 from float16 to bfloat16
  goes on with: CPU
then: $computed" aten::mm --autocast cpu --arg cpu+float64 --arg cpu+float16
goes "dtypes that autocast does not know" "dispatched to: AutocastCPU, which runs the kernel registered for AutocastCPU at …
  casts by its class lower_precision_fp: arguments are cast to bfloat16
  goes on with: CPU
then: $computed" aten::mm --autocast cpu --arg CPU --arg CPU
goes "nothing to cast" "dispatched to: AutocastCPU, which runs the kernel registered for AutocastCPU at …
  casts nothing, as no argument is to be cast to bfloat16
  goes on with: CPU
then: $computed" aten::mm --autocast cpu --arg cpu+bfloat16 --arg cpu+bfloat16
goes "dtypes that autocast does not promote" "dispatched to: AutocastCPU, which runs the kernel registered for AutocastCPU at …
  refuses tensors of float16: it promotes those of bfloat16 and float32 alone" aten::index_copy --autocast cpu --arg self=cpu+float32 --arg source=cpu+float16
goes "what no gradient needs" "dispatched to: $recorded
  records nothing, as the result is not differentiable
  goes on with: CPU
then: $computed" aten::argmax --arg cpu+grad
run "explain --json: levels" explain aten::mm --json --arg cpu+grad+vmap --arg cpu --autocast cpu
expectStatus 0
python3 -c 'import json, sys
for level in json.load(sys.stdin)["levels"]:
    print(level["operator"], level["key"], level["kernel"], "|", level["effect"], "|", level["goes_on"], *level["with"])' <<< "$output" > levels.txt
[[ $(< levels.txt) == "aten::mm FuncTorchBatched boxed | takes level 1 off self, and takes mat2 for every slice; calls by the rule 'product' | anew CPU AutogradCPU AutocastCPU
aten::mm AutocastCPU unboxed | casts self and mat2 from float32 to bfloat16 | below CPU AutogradCPU
aten::mm AutogradCPU boxed | records MmBackward0 for the gradient of self, which keeps mat2 | below CPU
aten::mm CPU unboxed |  | none" ]] || fail "$test_name" "the levels were:" "$(< levels.txt)"

misuses "--arg cpu+grd: a tensor cannot be +grd. Did you mean 'grad'? After the device may come +grad (it requires grad), +vmap or +vmap2 (batched at this level of vmap), +fake, +conj, +neg, +zero or a dtype" explain aten::relu --arg cpu+grd
misuses "--arg cpu+float32+float64: a tensor has one dtype, not float32 and float64; leave one out" explain aten::relu --arg cpu+float32+float64
misuses "--arg cpu+vmap0: +vmap0: levels of vmap are numbered from 1, the outermost, to 9; +vmap is level 1" explain aten::relu --arg cpu+vmap0
misuses "--arg cpu+vmapx: +vmapx: levels of vmap are numbered from 1, the outermost, to 9; +vmap is level 1" explain aten::relu --arg cpu+vmapx
misuses "--arg cpu+vmap2+vmap2: +vmap2: the tensor is batched at level 2 already; give another level, such as +vmap3" explain aten::relu --arg cpu+vmap2+vmap2
misuses "--arg cpu+int64+grad: a tensor of int64 cannot require grad; leave out +grad, or give it a floating point or complex dtype" explain aten::relu --arg cpu+int64+grad
misuses "--arg cpu+float32+conj: a tensor of float32 has no conjugate; leave out +conj, or give it a complex dtype" explain aten::conj --arg cpu+float32+conj
misuses "--arg generator=cpu+vmap: argument 'generator' is a generator, which cannot be +vmap; give it cpu" explain aten::uniform_ --arg generator=cpu+vmap

run "explain: lists, and keys of the thread" explain aten::cat --arg cpu,meta --include Tracer --exclude Tracer --exclude Dense
expectStatus 0
expectOutputHas "argument 'tensors' (position 1, Tensor[]) brings: CPU, Meta, ADInplaceOrView"
expectOutputHas "this thread includes: BackendSelect, ADInplaceOrView, Tracer
this thread excludes: Dense, Tracer, AutocastCPU, "
expectOutputHas "passed over: Tracer, which this thread excludes"
expectOutputHas "dispatched to: Undefined, as no key is left; it has no kernel"

run "explain: keys" explain aten::exp --arg 'CPU|Negative' --include Tracer
expectStatus 0
expectOutputHas "argument 'self' (position 1, Tensor) brings: CPU, Negative"
expectOutputHas "dispatched to: Tracer, which has no kernel
the operator has kernels for: Autograd, Meta, CPU
the call would be served by: a kernel for Tracer, or a fallback at Tracer"

run "explain: tensors with named dimensions" explain aten::exp --arg 'CPU|Named'
expectStatus 0
expectOutputHas "dispatched to: Named, which refuses tensors with named dimensions by default"

run "explain: a layout without a kernel" explain aten::exp --arg MkldnnCPU
expectStatus 0
expectOutputHas "dispatched to: MkldnnCPU, which runs the fallback of MkldnnCPU, registered at backends/composite/mkldnn.cpp:"

run "explain: arguments that bring nothing" explain aten::linear --arg none --arg weight=cpu
expectStatus 0
expectOutputHas "argument 'input' (position 1, Tensor) brings: none"
expectOutputHas "argument 'bias' (position 3, Tensor?) brings: none"
expectOutputHas "which runs the kernel registered for CompositeImplicitAutograd, which covers CPU, at backends/composite/"

run "explain --json" explain aten::sub.Tensor --json --arg cpu --include Tracer
expectStatus 0
python3 -m json.tool <<< "$output" > object.json || fail "$test_name" "no JSON"
for part in '"operator": "aten::sub.Tensor"' '"gradient": "by the formula at ' '"name": "self"' '"position": 1' '"lets_through": \[' '"passed": \[' '"key": "Tracer"' \
  '"cause": "missing"' '"kernels_for": "Autograd, Meta, CPU"'; do
  grep -q "$part" object.json || fail "$test_name" "without $part" "$output"
done

refuses "aten::add has several overloads; name one: aten::add.Tensor, aten::add.Scalar, aten::add.out" explain aten::add
refuses "there is no operator 'aten::reluu'. Did you mean 'aten::relu', 'aten::relu6' or 'aten::relu_'? \`boxcar ops\` lists all" explain aten::reluu
refuses "there is no operator 'aten::add.Tensr'; the overloads of aten::add are: aten::add.Tensor, aten::add.Scalar, aten::add.out" explain aten::add.Tensr
refuses "there is no operator 'relu'; a name begins with its namespace: aten::relu" explain relu
misuses "--arg meta is one too many: aten::relu is dispatched on: self" explain aten::relu --arg cpu --arg meta
misuses "--arg cpu is too much: aten::zeros takes neither tensors nor generators, so no argument brings a key; leave it out" explain aten::zeros --arg cpu
misuses "--arg othr=cpu: aten::add.Tensor has no argument 'othr'. Did you mean 'other'? It is dispatched on: self, other" explain aten::add.Tensor --arg othr=cpu
misuses "--arg alpha=cpu: 'alpha' brings no key, as it is a Scalar; the arguments that do are: self, other" explain aten::add.Tensor --arg alpha=cpu
misuses "--arg cpu: argument 'self' was given already; give it once" explain aten::relu --arg self=cpu --arg cpu
misuses "--arg cpux: device 'cpux' has the unknown type 'cpux'; the type is one of cpu, cuda, hip, fpga, ort, xla, vulkan, metal, xpu, mps, meta, hpu, ve, lazy, ipu, mtia or privateuseone" explain aten::relu --arg cpux
misuses "--arg CPUU: 'CPUU' is not a dispatch key. Did you mean 'CPU'?" explain aten::relu --arg CPUU
misuses "--arg CPU|Autograd: Autograd is an alias for several keys, and no tensor has it; name the keys: AutogradCPU" explain aten::relu --arg 'CPU|Autograd'
misuses "--arg input=CPU|: '' is not a dispatch key; a key is a backend's (CPU, QuantizedCUDA, AutogradMeta), a functionality (BackendSelect, Python) or an alias (Autograd, CompositeExplicitAutograd)" explain aten::linear --arg 'input=CPU|'
misuses "--arg Dense: Dense is a functionality with a key for each backend; name one of them, such as CPU" explain aten::relu --arg Dense
misuses "--arg cpu,meta: argument 'self' is a Tensor, and 'cpu,meta' is not one: several devices are for lists" explain aten::relu --arg cpu,meta
misuses "--arg +grad: argument 'self' cannot be '+grad'; it is a device (cpu, cuda, meta), with +grad for a tensor that requires grad, none, or keys: CPU|AutogradCPU" explain aten::relu --arg +grad
misuses "--include Autograd: Autograd is an alias for several keys; a thread has functionality keys, here AutogradFunctionality" explain aten::relu --include Autograd
misuses "--exclude CPU: CPU belongs to one backend; a thread has functionality keys, such as Dense" explain aten::relu --exclude CPU
misuses "--include Undefined: Undefined is the key of calls that have none; it cannot be given" explain aten::relu --include Undefined
misuses "--include Trcer: 'Trcer' is not a dispatch key. Did you mean 'Tracer'?" explain aten::relu --include Trcer

run "explain without an operator" explain
expectStatus 2
expectErrors "boxcar explain: OPERATOR is required
Run \`boxcar explain --help\` for its usage."

# ---- run --dispatch-trace: what each level does ----

cat > levels.ops <<'OPS'
fn noisy(Tensor x) -> Tensor { return x + rand_like(x) }
fn twice(Tensor x) -> Tensor { return x.sin() * 2.0 }
fn make() -> Tensor { return ones(2) + 1 }
fn row(Tensor x, Tensor y) -> Tensor { return x * y }
fn rows(Tensor x, Tensor y) -> Tensor {
    inner = func::vmap(row, [None, 0])
    return inner(x, y)
}
x = ones(3, 2)
with autocast("cpu") {
    a = mm(x.half(), ones(2, 2))
    b = cat([ones(2).to(bfloat16), ones(2)])
    c = prod(x)
}
noise = func::vmap(noisy, randomness="different")
n = noise(x)
both = func::vmap(rows)
r = both(x, x)
r = func::jvp(twice, [ones(2)], [ones(2)])
with functionalize() {
    y = zeros(2)
    y.add_(ones(2))
    t = ones(2, 3)
    t.t_()
}
with fake() {
    z = ones(2, 2) + 1
    q = linear(z, z)
}
d = func::deferred_init(make)
g = ones(2)
g.requires_grad = True
h = g.sum()
OPS
run "the trace says what each level does to the arguments" run --dispatch-trace levels.ops
expectStatus 0
effects=$(grep '\]: ' <<< "$errors" | sed 's/^ *//')
[[ $effects == "[callBoxed] op=[aten::mm], key=[AutocastCPU]: casts self and mat2 from float16 and float32 to bfloat16
[callBoxed] op=[aten::cat], key=[AutocastCPU]: casts tensors from bfloat16 to float32
[callBoxed] op=[aten::prod], key=[AutocastCPU]: casts nothing, as no argument is to be cast to float32
[callBoxed] op=[aten::rand_like], key=[FuncTorchVmapMode]: takes level 1 off self (3 slices); draws for each slice
[callBoxed] op=[aten::add.Tensor], key=[FuncTorchBatched]: takes level 1 off self and other (3 slices); calls by the rule 'pointwise'
[callBoxed] op=[aten::mul.Tensor], key=[FuncTorchBatched]: takes level 2 off other (2 slices), and takes self for each slice; calls by the rule 'pointwise'
[call] op=[aten::unsqueeze], key=[FuncTorchBatched]: takes level 1 off self (3 slices); calls by the rule 'shape'
[callBoxed] op=[aten::mul.Tensor], key=[FuncTorchBatched]: takes level 1 off self and other (3 slices); calls by the rule 'pointwise'
[callBoxed] op=[aten::sin], key=[FuncTorchDynamicLayerFrontMode]: computes the result's tangent, after the call, from that of self, by its gradients' formulas
[callBoxed] op=[aten::mul.Scalar], key=[FuncTorchDynamicLayerFrontMode]: computes the result's tangent, after the call, from that of self, by its gradients' formulas
[callBoxed] op=[aten::zeros], key=[Functionalize]: takes the result as a value, which is never written
[callBoxed] op=[aten::ones], key=[Functionalize]: takes the result as a value, which is never written
[callBoxed] op=[aten::add_.Tensor], key=[Functionalize]: calls aten::add.Tensor instead, whose result becomes the value of self
[callBoxed] op=[aten::ones], key=[Functionalize]: takes the result as a value, which is never written
[callBoxed] op=[aten::t_], key=[Functionalize]: calls aten::t instead, whose result becomes the value of self
[callBoxed] op=[aten::ones], key=[Fake]: calls the kernel for Meta on tensors of the same sizes, and gives its results the device
[callBoxed] op=[aten::add.Scalar], key=[Fake]: calls the kernel for Meta on tensors of the same sizes, and gives its results the device
[callBoxed] op=[aten::linear], key=[Fake]: calls the operators that it is made of, on the fake tensors
[call] op=[aten::t], key=[Fake]: calls the kernel for Meta on tensors of the same sizes, and gives its results the device
[call] op=[aten::matmul], key=[Fake]: calls the operators that it is made of, on the fake tensors
[call] op=[aten::mm], key=[Fake]: calls the kernel for Meta on tensors of the same sizes, and gives its results the device
[callBoxed] op=[aten::ones], key=[DeferredInit]: has what reaches fake tensors below written down, to make it later
[redispatchBoxed] op=[aten::ones], key=[Fake]: calls the kernel for Meta on tensors of the same sizes, and gives its results the device
[callBoxed] op=[aten::add.Scalar], key=[DeferredInit]: has what reaches fake tensors below written down, to make it later
[redispatchBoxed] op=[aten::add.Scalar], key=[Fake]: calls the kernel for Meta on tensors of the same sizes, and gives its results the device
[callBoxed] op=[aten::sum], key=[AutogradCPU]: records SumBackward0 for the gradient of self, which keeps the sizes of self" ]] || fail "$test_name" "the levels were:" "$effects"
grep -q ' \[call\] op=\[aten::_to_copy\], key=\[CPU\]$' <<< "$errors" || fail "$test_name" "casts are not below autocast" "$errors"

# ---- ops --key ----

run "ops --key" ops 'aten::relu*' --key CPU
expectStatus 0
expectOutputHas "aten::relu(Tensor self) -> Tensor"
run "ops --key of composite kernels" ops cross_entropy_loss --key CompositeImplicitAutograd
expectStatus 0
expectOutput "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor"
run "ops --key --computed" ops cross_entropy_loss --key CPU --computed
expectStatus 0
expectOutput "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor"
run "ops --key of what records calls" ops hardtanh_backward --key Autograd
expectStatus 0
expectOutputHas "aten::hardtanh_backward(Tensor grad_output, "
run "ops --key FuncTorchBatched tells how each is called inside func::vmap()" ops 'aten::n*' --key FuncTorchBatched
expectStatus 0
expectOutputHas "aten::neg  # by the rule 'pointwise'"
expectOutputHas "aten::nll_loss_backward  # by the rule 'gradient'"
expectOutputHas "aten::nll_loss  # by its decomposition"
expectOutputHas "aten::nonzero  # not: the sizes of its result depend on the elements, and those of slices could differ"
expectOutputHas "aten::normal_  # as the randomness of the call of vmap says"
run "ops --key --computed leaves out what lets calls through" ops io::load_npy --key AutocastCPU --computed
expectStatus 1
expectErrors "boxcar: no operator that matches 'io::load_npy' has a kernel that answers at AutocastCPU"

refuses "no operator that matches 'cross_entropy_loss' has a kernel registered for CPU; --computed also lists those that another key's kernel answers for" ops cross_entropy_loss --key CPU
refuses "no operator has a kernel registered for CompositeExplicitAutogradNonFunctional" ops --key CompositeExplicitAutogradNonFunctional
misuses "'CPPU' is not a dispatch key. Did you mean 'CPU'?" ops --key CPPU
misuses "'' is not a dispatch key; a key is a backend's (CPU, QuantizedCUDA, AutogradMeta), a functionality (BackendSelect, Python) or an alias (Autograd, CompositeExplicitAutograd)" ops --key ""
misuses "--key Dense: it is a functionality with a key for each backend; name one of them, such as CPU" ops --key Dense
misuses "--computed asks what answers calls, but CompositeExplicitAutograd is an alias, and no call has an alias; name one of its keys, such as CPU" ops --key CompositeExplicitAutograd --computed
run "ops --computed without --key" ops --computed
expectStatus 2
expectErrorsHave "--computed requires --key"

# ---- A script's operators ----

cat > mine.ops <<'OPS'
op mine::twice(Tensor x) -> Tensor { return x + x }
fallback @ Tracer { return redispatch(op, args) }
print("its statements run")
OPS
run "explain --script" explain mine::twice --script mine.ops
expectStatus 0
expectOutputHas "dispatched to: CPU, which runs the kernel registered for CompositeImplicitAutograd, which covers CPU, at mine.ops:1"
run "ops --script" ops mine --key CompositeImplicitAutograd --script mine.ops
expectStatus 0
expectOutput "mine::twice(Tensor x) -> Tensor"
run "what only a run registers is not there" explain mine::twice --script mine.ops --include Tracer
expectStatus 0
expectOutputHas "dispatched to: Tracer, which has no kernel"
run "table --script" table mine::twice --script mine.ops
expectStatus 0
expectOutputHas "mine::twice(Tensor x) -> Tensor
defined at mine.ops:1
"
refuses "there is no operator 'mine::twice'. \`boxcar ops\` lists all" explain mine::twice
refuses "none.ops: cannot be opened: No such file or directory" table aten::relu --script none.ops

[[ $failures -eq 0 ]] || exit 1
