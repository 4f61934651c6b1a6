#include <boxcar/dispatcher/handlers/check/schema_promises.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/schema/value_type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

namespace boxcar::promises {
namespace {

using PlacedTensors = std::vector<PlacedTensor>;

bool sameLayout(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && !((a.key_set() ^ b.key_set()).has_any(math_bits_ks)) &&
         a.storage_offset() == b.storage_offset() && std::ranges::equal(a.sizes(), b.sizes()) &&
         std::ranges::equal(a.strides(), b.strides());
}

std::string layoutText(const Tensor& tensor) {
  return fmt::format("{}[{}] with strides [{}]", dtypeName(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "),
                     fmt::join(tensor.strides(), ", "));
}

// Returns the bytes of the storage of [tensor] where a written argument has elements, before the call or after it.
std::unordered_set<int64_t> writtenBytes(const Tensor& tensor, const PlacedTensors& arguments,
                                         const PlacedTensors& before) {
  std::unordered_set<int64_t> written;
  const auto add = [&](const Tensor& target) {
    for (const int64_t offset : elementOffsets(target)) {
      for (size_t i = 0; i < target.itemsize(); ++i) written.insert(offset + static_cast<int64_t>(i));
    }
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isWritten() || !shareMemory(arguments[i].tensor, tensor)) continue;
    add(arguments[i].tensor);
    add(before[i].tensor);
  }
  return written;
}

// A quick check that suffices for most arguments: the whole storage is unchanged.
bool sameStorageBytes(const Tensor& a, const Tensor& b) {
  const Storage& x = a.storage();
  const Storage& y = b.storage();
  return a.is_cpu() && b.is_cpu() && x->nbytes() == y->nbytes() &&
         (x->nbytes() == 0 || std::memcmp(x->data(), y->data(), x->nbytes()) == 0);
}

// Whether [now] and [then] differ in bits that the schema does not allow the call to write.
bool wasChanged(const PlacedTensor& now, const PlacedTensor& then, const PlacedTensors& arguments,
                const PlacedTensors& before) {
  if (!hasBytes(now.tensor) || sameStorageBytes(now.tensor, then.tensor)) return false;
  if (sameBits(now.tensor, then.tensor)) return false;
  const ElementBytes new_bytes(now.tensor);
  const ElementBytes old_bytes(then.tensor);
  const std::unordered_set<int64_t> written = writtenBytes(now.tensor, arguments, before);
  const std::vector<int64_t> offsets = elementOffsets(now.tensor);
  const size_t size = now.tensor.itemsize();
  for (size_t i = 0; i < new_bytes.bytes().size(); ++i) {
    if (new_bytes.bytes()[i] == old_bytes.bytes()[i]) continue;
    if (!written.contains(offsets[i / size] + static_cast<int64_t>(i % size))) return true;
  }
  return false;
}

// Compares the numbers, strings and so on in the values: everything but tensor elements.
bool holdsTheSame(const IValue& now, const IValue& then) {
  if (now.isTensor() && then.isTensor()) return now.toTensor().defined() == then.toTensor().defined();
  if (now.tag() != then.tag()) return false;
  if (!now.isTensorList() && !now.isGenericList() && !now.isTuple()) return now.isGenericDict() || sameBits(now, then);
  if (now.length() != then.length()) return false;
  for (size_t i = 0; i < now.length(); ++i) {
    const IValue element = now.elementAt(i);
    // No operator's schema has deeper values.
    if (!element.isList() && !element.isTuple() && !holdsTheSame(element, then.elementAt(i))) return false;
  }
  return true;
}

bool sharesAny(const Tensor& tensor, const PlacedTensors& others, AliasInfoPtr alias) {
  return std::ranges::any_of(others, [&](const PlacedTensor& other) {
    return mayAlias(alias, other.alias) && shareMemory(tensor, other.tensor);
  });
}

void checkWrittenResult(const OperatorHandle& op, const PlacedTensor& result, const PlacedTensors& arguments) {
  const PlacedTensor* promised = nullptr;
  for (const PlacedTensor& argument : arguments) {
    if (!argument.isWritten() || !mayAlias(result.alias, argument.alias)) continue;
    if (argument.tensor.is_same(result.tensor)) return;
    promised = &argument;
  }
  if (promised == nullptr) return;
  BOXCAR_FAIL("{} returned another tensor than {} as {}, but {} promises that very tensor: return the argument itself",
              op, promised->place, result.place, op.schema());
}

void checkView(const OperatorHandle& op, const PlacedTensor& result, const PlacedTensors& arguments) {
  const auto promised = std::ranges::find_if(
      arguments, [&](const PlacedTensor& argument) { return mayAlias(result.alias, argument.alias); });
  if (promised == arguments.end() || sharesAny(result.tensor, arguments, result.alias)) return;
  // Inside fake(), what is made of a real tensor is fake.
  constexpr DispatchKeySet kFake(DispatchKey::Fake);
  if (result.tensor.key_set().has_any(kFake) && !promised->tensor.key_set().has_any(kFake)) return;
  BOXCAR_FAIL(
      "{} returned new memory as {}, but {} promises a view of {}: return a view, or remove the annotation (or tag it "
      "maybe_aliasing_or_mutating if it may be either)",
      op, result.place, op.schema(), promised->place);
}

void checkNothingElseIsShared(const OperatorHandle& op, const PlacedTensor& result, const PlacedTensors& arguments) {
  if (sharesAny(result.tensor, arguments, result.alias)) return;
  for (const PlacedTensor& argument : arguments) {
    if (!shareMemory(result.tensor, argument.tensor)) continue;
    const bool is_itself = result.tensor.is_same(argument.tensor);
    BOXCAR_FAIL(
        "{} returned {}{} as {}, but {} does not say that they share it: return a copy, or annotate both with (a)", op,
        is_itself ? "" : "memory of ", argument.place, result.place, op.schema());
  }
}

}  // namespace

void checkResultTypes(const OperatorHandle& op, std::span<const IValue> results) {
  const FunctionSchema& schema = op.schema();
  if (schema.is_varret()) return;
  BOXCAR_CHECK(results.size() == schema.returns().size(),
               "{} left {} results, but {} promises {}: its kernel must pop all arguments and push exactly the results",
               op, results.size(), schema, schema.returns().size());
  for (size_t i = 0; i < results.size(); ++i) {
    BOXCAR_CHECK(matches(results[i], schema.returns()[i].type()), "{} returned {} as {}, but {} promises {}", op,
                 *typeOf(results[i]), resultPlace(schema, i), schema, *schema.returns()[i].type());
  }
}

void checkUnchanged(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> before) {
  const FunctionSchema& schema = op.schema();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!schema.arguments()[i].is_write() && !holdsTheSame(arguments[i], before[i])) {
      BOXCAR_FAIL("{} changed the contents of {}, but {} does not mark it as written: work on a copy, or mark it (a!)",
                  op, argumentPlace(schema, i), schema);
    }
  }
  const PlacedTensors now = tensorsOfArguments(schema, arguments);
  const PlacedTensors then = tensorsOfArguments(schema, before);
  if (now.size() != then.size()) return;  // written lists may change
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].isWritten()) continue;
    // The same tensor may also be passed as a written argument.
    const bool is_written_elsewhere = std::ranges::any_of(
        now, [&](const PlacedTensor& other) { return other.isWritten() && other.tensor.is_same(now[i].tensor); });
    if (is_written_elsewhere) continue;
    BOXCAR_CHECK(sameLayout(now[i].tensor, then[i].tensor),
                 "{} made {} {}, which was {}, but {} does not mark it as written: work on a view, or mark it (a!)", op,
                 now[i].place, layoutText(now[i].tensor), layoutText(then[i].tensor), schema);
    BOXCAR_CHECK(!wasChanged(now[i], then[i], now, then),
                 "{} changed elements of {}, but {} does not mark it as written: write to a copy, or mark it (a!)", op,
                 now[i].place, schema);
  }
}

void checkAliasing(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> results) {
  const FunctionSchema& schema = op.schema();
  const PlacedTensors given = tensorsOfArguments(schema, arguments);
  const PlacedTensors found = tensorsOfResults(schema, results);
  const bool may_be_either = op.hasTag(Tag::maybe_aliasing_or_mutating);
  size_t first_alike = 0;  // the first of the consecutive results with this annotation
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].isWritten()) checkWrittenResult(op, found[i], given);
    if (may_be_either) continue;
    if (found[i].alias != nullptr && !found[i].isWritten()) checkView(op, found[i], given);
    checkNothingElseIsShared(op, found[i], given);
    // Results in one list have one annotation, which lets them share memory freely, and there may be very many of them.
    if (found[i].alias == nullptr || found[i].alias != found[first_alike].alias) first_alike = i;
    for (size_t j = 0; j < first_alike; ++j) {
      if (mayAlias(found[i].alias, found[j].alias) || !shareMemory(found[i].tensor, found[j].tensor)) continue;
      // Both are views of arguments that share memory themselves.
      if (sharesAny(found[i].tensor, given, found[i].alias) && sharesAny(found[j].tensor, given, found[j].alias))
        continue;
      BOXCAR_FAIL(
          "{} returned the same memory as {} and as {}, but {} does not say that they share it: return copies, or "
          "annotate both with (a)",
          op, found[j].place, found[i].place, schema);
    }
  }
}

void checkSame(const OperatorHandle& op, std::span<const IValue> arguments, std::span<const IValue> results,
               std::span<const IValue> arguments_again, std::span<const IValue> results_again) {
  const FunctionSchema& schema = op.schema();
  constexpr const char* kRemedy =
      "tag it nondeterministic_seeded if it draws random numbers, nondeterministic_bitwise if its bits mean nothing, "
      "io "
      "if it depends on what lies outside";
  const auto check = [&](const PlacedTensors& first, const PlacedTensors& second, bool written_only) {
    for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
      if (written_only && !first[i].isWritten()) continue;
      BOXCAR_CHECK(sameBits(first[i].tensor, second[i].tensor),
                   "{} returned other bits in {} when it was called again with the same inputs: {}", op, first[i].place,
                   kRemedy);
    }
  };
  check(tensorsOfResults(schema, results), tensorsOfResults(schema, results_again), false);
  check(tensorsOfArguments(schema, arguments), tensorsOfArguments(schema, arguments_again), true);
  for (size_t i = 0; i < results.size(); ++i) {
    // The objects may be the same, or new ones that cannot be compared.
    if (results[i].isObject() || results[i].isStorage() || results[i].isGenerator() || results[i].isStream()) continue;
    BOXCAR_CHECK(i < results_again.size() && sameBits(results[i], results_again[i]),
                 "{} returned {} as {}, but {} when it was called again with the same inputs: {}", op, repr(results[i]),
                 resultPlace(schema, i), i < results_again.size() ? repr(results_again[i]) : "nothing", kRemedy);
  }
}

}  // namespace boxcar::promises
