#include <boxcar/interpreter/service/names.h>

#include <algorithm>
#include <utility>

namespace boxcar::service {

std::string_view spaceOf(std::string_view name) noexcept {
  const size_t colons = name.find("::");
  return colons == std::string_view::npos ? std::string_view() : name.substr(0, colons);
}

std::string_view nameOf(std::string_view name) noexcept {
  const size_t colons = name.find("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

std::string signatureOf(const interp::Builtin& builtin) {
  std::string text = toString(builtin.schema);
  text.replace(0, text.find('('), builtin.full_name);
  return text;
}

bool isAttribute(const interp::Builtin& builtin) noexcept {
  constexpr std::string_view kAttributes[] = {
      "tensor.shape",    "tensor.dtype",       "tensor.device", "tensor.ndim",   "tensor.T",
      "tensor.layout",   "tensor.is_mkldnn",   "tensor.keys",   "operator.name", "operator.overload",
      "operator.schema", "operator.arg_names", "operator.tags"};
  return std::ranges::find(kAttributes, builtin.name()) != std::end(kAttributes);
}

bool takesFirst(const FunctionSchema& schema, TypePtr type) noexcept {
  if (schema.arguments().empty() || schema.arguments()[0].kwarg_only()) return false;
  TypePtr wanted = schema.arguments()[0].type();
  if (wanted->isOptional()) wanted = wanted->element();
  if (type->kind() == TypeKind::Any) return true;
  if (wanted == type || wanted->kind() == TypeKind::Any) return true;
  if (wanted->isList() && type->isList()) {
    const TypePtr element = wanted->element()->isOptional() ? wanted->element()->element() : wanted->element();
    return element == type->element() || element->kind() == TypeKind::Any;
  }
  return false;
}

std::string_view keywordHelp(std::string_view word) noexcept {
  static constexpr std::pair<std::string_view, std::string_view> kHelp[] = {
      {"use", "`use ns`: names without a namespace are looked up in `ns` too, the latest `use` first."},
      {"import",
       "`import \"file.ops\"`: runs the file once and makes its functions, operators and modes available; an `.so` is "
       "a plugin."},
      {"impl", "`impl ns::name.overload @ KEY { … }`: a kernel of an operator for one dispatch key."},
      {"fallback", "`fallback @ KEY { … }`: runs for every operator that has no kernel of its own at KEY."},
      {"mode", "`mode name { … } exit { … }`: a handler of all operator calls while `with name { … }` runs."},
      {"fn",
       "`fn name(SCHEMA ARGUMENTS) -> RETURNS { … }`: a function; it sees its arguments, constants and other "
       "functions."},
      {"op",
       "`op ns::name.overload(SCHEMA ARGUMENTS) -> RETURNS { … }`: an operator, which is called through the "
       "dispatcher."},
      {"const", "`const NAME = expression`: a value that is set once and visible in all functions and bodies."},
      {"struct",
       "`struct Name { TYPE field = DEFAULT; fn method(self, …) -> … { … } }`: a type with fields and methods."},
      {"raise", "`raise message`: ends the script with the message."},
      {"return", "`return e`: ends the function with the result e."},
      {"if", "`if c { } elif c { } else { }`; in an expression `a if c else b`."},
      {"elif", "`elif c { }`: the next condition of an `if`."},
      {"else", "`else { }`: runs if no condition was true."},
      {"while", "`while c { }`: repeats while the condition is true."},
      {"for", "`for x in e { }`: over a range, a list, a tuple, a dict's keys, a str or a tensor's first dimension."},
      {"in", "`a in b`: whether b contains a; in a `for`, what to iterate over."},
      {"break", "`break`: leaves the innermost loop."},
      {"continue", "`continue`: starts the next iteration of the innermost loop."},
      {"with", "`with scope, scope { }`: modes, handlers and dispatch keys that are switched on for a block."},
      {"assert", "`assert c, message`: ends the script with the message if the condition is false."},
      {"and", "`a and b`: True if both are true; b is only evaluated if a is true."},
      {"or", "`a or b`: True if one of them is true; b is only evaluated if a is false."},
      {"not", "`not a`: the negation of a bool."},
      {"is", "`a is None`, `a is not None`: whether there is a value; the compiler narrows the type."},
      {"None", "The absent value."},
      {"True", "The true bool."},
      {"False", "The false bool."},
      {"inf", "The infinite float."},
      {"nan", "The float that is not a number and equals nothing."},
      {"exit", "`mode name { … } exit { … }`: runs when the mode's scope ends."},
  };
  const auto found = std::ranges::find(kHelp, word, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kHelp) ? std::string_view() : found->second;
}

}  // namespace boxcar::service
