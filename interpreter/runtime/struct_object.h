#pragma once

#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/ivalue/heap_values.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/list_object.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

// A value of a struct; shared by copies, as a list is.
class StructObject final : public CustomClassHolder {
 public:
  // [owner]: the script that declares the struct, which the value does not keep loaded.
  StructObject(const StructLayout& layout, std::weak_ptr<const Executable> owner, std::vector<IValue> fields)
      : layout_(layout), owner_(std::move(owner)), fields_(std::move(fields)) {}
  ~StructObject() override { boxcar::detail::destroyNested(std::move(fields_)); }
  StructObject(const StructObject&) = delete;
  StructObject& operator=(const StructObject&) = delete;

  const StructLayout& layout() const noexcept { return layout_; }
  std::shared_ptr<const Executable> owner() const noexcept { return owner_.lock(); }
  std::vector<IValue>& fields() noexcept { return fields_; }

  std::string className() const override { return layout_.name; }
  const void* classIdentity() const noexcept override { return &layout_; }
  const std::vector<IValue>* heldValues() const noexcept override { return &fields_; }
  std::string heldName(size_t index) const override { return layout_.fields[index].name; }

 private:
  const StructLayout& layout_;
  const std::weak_ptr<const Executable> owner_;
  std::vector<IValue> fields_;
};

// Returns the struct's value in [value]; null if it holds none.
StructObject* structIn(const IValue& value) noexcept;

// Makes a value of struct [index] of the program's unit.
IValue makeStruct(const Executable& program, uint32_t index, std::vector<IValue> fields);

// Returns the field of [value]; throws Error if it is not of the field's struct.
IValue& fieldOf(const IValue& value, const CodeField& field);

// What an attribute and a method of a value mean whose type is only known at run time. Each throws Error that names the
// value's type and the name, if it has no such field or method.
IValue fieldNamed(const IValue& value, std::string_view name);
void setFieldNamed(const IValue& value, std::string_view name, const IValue& to);
IValue callMethodNamed(std::string_view name, std::span<IValue> arguments, std::span<const std::string_view> keywords);
// Whether [value] is a struct's, and has a field or a method called [name].
bool hasMember(const IValue& value, std::string_view name);

}  // namespace boxcar::interp
