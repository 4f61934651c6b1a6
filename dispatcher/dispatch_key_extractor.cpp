#include <boxcar/dispatcher/dispatch_key_extractor.h>

#include <algorithm>

namespace boxcar {
namespace {

// How deep the lists of an argument lie in each other that is dispatched on; -1 for one that is not.
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

}  // namespace

namespace detail {

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

void DispatchKeyExtractor::registerSchema(const FunctionSchema& schema) {
  deregisterSchema();
  const auto& arguments = schema.arguments();
  bool run_is_over = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t from_top = arguments.size() - i;
    const int depth = listDepthOf(arguments[i].type());
    list_depth_ = std::max(list_depth_, depth);
    if (depth < 0) {
      run_is_over = run_bytes_ != 0;
    } else if (run_is_over) {
      others_from_top_.push_back(static_cast<uint16_t>(from_top));
      has_others_ = true;
    } else {
      if (run_bytes_ == 0) run_from_top_ = from_top * sizeof(IValue);
      run_bytes_ += sizeof(IValue);
    }
  }
}

void DispatchKeyExtractor::deregisterSchema() noexcept {
  run_from_top_ = 0;
  run_bytes_ = 0;
  has_others_ = false;
  list_depth_ = 0;
  others_from_top_.clear();
}

DispatchKeySet DispatchKeyExtractor::keysOfOthers(const Stack& stack) const noexcept {
  DispatchKeySet keys;
  for (const uint16_t from_top : others_from_top_) keys |= detail::keysOfValue(stack.end()[-from_top], list_depth_);
  return keys;
}

}  // namespace boxcar
