#include "tests/numerics/case_bits.h"

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "tests/numerics/case_check.h"
#include "tests/numerics/name_lists.h"

namespace boxcar::numerics {
namespace {

enum class Bits { kConj, kConjAndNeg };

std::vector<Tensor> tensorsIn(std::span<const IValue> values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values) visitTensors(value, [&](const Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

// Returns a tensor of the same elements, whose memory has others.
Tensor lazily(const Tensor& tensor, Bits bits) {
  Tensor lazy = boxcar::clone(tensor);
  if (tensor.is_complex()) lazy = boxcar::_conj(boxcar::conj_physical_(lazy));
  const bool has_negatives = tensor.scalar_type() != ScalarType::Bool && tensor.scalar_type() != ScalarType::Byte;
  if (bits == Bits::kConjAndNeg && has_negatives) lazy = boxcar::_neg_view(boxcar::neg(lazy));
  return lazy;
}

// Whether two arguments share memory, or one is a tensor that stands for a number: the copies would not.
bool dependOnMemory(const std::vector<Tensor>& arguments) {
  std::map<const StorageImpl*, const TensorImpl*> owners;
  return std::ranges::any_of(arguments, [&](const Tensor& tensor) {
    const auto [owner, is_new] = owners.emplace(tensor.storage().get(), tensor.unsafeGetTensorImpl());
    return (!is_new && owner->second != tensor.unsafeGetTensorImpl()) ||
           tensor.unsafeGetTensorImpl()->is_wrapped_number() || tensor.layout() != Layout::Strided;
  });
}

// The elements in the order of the dimensions.
Tensor inRows(const Tensor& tensor) { return boxcar::contiguous(resolved(tensor)); }

std::optional<std::string> compare(const Case& expected, const std::vector<Tensor>& wanted,
                                   const std::vector<Tensor>& found, std::string_view what) {
  if (wanted.size() != found.size()) return fmt::format("there are {} {}s, not {}", found.size(), what, wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (auto difference = differenceOfGradient(expected, inRows(found[i]), inRows(wanted[i]))) {
      return fmt::format("{} {}: {}", what, i, *difference);
    }
  }
  return std::nullopt;
}

std::optional<std::string> differenceWith(const Case& expected, const OperatorHandle& op, Bits bits) {
  Stack plain = expected.makeArguments(op.schema()).values;
  const CaseArguments copies = expected.makeArguments(op.schema());
  const std::vector<Tensor> plain_arguments = tensorsIn(last(plain, plain.size()));
  if (dependOnMemory(plain_arguments)) return std::nullopt;
  std::map<const TensorImpl*, Tensor> known;
  Stack lazy;
  for (const IValue& value : copies.values) {
    lazy.push_back(mapTensors(value, [&](const Tensor& tensor) {
      if (!tensor.defined()) return tensor;
      Tensor& made = known[tensor.unsafeGetTensorImpl()];
      if (!made.defined()) made = lazily(tensor, bits);
      return made;
    }));
  }
  const std::vector<Tensor> lazy_arguments = tensorsIn(last(lazy, lazy.size()));
  try {
    op.callBoxed(plain);
  } catch (const Error&) {
    return std::nullopt;
  }
  try {
    op.callBoxed(lazy);
  } catch (const Error& error) {
    return fmt::format("it is refused: {}", error.message());
  }
  if (auto difference =
          compare(expected, tensorsIn(last(plain, plain.size())), tensorsIn(last(lazy, lazy.size())), "result")) {
    return difference;
  }
  return compare(expected, plain_arguments, lazy_arguments, "argument tensor");
}

}  // namespace

std::optional<std::string> differenceOfBits(const Case& expected, const OperatorHandle& op) {
  if (expected.isError() || op.hasTag(Tag::nondeterministic_seeded) || op.hasTag(Tag::nondeterministic_bitwise) ||
      namesIn("bits_reasons.txt").contains(expected.op())) {
    return std::nullopt;
  }
  if (auto difference = differenceWith(expected, op, Bits::kConj)) {
    return fmt::format("with lazy conjugates: {}", *difference);
  }
  if (auto difference = differenceWith(expected, op, Bits::kConjAndNeg)) {
    return fmt::format("with lazy negatives: {}", *difference);
  }
  return std::nullopt;
}

}  // namespace boxcar::numerics
