#pragma once

namespace boxcar {

// A script that opens, changes or writes something that a fault must not leave behind. It does the same in each run.
struct UnwindingSample {
  const char* name;
  const char* text;
  // Whether it uses JSON values, whose destruction needs memory.
  bool needs_json = false;
};

inline constexpr UnwindingSample kConstantsSample = {"constants, lists and dicts", R"(
const TABLE = {"a": [ones([300]), relu(ones([300]))], "b": [arange(400).to(float32)]}
fn total() -> float {
    sum_of_all = 0.0
    for name in TABLE { for x in TABLE[name] { sum_of_all += x.sum().item() } }
    return sum_of_all
}
print(total(), [x.numel() for x in TABLE["a"]])
)"};

inline constexpr UnwindingSample kUnwindingSamples[] = {
    {"modes with exits", R"(
mode outer { return redispatch(op, args) } exit { print("outer ends") }
mode inner {
    y = relu(ones([500]))
    return redispatch(op, args, nested=True)
} exit { print("inner ends", ones([1]).item()) }
fn work(Tensor x) -> Tensor { with inner, inner { return softmax(x @ x, 1) } }
x = ones([20, 20])
y = x
with outer {
    for i in range(2) { y = work(x); y += 1 }
}
print(y.sum().item())
)"},
    {"a mode below autograd that is opened in a body", R"(
mode below @ Python { return redispatch(op, args) } exit { print("below ends") }
op unwind::scaled(Tensor x) -> Tensor {
    with below, include(AutogradFunctionality) { return x * 2 }
}
mode above { with below { return redispatch(op, args) } }
with above { y = unwind::scaled(ones([3])) }
print(y)
)"},
    {"keys and inference mode", R"(
x = ones([20, 20])
with exclude(AutogradFunctionality), inference_mode() {
    with include(ADInplaceOrView) { y = relu(x) - 2 }
    with inference_mode() { y.abs_() }
}
print(y.sum().item(), isinstance(y, Tensor))
)"},
    {"writes in place", R"(
x = zeros([40, 40])
x[0] = 5
x[1:3] += 2
x[:, 0] *= 3
x.fill_(7).neg_()
rows = [x[i] for i in range(3)]
rows[1] += rows[0]
print(x.sum().item(), len(rows))
)"},
    {"recursion through operators and functions", R"(
op unwind::power(Tensor x, int n) -> Tensor {
    if n == 0 { return ones([300]) }
    return times(x, n)
}
fn times(Tensor x, int n) -> Tensor { return x * unwind::power(x, n - 1) }
print(unwind::power(ones([300]) * 2, 5).sum().item())
)"},
    {"kernels and fallbacks of a script", R"(
op unwind::kernel(Tensor x) -> Tensor
impl unwind::kernel @ CPU { return neg(x) * 2 }
fallback @ Tracer { return redispatch(op, args) }
with include(Tracer) { print(unwind::kernel(ones([300])).sum().item()) }
print(call(operator("aten::add.Tensor"), [ones([1]), ones([1])]))
)"},
    kConstantsSample,
    {"files that are written", R"(
io::save({"x": arange(4), "y": ones([300])}, "out.safetensors")
back = io::load("out.safetensors")
io::save({"z": back["y"] + back["x"][1]}, "out.safetensors")
print(io::load("out.safetensors")["z"].sum().item())
)",
     true},
    {"random numbers", R"(
manual_seed(7)
x = randn([500])
print((x * rand([500])).sum().item())
)"},
    {"handlers of a script's own", R"(
x = ones([30, 30])
with memory(), deny("no::such") {
    with cost() { y = x @ x }
}
print(y.mean().item())
)"},
};

}  // namespace boxcar
