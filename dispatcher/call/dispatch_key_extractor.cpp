#include <boxcar/dispatcher/call/dispatch_key_extractor.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <limits>
#include <memory>
#include <mutex>

namespace boxcar {
namespace detail {

int listDepthOf(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Tensor:
    case TypeKind::Generator: return 0;
    case TypeKind::Optional: return listDepthOf(type->element());
    case TypeKind::List: {
      const int depth = listDepthOf(type->element());
      return depth < 0 ? -1 : depth + 1;
    }
    default: return -1;
  }
}

DispatchKeySet keysOfValue(const IValue& value, int depth) noexcept {
  switch (value.tag()) {
    case IValue::Tag::Tensor: return value.unsafeGet<IValue::Tag::Tensor>().key_set();
    case IValue::Tag::Generator: return value.unsafeGet<IValue::Tag::Generator>()->key_set();
    case IValue::Tag::TensorList: return keysOf(TensorList(value.unsafeGet<IValue::Tag::TensorList>()->values));
    case IValue::Tag::GenericList: {
      DispatchKeySet keys;
      if (depth <= 0) return keys;
      for (const IValue& element : value.unsafeGet<IValue::Tag::GenericList>()->values) {
        keys |= keysOfValue(element, depth - 1);
      }
      return keys;
    }
    default: return {};
  }
}

}  // namespace detail

namespace {

// No stack is this long.
constexpr size_t kTooLong = std::numeric_limits<size_t>::max();

}  // namespace

constinit const DispatchArguments DispatchArguments::kNone = {kTooLong, kTooLong};

namespace {

DispatchArguments lookUp(const FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  DispatchArguments found{arguments.size() * sizeof(IValue), kTooLong};
  bool run_is_over = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t from_top = arguments.size() - i;
    const int depth = detail::listDepthOf(arguments[i].type());
    found.list_depth = std::max(found.list_depth, depth);
    if (depth < 0) {
      run_is_over = found.run_bytes != 0;
    } else if (run_is_over) {
      found.others_from_top.push_back(static_cast<uint16_t>(from_top));
    } else {
      if (found.run_bytes == 0) found.run_from_top = from_top * sizeof(IValue);
      found.run_bytes += sizeof(IValue);
    }
  }
  if (found.run_bytes != 0 && found.others_from_top.empty()) found.bytes_of_short_way = found.bytes;
  return found;
}

struct ByContent {
  using is_transparent = void;
  size_t operator()(const DispatchArguments& arguments) const noexcept {
    size_t hash = (arguments.bytes * 31 + arguments.run_from_top) * 31 + arguments.run_bytes;
    for (const uint16_t position : arguments.others_from_top) hash = hash * 31 + position;
    return hash;
  }
  size_t operator()(const std::unique_ptr<const DispatchArguments>& kept) const noexcept { return (*this)(*kept); }
  bool operator()(const DispatchArguments& a, const std::unique_ptr<const DispatchArguments>& b) const {
    return a == *b;
  }
  bool operator()(const std::unique_ptr<const DispatchArguments>& a,
                  const std::unique_ptr<const DispatchArguments>& b) const {
    return *a == *b;
  }
};

}  // namespace

const DispatchArguments& DispatchArguments::of(const FunctionSchema& schema) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new boost::unordered_flat_set<std::unique_ptr<const DispatchArguments>, ByContent, ByContent>;
  DispatchArguments wanted = lookUp(schema);
  const std::lock_guard lock(mutex);
  auto found = all.find(wanted);
  if (found == all.end()) found = all.insert(std::make_unique<const DispatchArguments>(std::move(wanted))).first;
  return **found;
}

DispatchKeySet DispatchKeyExtractor::getDispatchKeySetBoxed(const DispatchArguments& arguments,
                                                            const Stack& stack) const noexcept {
  DispatchKeySet keys;
  const IValue* const first = stack.end() - arguments.run_from_top / sizeof(IValue);
  for (const IValue* value = first; value != first + arguments.run_bytes / sizeof(IValue); ++value) {
    keys |= detail::keysOfValue(*value, arguments.list_depth);
  }
  for (const uint16_t from_top : arguments.others_from_top) {
    keys |= detail::keysOfValue(stack.end()[-from_top], arguments.list_depth);
  }
  return detail::computeDispatchKeySet(keys, nonFallthroughKeys());
}

}  // namespace boxcar
