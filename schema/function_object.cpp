#include <boxcar/ivalue/error.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/value_type.h>

#include <utility>

namespace boxcar {
namespace {

class NativeFunction final : public FunctionObject {
 public:
  NativeFunction(FunctionSchema schema, std::function<void(Stack& stack)> run)
      : schema_(std::move(schema)), run_(std::move(run)) {}

  const FunctionSchema& schema() const override { return schema_; }
  void call(Stack& stack) const override {
    const std::vector<Argument>& arguments = schema_.arguments();
    BOXCAR_CHECK(stack.size() >= arguments.size(), "{} takes {} arguments, but the stack has {} values\n  {}",
                 schema_.name(), arguments.size(), stack.size(), schema_);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const IValue& value = peek(stack, i, arguments.size());
      BOXCAR_CHECK(matches(value, arguments[i].type()), "{}: argument '{}' must be {}, not {}\n  {}", schema_.name(),
                   arguments[i].name(), *arguments[i].type(), *typeOf(value), schema_);
    }
    const size_t taken = schema_.is_vararg() ? stack.size() : arguments.size();
    const size_t expected = stack.size() - taken + schema_.returns().size();
    run_(stack);
    BOXCAR_CHECK(stack.size() == expected, "{}: it must replace its {} arguments by {} results\n  {}", schema_.name(),
                 taken, schema_.returns().size(), schema_);
  }

 private:
  const FunctionSchema schema_;
  const std::function<void(Stack& stack)> run_;
};

}  // namespace

std::string FunctionObject::text() const { return toString(schema().operator_name()); }

FunctionPtr makeFunction(FunctionSchema schema, std::function<void(Stack& stack)> run) {
  return makeIntrusive<NativeFunction>(std::move(schema), std::move(run));
}

const FunctionObject* functionIn(const IValue& value) noexcept {
  return value.isObject() ? dynamic_cast<const FunctionObject*>(value.toObject().get()) : nullptr;
}

}  // namespace boxcar
