#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Reads what Python's pickle module and PyTorch write, without Python. A pickle is a program for a small stack machine
// that may call any function of Python by its name. Here it can only name what the caller's PickleNames knows; no code
// of a file is ever run.

namespace boxcar::io {

// A place in a pickle, for errors.
class PicklePlace final {
 public:
  PicklePlace(const std::string& what, size_t byte) noexcept : what_(what), byte_(byte) {}

  // Throws Error "'data.pkl' in 'x.pt' cannot be loaded: at byte 57, …".
  [[noreturn]] void fail(std::string_view problem) const;
  // Throws the Error for the function or class [name] that is not known.
  [[noreturn]] void refuse(std::string_view name) const;

 private:
  const std::string& what_;
  const size_t byte_;
};

// A function or class that a pickle names. Without [call] it can be named, but not called.
class PickleFunction final : public CustomClassHolder {
 public:
  using Call = std::function<IValue(std::span<const IValue> arguments, const PicklePlace& place)>;

  explicit PickleFunction(std::string name, Call call = nullptr) : name_(std::move(name)), call_(std::move(call)) {}
  const std::string& name() const noexcept { return name_; }
  const Call& call() const noexcept { return call_; }
  std::string className() const override { return "PickleFunction"; }

 private:
  const std::string name_;
  const Call call_;
};

// An object of a class that is known by its name only: what its class was called with, and the state that the pickle
// gave it afterwards. What a PickleFunction may return.
class PickledObject final : public CustomClassHolder {
 public:
  PickledObject(std::string name, std::span<const IValue> arguments);
  ~PickledObject() override;
  std::string className() const override { return name_; }

  std::span<const IValue> arguments() const noexcept { return std::span(values_).first(values_.size() - 1); }
  const IValue& state() const noexcept { return values_.back(); }
  void setState(IValue state) noexcept { values_.back() = std::move(state); }
  // The arguments, then the state.
  const std::vector<IValue>& values() const noexcept { return values_; }

 private:
  const std::string name_;
  std::vector<IValue> values_;
};

// What a pickle may name.
class PickleNames {
 public:
  // Returns what "module.name" stands for: a PickleFunction, or a value such as a dtype's number. Calls place.refuse()
  // for every name that it does not know.
  virtual IValue find(std::string_view name, const PicklePlace& place) = 0;
  // Returns what lies outside of the pickle under [id].
  virtual IValue findPersistent(const IValue& id, const PicklePlace& place) = 0;
  // Whether the result may hold PickledObjects.
  virtual bool keepsObjects() const noexcept { return false; }

 protected:
  ~PickleNames() = default;
};

struct Unpickled {
  IValue value;
  size_t end;  // the position in the file behind the pickle
};

// Reads the pickle of protocol 0 to 5 that begins at byte [begin] of [file]; [what] names the file in errors, with
// quotes. Lists become List<IValue>, as do sets; bytes become str. Attributes of dicts are dropped. Throws Error for
// integers that do not fit 64 bits, values nested more than 1000 deep, values that contain themselves, and everything
// that [names] does not know. Memory is proportional to the pickle's length.
Unpickled unpickle(std::span<const std::byte> file, size_t begin, const std::string& what, PickleNames& names);

// Returns Python's name for the kind of a value: "dict", "list", "Tensor".
std::string_view pickledKind(const IValue& value) noexcept;

// Returns the PickleFunction that [value] is; null if it is another value.
const PickleFunction* asPickleFunction(const IValue& value) noexcept;

}  // namespace boxcar::io
