#include <boxcar/backends/io/pickle_nesting.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace boxcar::io {
namespace {

constexpr int kDeepestPickle = 1000;

// Returns the next of the values that [container] holds; null behind the last one. Keys of dicts hold no containers.
const IValue* childAt(const IValue& container, size_t index) {
  const auto within = [index](const std::vector<IValue>& values) {
    return index < values.size() ? &values[index] : nullptr;
  };
  switch (container.tag()) {
    case IValue::Tag::GenericList: return within(container.unsafeGet<IValue::Tag::GenericList>()->values);
    case IValue::Tag::Tuple: return within(container.unsafeGet<IValue::Tag::Tuple>()->elements());
    case IValue::Tag::GenericDict: {
      const DictObject& dict = *container.unsafeGet<IValue::Tag::GenericDict>();
      return index < dict.size() ? &dict.valueAt(index) : nullptr;
    }
    default: break;
  }
  return within(dynamic_cast<const PickledObject&>(*container.unsafeGet<IValue::Tag::Object>()).values());
}

// Walks through what values hold with a stack of its own.
class NestingWalk final {
 public:
  explicit NestingWalk(const PicklePlace& place) : place_(place) {}

  // With [objects], everything may occur.
  void walk(const IValue& root, bool objects) {
    enter(root, objects);
    while (!open_.empty()) {
      Frame& frame = open_.back();
      if (const IValue* const child = childAt(*frame.value, frame.next)) {
        ++frame.next;
        enter(*child, objects);
        continue;
      }
      const int depth = frame.depth_below + 1;
      if (depth > kDeepestPickle) failDeep();
      depths_[frame.value->object()] = depth;
      open_.pop_back();
      if (!open_.empty()) open_.back().depth_below = std::max(open_.back().depth_below, depth);
    }
  }

 private:
  struct Frame {
    const IValue* value;
    size_t next;
    int depth_below;
  };

  void enter(const IValue& value, bool objects) {
    if (value.isObject() && !objects) {
      const auto* const function = asPickleFunction(value);
      place_.fail(fmt::format("its pickle ends, and what it holds has {} in it, which is no value that boxcar has",
                              function != nullptr ? function->name() : value.toObject()->className()));
    }
    if (!isPickleContainer(value)) return;
    const auto [known, is_new] = depths_.emplace(value.object(), 0);
    if (is_new) {
      if (open_.size() > kDeepestPickle) failDeep();
      open_.push_back({&value, 0, 0});
    } else if (known->second == 0) {
      place_.fail("its pickle ends, and a list, dict or object of it contains itself");
    } else if (!open_.empty()) {
      open_.back().depth_below = std::max(open_.back().depth_below, known->second);
    }
  }
  [[noreturn]] void failDeep() const {
    place_.fail(fmt::format("its pickle ends, and its values are nested more than {} deep", kDeepestPickle));
  }

  const PicklePlace& place_;
  std::unordered_map<const Object*, int> depths_;  // 0 while a container is open
  std::vector<Frame> open_;
};

}  // namespace

bool isPickleContainer(const IValue& value) noexcept {
  if (value.isObject()) return dynamic_cast<const PickledObject*>(value.object()) != nullptr;
  return value.isGenericList() || value.isGenericDict() || value.isTuple();
}

void checkPickledNesting(const IValue& result, const std::vector<IValue>& others, bool allowed,
                         const PicklePlace& place) {
  NestingWalk walk(place);
  walk.walk(result, allowed);
  for (const IValue& other : others) walk.walk(other, true);
}

}  // namespace boxcar::io
