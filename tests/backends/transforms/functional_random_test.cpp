#include <boxcar/backends/transforms/functionalize.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Random programs with views and writes, some of lazy conjugates and negatives: inside functionalize() they compute the
// same, bit for bit, and no call below writes.

namespace boxcar {
namespace {

std::string bytesOf(const Tensor& tensor) {
  const Tensor flat = contiguous(resolved(tensor));
  return {static_cast<const char*>(flat.data_ptr()), flat.nbytes()};
}

// A program over tensors: each step takes some that are there, and adds or writes one.
class ViewsAndWrites final {
 public:
  explicit ViewsAndWrites(uint32_t seed) : random_(seed) {
    const int steps = 4 + pick(16);
    for (int i = 0; i < steps; ++i) steps_.push_back({pick(kKinds), pick(1000), pick(1000), pick(1000)});
  }

  // The tensors that there are before; some are views of others.
  static std::vector<Tensor> inputs() {
    const Tensor a = counting({3, 4});
    const Tensor b = counting({6, 2});
    return {a, slice(b, 0, 1, 5), t(a), b};
  }

  // Returns the errors of the steps that failed.
  std::string run(std::vector<Tensor>& pool) const {
    std::string errors;
    for (const Step& step : steps_) {
      try {
        runStep(step, pool);
      } catch (const Error& error) {
        errors += error.message() + "\n";
      }
    }
    return errors;
  }

  std::string text() const {
    std::string text;
    for (const Step& step : steps_)
      text += fmt::format("{}({}, {}, {}) ", step.kind, step.left, step.right, step.place);
    return text;
  }

 private:
  static constexpr int kKinds = 46;
  struct Step {
    int kind;
    int left;
    int right;
    int place;
  };

  int pick(int64_t count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }

  static int64_t at(int place, int64_t size) { return size == 0 ? 0 : place % size; }

  // Writes need elements that each lie at a place of their own.
  static bool isWritable(const Tensor& tensor) {
    std::set<int64_t> places{0};
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      std::set<int64_t> next;
      for (const int64_t place : places) {
        for (int64_t k = 0; k < tensor.size(i); ++k) next.insert(place + k * tensor.stride(i));
      }
      places = std::move(next);
    }
    return static_cast<int64_t>(places.size()) == tensor.numel();
  }

  static void runStep(const Step& step, std::vector<Tensor>& pool) {
    Tensor x = pool[static_cast<size_t>(step.left) % pool.size()];
    const Tensor y = pool[static_cast<size_t>(step.right) % pool.size()];
    const int64_t dim = x.dim() == 0 ? 0 : step.place % x.dim();
    const int64_t size = x.dim() == 0 ? 0 : x.size(dim);
    switch (step.kind) {
      // ---- Views ----
      case 0:
      case 1:
        if (size > 0) pool.push_back(select(x, dim, at(step.place, size)));
        return;
      case 2:
      case 3:
        if (x.dim() > 0) pool.push_back(slice(x, dim, at(step.place, size), size, 1 + step.place % 2));
        return;
      case 4:
        if (x.dim() <= 2) pool.push_back(t(x));
        return;
      case 5:
        if (x.dim() > 1) pool.push_back(transpose(x, 0, dim));
        return;
      case 6: pool.push_back(unsqueeze(x, dim)); return;
      case 7: pool.push_back(squeeze(x)); return;
      case 8:
        if (x.is_contiguous()) pool.push_back(view(x, std::vector<int64_t>{-1}));
        return;
      case 9:
        if (x.dim() == 2) pool.push_back(diagonal(x, step.place % 3 - 1));
        return;
      case 10:
        if (size > 1) pool.push_back(split(x, 1 + step.place % 2, dim).back());
        return;
      case 11:
        if (size > 0) pool.push_back(unbind(x, dim)[static_cast<size_t>(at(step.place, size))]);
        return;
      case 12: {
        std::vector<int64_t> dims;
        for (int64_t i = 0; i < x.dim(); ++i) dims.push_back((i + 1) % x.dim());
        pool.push_back(permute(x, dims));
        return;
      }
      case 13: {
        std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
        sizes.insert(sizes.begin(), 2);
        if (x.dim() < 4) pool.push_back(expand(x, sizes));
        return;
      }
      case 14:
        if (x.storage()->nbytes() >= 12)
          pool.push_back(as_strided(x, std::vector<int64_t>{2}, std::vector<int64_t>{2}, 0));
        return;
      case 15: pool.push_back(alias(x)); return;
      case 16: pool.push_back(detach(x)); return;
      case 17: pool.push_back(reshape(x, std::vector<int64_t>{x.numel()})); return;
      case 18: pool.push_back(contiguous(x)); return;
      case 19:
        if (size > 1) pool.push_back(unfold(x, dim, 2, 1));
        return;
      case 20:
        if (x.dim() < 5) pool.push_back(view(x, ScalarType::Int));
        if (pool.back().scalar_type() == ScalarType::Int) pool.back() = view(pool.back(), ScalarType::Float);
        return;
      // ---- New tensors ----
      case 21: pool.push_back(add(x, 1.5)); return;
      case 22: pool.push_back(clone(x)); return;
      case 23: pool.push_back(sum(x)); return;
      case 24: pool.push_back(mul(x, x)); return;
      // ---- Shapes in place ----
      case 25:
        if (x.dim() <= 2) t_(x);
        return;
      case 26: unsqueeze_(x, dim); return;
      case 27: squeeze_(x); return;
      // ---- Lazy conjugates and negatives, and what no call makes ----
      case 40: pool.push_back(_neg_view(x)); return;
      case 41: pool.push_back(imag(conj(view_as_complex(x)))); return;
      case 42: pool.push_back(imag(conj(complex(x, add(x, 1))))); return;
      case 43: pool.push_back(select(view_as_real(_conj(t(conj(view_as_complex(x))))), -1, step.place % 2)); return;
      case 44: pool.push_back(prim::data(x)); return;
      case 45: pool.push_back(resolve_neg(x)); return;
      default: break;
    }
    if (!isWritable(x)) return;
    switch (step.kind) {
      case 28:
      case 29: add_(x, 1); return;
      case 30: mul_(x, 0.5); return;
      case 31: fill_(x, step.place); return;
      case 32: zero_(x); return;
      case 33: copy_(x, clone(sum(y))); return;
      case 34:
        if (x.dim() > 0 && size > 0) {
          Tensor part = select(x, dim, at(step.place, size));
          if (isWritable(part)) sub_(part, 1);
        }
        return;
      case 35: masked_fill_(x, gt(x, 3), step.place); return;
      case 36:
        if (x.dim() == 2 && x.size(0) > 0 && x.size(1) > 0) fill_diagonal_(x, 9);
        return;
      case 37: {
        Tensor result = empty_like(x);
        pool.push_back(add_out(result, x, x));
        return;
      }
      case 38: add_(x, sum(y)); return;
      default:
        if (sizesOf(x) == sizesOf(y) && x.storage() != y.storage()) copy_(x, y);
        return;
    }
  }

  std::mt19937 random_;
  std::vector<Step> steps_;
};

void expectSame(const std::vector<Tensor>& plain, const std::vector<Tensor>& functional) {
  ASSERT_EQ(plain.size(), functional.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(sizesOf(plain[i]), sizesOf(functional[i])) << i;
    ASSERT_EQ(stridesOf(plain[i]), stridesOf(functional[i])) << i;
    ASSERT_EQ(plain[i].storage_offset(), functional[i].storage_offset()) << i;
    ASSERT_EQ(bytesOf(plain[i]), bytesOf(functional[i])) << i;
    for (size_t k = 0; k < i; ++k) {
      ASSERT_EQ(plain[i].storage() == plain[k].storage(), functional[i].storage() == functional[k].storage())
          << i << " and " << k;
    }
  }
}

void runAll(FunctionalViews views) {
  size_t values = 0;
  size_t writes = 0;
  for (uint32_t seed = 0; seed < 10'000; ++seed) {
    const ViewsAndWrites program(seed);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, program.text()));
    std::vector<Tensor> plain = ViewsAndWrites::inputs();
    const std::string errors = program.run(plain);
    std::vector<Tensor> functional = ViewsAndWrites::inputs();
    std::vector<std::string> wrong;
    bool is_over = false;
    const ModeGuard watch(
        [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          const std::string name = toString(op.operator_name());
          const bool is_view = op.schema().returns().size() == 1 && op.schema().returns()[0].alias_info() != nullptr;
          if (!is_over && op.schema().is_mutable() && name != "aten::fill_diagonal_") wrong.push_back(name);
          if (is_over && name != "aten::copy_" && !is_view) wrong.push_back(name);
          if (!is_over && is_view && views == FunctionalViews::kCopy) wrong.push_back(name);
          op.redispatchBoxed(keys, stack);
        },
        {.key = DispatchKey::Python});
    {
      FunctionalizeGuard guard(views);
      ASSERT_EQ(program.run(functional), errors);
      ASSERT_NO_FATAL_FAILURE(expectSame(plain, functional));
      for (size_t i = 0; i < functional.size(); ++i) {
        const Tensor value = guard.valueOf(functional[i]);
        ASSERT_EQ(sizesOf(value), sizesOf(functional[i])) << i;
        ASSERT_EQ(bytesOf(value), bytesOf(functional[i])) << i;
        ++values;
        writes += value.storage() == functional[i].storage() ? 0 : 1;
      }
      is_over = true;
    }
    ASSERT_EQ(wrong, std::vector<std::string>());
    ASSERT_NO_FATAL_FAILURE(expectSame(plain, functional));
  }
  EXPECT_GT(values, 50'000U);
  EXPECT_GT(writes, 20'000U);
}

TEST(FunctionalPrograms, ComputeTheSameBitForBitAndWriteNothing) { runAll(FunctionalViews::kKeep); }
TEST(FunctionalPrograms, ComputeTheSameWithCopiesOfViews) { runAll(FunctionalViews::kCopy); }

}  // namespace
}  // namespace boxcar
