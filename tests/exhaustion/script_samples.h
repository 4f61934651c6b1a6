#pragma once

#include <string_view>

namespace boxcar::exhaustion {

struct ScriptSample {
  const char* name;
  const char* text;
  std::string_view failure = "";  // the error with which its run ends, if any
  bool is_wrong = false;          // it does not compile
};

inline constexpr ScriptSample kScriptSamples[] = {
    {"numbers", R"(
fn fib(int n) -> int { if n < 2 { return n }
    return fib(n - 1) + fib(n - 2) }
x = 7 // 2 + 2 ** 3 - -1 % 5
y = 1.5 * x / 3
while x > 0 and not (y < 0 or x == 100) { x -= 1; y += 0.25; if x == 2 { break } }
print(fib(5), x, y, int(y), float(x), x & 3, x | 8, x ^ 1, x << 2, ~x, 2j * 2)
)"},
    {"texts", R"(
s = "text"
t = f"{s:>8}|{3.14159:.2f}|{len(s)}"
for c in s { t += c.upper() }
print(t, s[1:3], s[::-1], s * 2, "x" in s, s.split("x"), ", ".join(["a", "b"]), s.replace("t", "T"), int("12"))
)"},
    {"lists, dicts and tuples", R"(
xs = [i * i for i in range(5) if i % 2 == 0]
d = {"a": [1, 2], "b": [3]}
d["c"] = xs
for k, v in d.items() { v.append(len(k)) }
t = (1, "two", None, 2.5)
a, b = [1, 2]
xs[0] += 4
xs += [7, 8]
m: Any = xs
for i, k in enumerate(d) { a += i + len(k) }
for p, q in zip([1], [2]) { b += p + q }
print(sorted(xs, reverse=True), d, t[1], a, b, m[0], m == xs, None in [t])
)"},
    {"operators of its own", R"(
op exhaust::scaled(Tensor x, int n=2, float[] w=[1.5]) -> (Tensor, int) { return x * n + w[0], len(w) }
op exhaust::kernel(Tensor x) -> Tensor
impl exhaust::kernel @ CPU { return x + len(args) }
mode m { return redispatch(op, args) } exit { print("exit") }
a, n = exhaust::scaled(ones([2]), 3)
with m { a = exhaust::kernel(a) }
print(a, n, operator("aten::relu").name, call(operator("aten::neg"), [a]))
)"},
    {"tensors", R"(
x = arange(12).view([3, 4]).to(float32)
x[0] = 5
x[:, 1] += 2
y = (x @ x.t()).softmax(1)
a, b = x.split([1, 2])
z: Any = x
print(y.sum().item() > 0, x[1, 2:].tolist(), a.shape, cat([a, b], 0).sum(), (z + 1)[0, 0].item(), x.max(), -x[0])
)"},
    {"a failing function", R"(
fn inner(int n) -> int { return 10 // n }
fn outer(int n) -> int { return inner(n) + 1 }
print(outer(0))
)",
     "division or modulo by zero"},
    {"a failing operator", R"(
x = ones([2, 3])
with include(Tracer) { print(x @ x) }
)",
     "aten::matmul"},
    {"a failing index", R"(
d = {"a": 1}
with inference_mode() { print(d["b"]) }
)",
     "'b'"},
    {"names and types that are wrong", R"(
fn f(int n) -> str { return n }
print(undefined_name, 1 + "a", f("x"), relu(1, 2, 3))
x: int = "text"
nope::nothing(1)
)",
     "", true},
    {"a text that is none", "x = [1, 2\nprint((x)\n", "", true},
};

// The script that runs under handlers.
inline constexpr const char* kHandledSample = R"(
x = ones([4, 4])
y = relu(x @ x) + 1
y[0] = 2
print(y.sum().item(), cat([x, y], 0).shape)
)";

}  // namespace boxcar::exhaustion
