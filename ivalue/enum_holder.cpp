#include <boxcar/ivalue/enum_holder.h>
#include <boxcar/ivalue/ivalue.h>

#include <utility>

namespace boxcar {

EnumHolder::EnumHolder(std::string qualified_class_name, std::string name, IValue value)
    : class_name_(std::move(qualified_class_name)),
      name_(std::move(name)),
      value_(std::make_unique<const IValue>(std::move(value))) {}

EnumHolder::~EnumHolder() = default;

std::string EnumHolder::unqualifiedClassName() const { return class_name_.substr(class_name_.rfind('.') + 1); }

}  // namespace boxcar
