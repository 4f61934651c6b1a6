#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace boxcar {

// [count] functions of ten lines each, with typical code: loops, conditions, tensor and number operators, f-strings.
inline std::string functionsOfTenLines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format(R"(fn step_{0}(Tensor x, int n, float scale=0.5) -> Tensor {{
    y = relu(x + n) * scale
    total = 0
    for i in range(n) {{
        if i % 3 == 0 and i > {0} {{ total += i }} else {{ total = total - 1 }}
    }}
    print(f"step {0}: {{total:>8}} {{y.shape}}")
    rows = [row * total for row in range(n) if row != {0}]
    return y.sum(0) + len(rows)
}}
)",
                        i);
  }
  return text;
}

}  // namespace boxcar
