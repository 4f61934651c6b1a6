#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <complex>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace boxcar {

class IValue;

// A string as an IValue holds it: immutable, shared by copies.
class BOXCAR_API StringObject final : public ObjectOf<StringObject> {
 public:
  explicit StringObject(std::string text) noexcept : text_(std::move(text)) {}
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

// A complex number as an IValue holds it; it is too large to fit beside the tag.
class BOXCAR_API ComplexObject final : public ObjectOf<ComplexObject> {
 public:
  explicit ComplexObject(std::complex<double> value) noexcept : value_(value) {}
  std::complex<double> value() const noexcept { return value_; }

 private:
  std::complex<double> value_;
};

// The base of classes that boxcar passes along without knowing them (`__torch__.torch.classes.…`, Capsule).
class BOXCAR_API CustomClassHolder : public Object {
 public:
  // The name of the class in schemas, such as "__torch__.torch.classes.quantized.Conv2dPackedParamsBase".
  virtual std::string className() const = 0;
  // What printing shows.
  virtual std::string text() const { return "<" + className() + ">"; }
  // What tells its class from others of that name; null if the name does.
  virtual const void* classIdentity() const noexcept { return nullptr; }
  // The values that it holds by names, which printing shows instead of text(): `Name(a=1, b=2)`; null if it has none.
  virtual const std::vector<IValue>* heldValues() const noexcept { return nullptr; }
  virtual std::string heldName(size_t /*index*/) const { return {}; }
};

}  // namespace boxcar
