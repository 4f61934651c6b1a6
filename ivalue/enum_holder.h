#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

#include <memory>
#include <string>

namespace boxcar {

class IValue;

// A member of a Python enum, as an IValue holds it: the class and the member's name and value. Two are equal when their
// classes and names are.
//
//   makeIntrusive<EnumHolder>("__torch__.models.Color", "RED", IValue(1))
class BOXCAR_API EnumHolder final : public ObjectOf<EnumHolder> {
 public:
  EnumHolder(std::string qualified_class_name, std::string name, IValue value);
  ~EnumHolder() override;

  const std::string& qualifiedClassName() const noexcept { return class_name_; }
  // The part after the last dot.
  std::string unqualifiedClassName() const;
  const std::string& name() const noexcept { return name_; }
  const IValue& value() const noexcept { return *value_; }

  friend bool operator==(const EnumHolder& a, const EnumHolder& b) noexcept {
    return a.name_ == b.name_ && a.class_name_ == b.class_name_;
  }

 private:
  std::string class_name_;
  std::string name_;
  std::unique_ptr<const IValue> value_;
};

}  // namespace boxcar
