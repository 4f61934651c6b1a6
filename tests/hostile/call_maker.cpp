#include "tests/hostile/call_maker.h"

#include <boxcar/ivalue/dict.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "tests/hostile/hostile_tensors.h"
#include "tests/hostile/hostile_values.h"

namespace boxcar::hostile {
namespace {

// A place for a tensor: an argument, or an element of a list argument.
struct Place {
  size_t argument;
  std::optional<size_t> element;
  bool is_written;
};

TypePtr inner(TypePtr type) { return type->isOptional() ? type->element() : type; }

bool takesTensor(TypePtr type) { return inner(type)->kind() == TypeKind::Tensor; }
bool takesTensors(TypePtr type) { return inner(type)->isList() && takesTensor(inner(type)->element()); }

class Maker final {
 public:
  Maker(const Subject& subject, uint64_t seed) : declared_(subject.op.schema().arguments()), random_(seed) {
    const Stack& plausible = random_.pick(subject.plausible);
    for (const IValue& value : plausible) values_.push_back(copy(value));
  }

  Stack make() {
    constexpr int kHowMany[] = {0, 1, 1, 1, 1, 2, 2, 2, 3, 3};
    if (random_.oneIn(12)) makeMeta();
    for (int left = random_.pick(kHowMany); left > 0 && !values_.empty(); --left) {
      if (random_.oneIn(8)) {
        conspire();
      } else {
        mutate(random_.below(values_.size()));
      }
    }
    return std::move(values_);
  }

 private:
  IValue copy(const IValue& value) {
    if (value.isTensor()) return copy(value.toTensor());
    if (value.isTensorList()) {
      const List<Tensor> list;
      for (const Tensor& tensor : value.toTensorList().span()) list.push_back(copy(tensor));
      return list;
    }
    if (value.isList()) {
      const GenericList list;
      for (size_t i = 0; i < value.length(); ++i) list.push_back(copy(value.elementAt(i)));
      return list;
    }
    if (value.isGenericDict()) {
      const Dict<std::string, Tensor> dict;
      const GenericDict from = value.toGenericDict();
      for (size_t i = 0; i < from.size(); ++i) {
        const auto [key, tensor] = from.entryAt(i);
        if (key.isString() && tensor.isTensor()) dict.insert(key.toStringRef(), copy(tensor.toTensor()));
      }
      return dict;
    }
    if (value.isIntList()) return value.toIntList().copy();
    if (value.isDoubleList()) return value.toDoubleList().copy();
    if (value.isBoolList()) return value.toBoolList().copy();
    return value;
  }

  // A tensor that is passed twice stays one tensor in the copies.
  Tensor copy(const Tensor& tensor) {
    const auto known = copies_.find(tensor.unsafeGetTensorImpl());
    if (known != copies_.end()) return known->second;
    return copies_.emplace(tensor.unsafeGetTensorImpl(), guardedCopy(tensor, random_)).first->second;
  }

  std::vector<Place> places() const {
    std::vector<Place> found;
    for (size_t i = 0; i < declared_.size(); ++i) {
      const bool is_written = declared_[i].is_write();
      if (takesTensor(declared_[i].type())) found.push_back({i, std::nullopt, is_written});
      if (!takesTensors(declared_[i].type()) || !values_[i].isList()) continue;
      for (size_t j = 0; j < values_[i].length(); ++j) found.push_back({i, j, is_written});
    }
    return found;
  }

  Tensor at(const Place& place) const {
    const IValue value = place.element ? values_[place.argument].elementAt(*place.element) : values_[place.argument];
    return value.isTensor() ? value.toTensor() : Tensor();
  }

  void put(const Place& place, const Tensor& tensor) {
    IValue& value = values_[place.argument];
    if (!place.element) {
      value = tensor;
    } else if (value.isTensorList()) {
      value.toTensorList().set(*place.element, tensor);
    } else {
      value.toList().set(*place.element, tensor);
    }
  }

  // The tensors at all other places.
  std::vector<Tensor> others(const Place& place) const {
    std::vector<Tensor> found;
    for (const Place& other : places()) {
      if (other.argument == place.argument && other.element == place.element) continue;
      if (const Tensor tensor = at(other); tensor.defined()) found.push_back(tensor);
    }
    return found;
  }

  void mutate(size_t index) {
    const TypePtr type = declared_[index].type();
    if (takesTensor(type)) {
      mutateTensor({index, std::nullopt, declared_[index].is_write()});
    } else if (takesTensors(type)) {
      mutateTensors(index);
    } else if (values_[index].isGenericDict()) {
      mutateDict(values_[index].toGenericDict());
    } else {
      values_[index] = hostileValue(type, values_[index], random_);
    }
  }

  void mutateTensor(const Place& place) {
    if (declared_[place.argument].type()->isOptional() && !place.element && random_.oneIn(4)) {
      values_[place.argument] = IValue();
      return;
    }
    const std::vector<Tensor> rest = others(place);
    const Tensor now = at(place);
    const Tensor& plausible = now.defined() || rest.empty() || random_.oneIn(4) ? now : rest.front();
    put(place, place.is_written ? hostileOutput(plausible, rest, random_) : hostileTensor(plausible, rest, random_));
  }

  // Makes a new list, because the old one may be passed twice.
  void mutateTensors(size_t index) {
    IValue& value = values_[index];
    const bool may_have_none = inner(declared_[index].type())->element()->isOptional();
    if (!value.isList()) {
      value = may_have_none ? IValue(GenericList{}) : IValue(List<Tensor>{});
    }
    std::vector<IValue> elements;
    for (size_t i = 0; i < value.length(); ++i) elements.push_back(value.elementAt(i));
    switch (random_.below(6)) {
      case 0: elements.clear(); break;
      case 1: elements.push_back(elements.empty() || random_.oneIn(2) ? IValue(Tensor()) : elements[0]); break;
      case 2:
        if (!elements.empty()) elements.resize(random_.pick({size_t{2}, size_t{65}, size_t{300}}), elements[0]);
        break;
      case 3:
        if (may_have_none && !elements.empty()) elements[random_.below(elements.size())] = IValue();
        break;
      default: break;
    }
    if (may_have_none) {
      const GenericList list;
      for (const IValue& element : elements) list.push_back(element);
      value = list;
    } else {
      const List<Tensor> list;
      for (const IValue& element : elements) list.push_back(element.toTensor());
      value = list;
    }
    if (value.length() != 0 && random_.oneIn(2))
      mutateTensor({index, random_.below(value.length()), declared_[index].is_write()});
  }

  void mutateDict(const GenericDict& dict) {
    const std::string key = hostileValue(Type::string(), IValue(), random_).toStringRef();
    dict.insert(key, hostileTensor(Tensor(), {}, random_));
  }

  // Puts one tensor at two places, one of them written if the operator writes any. Sometimes this is a new empty
  // tensor.
  void conspire() {
    const std::vector<Place> all = places();
    if (all.size() < 2) return;
    std::vector<Place> written;
    std::ranges::copy_if(all, std::back_inserter(written), &Place::is_written);
    const Place first = written.empty() ? random_.pick(all) : random_.pick(written);
    const Place second = random_.pick(all);
    Tensor tensor = at(random_.oneIn(2) ? first : second);
    if (random_.oneIn(3) || !tensor.defined()) {
      tensor = plainTensor(std::vector<int64_t>{0}, tensor.defined() ? tensor.dtype() : ScalarType::Float, random_);
    }
    put(first, tensor);
    put(second, tensor);
  }

  // Makes all tensors meta tensors; without memory, their sizes can exceed any memory.
  void makeMeta() {
    for (const Place& place : places()) {
      const Tensor tensor = at(place);
      if (!tensor.defined()) continue;
      std::vector<int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
      if (!sizes.empty() && random_.oneIn(6)) sizes[random_.below(sizes.size())] = std::abs(hostileInt(random_) / 2);
      put(place, metaTensor(sizes, tensor.dtype()));
    }
  }

  const std::vector<Argument>& declared_;
  Random random_;
  Stack values_;
  std::map<const TensorImpl*, Tensor> copies_;
};

// Describes tensors and names their storages.
class Describer final {
 public:
  std::string describe(const IValue& value) {
    if (value.isTensor()) return describe(value.toTensor());
    if (value.isList()) {
      std::string text = "[";
      for (size_t i = 0; i < std::min<size_t>(value.length(), 20); ++i)
        text += (i > 0 ? ", " : "") + describe(value.elementAt(i));
      return text + (value.length() > 20 ? fmt::format(", and {} more]", value.length() - 20) : "]");
    }
    const std::string text = repr(value);
    return text.size() > 300 ? text.substr(0, 300) + " …" : text;
  }

 private:
  std::string describe(const Tensor& tensor) {
    if (!tensor.defined()) return "an undefined tensor";
    const size_t number = storages_.try_emplace(tensor.storage().get(), storages_.size() + 1).first->second;
    const std::string sizes = tensor.dim() > 20 ? fmt::format("{} dimensions", tensor.dim())
                                                : fmt::format("{}", fmt::join(tensor.sizes(), ", "));
    std::string text = fmt::format("{}[{}]", dtypeName(tensor.dtype()), sizes);
    if (!tensor.is_contiguous()) text += fmt::format(" with strides [{}]", fmt::join(tensor.strides(), ", "));
    if (tensor.storage_offset() != 0) text += fmt::format(" from element {}", tensor.storage_offset());
    text += fmt::format(" in {} storage {}", tensor.is_meta() ? "meta" : "cpu", number);
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) text += ", a number";
    if (tensor.requires_grad()) text += ", requires grad";
    if (tensor.is_cpu() && tensor.numel() > 0 && tensor.numel() <= 12) {
      std::string elements = toString(tensor);
      std::ranges::replace(elements, '\n', ' ');
      text += " = " + elements;
    }
    return text;
  }

  std::map<const StorageImpl*, size_t> storages_;
};

}  // namespace

Stack makeArguments(const Subject& subject, uint64_t seed) { return Maker(subject, seed).make(); }

std::string describeArguments(const Subject& subject, const Stack& arguments) {
  std::string text;
  Describer describer;
  for (size_t i = 0; i < arguments.size(); ++i) {
    text += fmt::format("    {} = {}\n", subject.op.schema().arguments()[i].name(), describer.describe(arguments[i]));
  }
  return text;
}

}  // namespace boxcar::hostile
