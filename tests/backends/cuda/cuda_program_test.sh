#!/usr/bin/env bash
# The program on a make-believe GPU, and where there is none.
# Usage: cuda_program_test.sh BOXCAR_SIMULATED EXPECTATIONS, the file with the functions of the command line's tests.
set -u

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
expectErrorsHave "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
expectStatus 1

cat > zero.ops <<'END'
x = ones(2, dtype=int64, device="cuda:0")
y = x.floor_divide(x - 1)
print(y)
END
run "a division by zero" run zero.ops
expectErrorsHave "An earlier operator on cuda:0 found it"
expectStatus 1
export BOXCAR_CUDA_SYNC=1
run "a division by zero, in step" run zero.ops
expectErrorsHave "ZeroDivisionError: an integer was divided by zero (on cuda:0)"
expectErrorsHave "aten::floor_divide"
expectErrorsHave "zero.ops:2:"
expectStatus 1
unset BOXCAR_CUDA_SYNC

echo 'print(ones(4, device="cuda:0").cumsum(0))' > fallback.ops
run "an operator without a kernel" run fallback.ops
expectErrorsHave "could not run aten::cumsum for dispatch key CUDA"
expectStatus 1
run "an operator that the CPU serves" run --cpu-fallback fallback.ops
expectOutput "tensor([1., 2., 3., 4.], device='cuda:0')"
expectStatus 0

run "the version" --version
expectOutputHas "CUDA 13.0, driver 13.0: simulated device (4.3 GB), simulated device (4.3 GB)"

run "the table of an operator" table aten::exp
expectOutputHas "CUDA  unboxed  exact  CUDA            backends/dense/pointwise_exponential.cpp"

# ---- Where there is no driver ----

export BOXCAR_SIMULATED_DEVICES=none
run "the version without a driver" --version
expectOutputHas "CUDA: no device (CUDA driver version is insufficient for CUDA runtime version)"
run "the table of an operator without a driver" table aten::exp
[[ $output != *CUDA* ]] || fail "$test_name" "$output"
run "a tensor without a driver" run there.ops
expectErrorsHave "device 'cuda:0': CUDA: no device (CUDA driver version is insufficient for CUDA runtime version); use 'cpu'"
expectStatus 1
echo 'print(ones(2))' > here.ops
run "the CPU without a driver" run here.ops
expectOutput "tensor([1., 1.])"
expectStatus 0

[[ $failures -eq 0 ]]
