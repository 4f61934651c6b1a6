#!/usr/bin/env bash
# Tests the program on a simulated GPU, and without a GPU.
# Usage: cuda_program_test.sh BOXCAR_SIMULATED EXPECTATIONS, the file with the functions of the command line's tests.
set -u

# shellcheck source=../../interpreter/cli/expectations.sh
source "$2"

cat > there.ops <<'END'
x = arange(6, dtype=float32).reshape(2, 3).to("cuda:0")
y = (x @ x.t()).softmax(1)
print(y.device, y.sum().item())
print(x.add(1))
print(x.cpu().device, ones(2, device="cuda:1").device)
END
run "tensors on a GPU" run there.ops
expectOutput "cuda:0 2.0
tensor([[1., 2., 3.],
        [4., 5., 6.]], device='cuda:0')
cpu cuda:1"
expectErrors ""
expectStatus 0

echo 'print(ones(2, device="cuda:0") + ones(2))' > two.ops
run "tensors on two devices" run two.ops
expectErrorsHave "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! Move one with .to('cuda:0')"
expectStatus 1

cat > zero.ops <<'END'
x = ones(2, dtype=int64, device="cuda:0")
y = x.floor_divide(x - 1)
print(y)
END
run "a division by zero" run zero.ops
expectErrorsHave "An earlier operator on cuda:0 found it"
expectStatus 1
printf 'x = ones(2, dtype=int64, device="cuda:1") // 0\nprint("end")\n' > last.ops
run "a division by zero that nothing waits for" run last.ops
expectOutput "end"
expectErrorsHave "boxcar: ZeroDivisionError: an integer was divided by zero. An earlier operator on cuda:1 found it"
expectStatus 1
export BOXCAR_CUDA_SYNC=1
run "a division by zero, in step" run zero.ops
expectErrorsHave "ZeroDivisionError: an integer was divided by zero (on cuda:0)"
expectErrorsHave "aten::floor_divide"
expectErrorsHave "zero.ops:2:"
expectStatus 1
BOXCAR_CUDA_SYNC=yes run "a switch of the environment that is neither 0 nor 1" run zero.ops
expectErrorsHave "the environment variable BOXCAR_CUDA_SYNC is 'yes'; set it to 1 to switch it on, or to 0"
unset BOXCAR_CUDA_SYNC

cat > random.ops <<'END'
manual_seed(3)
x = rand(3, 3, device="cuda:0")
manual_seed(3)
print(x.equal(rand(3, 3, device="cuda:0")), x.equal(rand(3, 3, device="cuda:0")))
y = x + 3 * eye(3, device="cuda:0")
print((linalg_inv(y) @ y).allclose(eye(3, device="cuda:0"), atol=1e-5), linalg_det(y).device)
print(linalg_inv(zeros(2, 2, device="cuda:0")))
END
run "random numbers and solutions" run random.ops
expectOutput "True False
True cuda:0"
expectErrorsHave "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is singular."
expectStatus 1

cat > draws.ops <<'END'
manual_seed(3)
a = rand(2)
x = rand(3, device="cuda:0")
b = rand(2)
y = rand_like(x) + x.bernoulli()
print(a, b, x.cpu(), y.cpu())
END
run "random numbers of two devices" run draws.ops
expectStatus 0
drawn=$output
run "a trace of them" trace draws.ops -o traced.ops
expectStatus 0
run "what the trace draws" run traced.ops
expectOutput "$drawn"
[[ $(grep "^manual_seed" traced.ops | sort -u | tr "\n" " ") == "manual_seed(3) manual_seed(3, device='cuda:0') " && $(grep -c "^manual_seed" traced.ops) == 2 ]] || fail "the trace seeds each generator once" "$(< traced.ops)"
run "a recording of them" record draws.ops -o draws.rec
run "the recording made again" replay draws.rec
expectOutputHas "9 calls, 8 equal, 1 not repeated"

scripts=$(dirname "$2")/../../../scripts
run "training on a GPU" run "$scripts/train_digits.ops" 1 digits.safetensors cuda:0
expectOutputHas "of 297"
expectStatus 0
run "training that goes on" run "$scripts/train_digits.ops" 2 digits.safetensors cuda:0
expectOutputHas "correct 2"
expectStatus 0
run "training that goes on on the CPU" run "$scripts/train_digits.ops" 3 digits.safetensors
expectOutputHas "correct 2"
expectStatus 0

cat > fallback.ops <<'END'
op my::running(Tensor x) -> Tensor
impl my::running @ CPU { return x.cumsum(0) }
print(my::running(ones(4, device="cuda:0")))
END
run "an operator without a kernel" run fallback.ops
expectErrorsHave "could not run my::running for dispatch key CUDA"
expectStatus 1
run "an operator that the CPU serves" run --cpu-fallback fallback.ops
expectOutput "tensor([1., 2., 3., 4.], device='cuda:0')"
expectStatus 0

cat > graph.ops <<'END'
const w = ones([4, 4], device="cuda:0") * 0.5
fn layer(Tensor x) -> Tensor { return (x @ w).relu() }
fn step(Tensor x, float by) -> Tensor { return layer(x) * by + 1 }
x = ones([2, 4], device="cuda:0")
for i in range(6) {
  with cuda_graph() { x = step(x, 0.25) }
  print(x[0, 0].item())
}
with stream() { y = x * 2 }
with stream("cuda:0"), cuda_graph() { y = layer(y) }
print(y.sum().item())
END
run "functions as graphs" run graph.ops
expectOutput "1.5
1.75
1.875
1.9375
1.96875
1.984375
63.5"
expectErrors ""
expectStatus 0

cat > count.ops <<'END'
mode count { seen.append(op.name); return redispatch(op, args) }
const seen = []
fn step(Tensor x) -> Tensor { return x.exp() }
x = ones(2, device="cuda:0")
with count {
  for i in range(5) {
    with cuda_graph() { y = step(x) }
  }
}
print([name for name in seen if name == "aten::exp"])
END
run "a mode sees all calls of a function that would be a graph" run count.ops
expectOutput "['aten::exp', 'aten::exp', 'aten::exp', 'aten::exp', 'aten::exp']"
expectStatus 0

cat > made.ops <<'END'
fn step(Tensor x) -> Tensor { return x + arange(x.size(0)) }
x = ones(3, device="cuda:0")
with device("cuda:0") {
  print(zeros(2).device, tensor([1, 2]).device, step(x).device)
  y = x
  for i in range(3) {
    with cuda_graph() { y = step(x) }
  }
  print(y.cpu())
}
with device("cuda:1") { print(zeros(2).device) }
with cuda_graph() { step(x) }
END
run "a default device" run made.ops
expectOutput "cuda:0 cuda:0 cuda:0
tensor([1., 2., 3.])
cuda:1"
expectErrorsHave "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
expectStatus 1
echo 'with device("cuda:7") { print(1) }' > seventh.ops
run "a default device that is not there" run seventh.ops
expectErrorsHave "device 'cuda:7': there are only 2 CUDA devices, so that the last one is 'cuda:1'"
expectOutput ""
expectStatus 1
echo 'with device("cuda:0") { print((zeros(2) + 1).sum().item()) }' > placed.ops
run "a trace of a default device" trace placed.ops -o placed.traced.ops
expectOutput "2.0"
grep -q "cuda:0" placed.traced.ops || fail "$test_name" "$(< placed.traced.ops)"
run "what the trace makes there" run placed.traced.ops
expectStatus 0

cat > refused.ops <<'END'
fn show(Tensor x) -> Tensor { print(1); return x }
fn outer(Tensor x) -> Tensor { return show(x) }
with cuda_graph() { outer(ones(2, device="cuda:0")) }
END
run "what a graph would not do again" run refused.ops
expectErrorsHave "cuda_graph(): \`outer\` cannot be captured: \`show\`, which it calls, calls \`print\`, which a replay of the graph would not repeat."
expectErrorsHave "refused.ops:3:"
expectStatus 1

# Runs the lines of standard input with `step` captured, and expects that the capture is rejected with the given reason.
expectRefused() {
  cat - <(echo 'with cuda_graph() { step(ones(2, device="cuda:0")) }') > step.ops
  run "no graph: $1" run step.ops
  expectErrorsHave "cuda_graph(): \`step\` cannot be captured: $1, which a replay of the graph would not repeat."
  expectStatus 1
}
expectRefused "it opens a scope with \`with\`" <<'END'
fn step(Tensor x) -> Tensor {
  with stream() { y = x + 1 }
  return y
}
END
expectRefused "it opens a scope with \`with\`" <<'END'
mode plain { return redispatch(op, args) }
fn step(Tensor x) -> Tensor {
  with plain { y = x + 1 }
  return y
}
END
expectRefused "it registers a kernel" <<'END'
fn step(Tensor x) -> Tensor {
  impl aten::relu @ CUDA { return self }
  return x.relu()
}
END
expectRefused "\`op mine::shown\`, which it calls, calls \`print\`" <<'END'
op mine::shown(Tensor x) -> Tensor { print(1); return x }
fn step(Tensor x) -> Tensor { return mine::shown(x) }
END
cat > library.ops <<'END'
fn doubled(Tensor x) -> Tensor { return x * 2 }
fn shown(Tensor x) -> Tensor { print(1); return x }
END
expectRefused "\`shown\`, which it calls, calls \`print\`" <<'END'
import "library.ops"
fn step(Tensor x) -> Tensor { return shown(x) }
END
cat > imports.ops <<'END'
import "library.ops"
fn step(Tensor x) -> Tensor { return doubled(x) + 1 }
x = ones(2, device="cuda:0")
for i in range(3) {
  with cuda_graph() { x = step(x) }
  print(x.sum().item())
}
END
run "functions of another file in a graph" run imports.ops
expectOutput "6.0
14.0
30.0"
expectStatus 0

cat > waits.ops <<'END'
fn positive(Tensor x) -> Tensor {
  if x.sum().item() > 0 { return x }
  return -x
}
x = ones(2, device="cuda:0")
with cuda_graph() { y = positive(x) }
END
cat > across.ops <<'END'
fn moved(Tensor x) -> Tensor { return x.to("cuda:1") + 1 }
with cuda_graph() { moved(ones(2, device="cuda:0")) }
END
run "a copy between devices in a graph" run across.ops
expectErrorsHave "a CUDA graph cannot capture what copies between two devices, and waits for both"
expectStatus 1

run "what waits for the device" run waits.ops
expectErrorsHave "a CUDA graph cannot capture what waits for the device"
expectErrorsHave "aten::item(self: float32[] on cuda:0)"
expectErrorsHave "waits.ops:2:"
expectStatus 1
cat > draws.ops <<'END'
fn noisy(Tensor x) -> Tensor { return x + rand_like(x) }
with cuda_graph() { noisy(ones(2, device="cuda:0")) }
END
run "random numbers in a graph" run draws.ops
expectErrorsHave "a CUDA graph cannot capture what draws random numbers, which would be the same in every replay; do that outside of it"
expectErrorsHave "draws.ops:1:"
expectStatus 1
# Numbers, files and CPU results would stay those of the capture in every replay.
refusedInGraph() {  # EXPRESSION REASON
  printf 'fn step(Tensor x) -> Tensor { return x + %s }\nwith cuda_graph() { step(ones(1, device="cuda:0")) }\n' "$1" > step.ops
  run "$1 in a graph" run step.ops
  expectErrorsHave "a CUDA graph cannot capture what $2; do that outside of it"
  expectErrorsHave "step.ops:1:"
  expectStatus 1
}
refusedInGraph 'rand(1)[0]' "draws random numbers, which would be the same in every replay"
refusedInGraph 'randperm(2)[0].item()' "draws random numbers, which would be the same in every replay"
refusedInGraph 'len(io::read_text("step.ops"))' "reads a file"
refusedInGraph 'len(io::load("x.safetensors"))' "reads a file"
refusedInGraph 'io::load_npy("x.npy")[0]' "reads a file"
refusedInGraph 'cuda::memory_stats()["allocated"]' "asks how much memory is taken"
echo 'fn step(Tensor x) -> Tensor { io::save_npy(ones(1), "x.npy"); return x }
with cuda_graph() { step(ones(1, device="cuda:0")) }' > step.ops
run "a file that is written in a graph" run step.ops
expectErrorsHave "a CUDA graph cannot capture what writes a file; do that outside of it"
[[ ! -e x.npy ]] || fail "$test_name" "x.npy was written"
cat > evaluated.ops <<'END'
fn step(Tensor x) -> Tensor { return dropout(x, 0.5, False) + x.size(0) }
x = ones(2, device="cuda:0")
for i in range(3) { with cuda_graph() { x = step(x) } }
print(x, rand(1).device)
END
run "an operator that draws nothing this time" run evaluated.ops
expectOutput "tensor([7., 7.], device='cuda:0') cpu"
expectStatus 0
echo 'print(cuda::memory_stats("cpu"))' > host.ops
run "the memory of a device that is none of CUDA's" run host.ops
expectErrorsHave "'cpu' is not a CUDA device; they are 'cuda:0' and so on"
expectStatus 1
echo 'with stream("cpu") { print(1) }' > host.ops
run "a stream of the CPU" run host.ops
expectErrorsHave "stream(): 'cpu' has no streams; CUDA devices have, such as 'cuda:0'"
expectStatus 1

cat > memory.ops <<'END'
print(cuda::is_available(), cuda::device_count(), cuda::get_device_name())
x = ones(3).pin_memory()
print(x.is_pinned(), ones(3).is_pinned(), zeros([2], pin_memory=True).is_pinned(), x.pin_memory().is_pinned())
y = x.to(device="cuda:0", non_blocking=True)
cuda::synchronize()
print(y, y.is_pinned())
print(cuda::memory_stats("cuda:0")["allocated"], cuda::memory_stats("cuda:1")["reserved"], y.numel())

cuda::empty_cache()
cuda::reset_peak_memory_stats()
stats = cuda::memory_stats()
print(stats["allocated_peak"], stats["reserved"], stats["allocations"])
END
run "memory" run memory.ops
expectOutput "True 2 simulated device
True False True True
tensor([1., 1., 1.], device='cuda:0') False
512 0 3
0 0 1"
expectErrors ""
expectStatus 0
echo 'ones(2, device="cuda:0").pin_memory()' > pin.ops
run "pinning a device's memory" run pin.ops
expectErrorsHave "pin_memory(): only memory of the CPU can be pinned, but the tensor is on 'cuda:0'"
expectStatus 1

run "the version" --version
expectOutputHas "CUDA 13.0, driver 13.0: simulated device (4.3 GB), simulated device (4.3 GB)"

run "operators with kernels of CUDA" ops --key CUDA 'aten::exp2'
expectOutput "aten::exp2(Tensor self) -> Tensor
aten::exp2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
aten::exp2_(Tensor(a!) self) -> Tensor(a!)"
expectStatus 0

run "the table of an operator" table aten::exp
[[ $output =~ CUDA\ +unboxed\ +exact\ +CUDA\ +backends/native/pointwise_exponential.cpp ]] || fail "$test_name" "it printed:" "$output"

# ---- Where there is no driver ----

export BOXCAR_SIMULATED_DEVICES=none
run "the version without a driver" --version
expectOutputHas "CUDA: no device (no NVIDIA driver is installed)"
run "operators with kernels of CUDA without a driver" ops --key CUDA aten::exp2
expectErrors "boxcar: no operator that matches 'aten::exp2' has a kernel registered for CUDA; --computed also lists those that another key's kernel answers for; CUDA: no device (no NVIDIA driver is installed)"
expectStatus 1
run "the table of an operator without a driver" table aten::exp
[[ $output != *$'\nCUDA '* ]] || fail "$test_name" "$output"
run "a tensor without a driver" run there.ops
expectErrorsHave "device 'cuda:0': CUDA: no device (no NVIDIA driver is installed); use 'cpu'"
expectStatus 1
echo 'with device("cuda:0") { print(1) }' > scope.ops
run "a default device without a driver" run scope.ops
expectErrorsHave "device 'cuda:0': CUDA: no device (no NVIDIA driver is installed); use 'cpu'"
expectOutput ""
expectStatus 1
for scope in "stream()" "cuda_graph()"; do
  echo "with $scope { print(1) }" > scope.ops
  run "$scope without a driver" run scope.ops
  expectErrorsHave "$scope: CUDA: no device (no NVIDIA driver is installed); leave the scope out to run on 'cpu'"
  expectStatus 1
done
echo 'ones(2).pin_memory()' > pin.ops
run "pinned memory without a driver" run pin.ops
expectErrorsHave "memory can be pinned for a CUDA device only: CUDA: no device"
expectStatus 1
echo 'print(cuda::is_available(), cuda::device_count(), ones(2).is_pinned())' > ask.ops
run "asking for devices without a driver" run ask.ops
expectOutput "False 0 False"
expectStatus 0
echo 'print(ones(2))' > here.ops
run "the CPU without a driver" run here.ops
expectOutput "tensor([1., 1.])"
expectStatus 0

export BOXCAR_SIMULATED_DEVICES=old
run "the version with an old driver" --version
expectOutputHas "CUDA: no device (the NVIDIA driver knows CUDA 12.4, boxcar was built with 13.0: install a newer driver)"

[[ $failures -eq 0 ]]
