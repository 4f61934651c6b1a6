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
      "tensor.shape", "tensor.dtype",  "tensor.device",     "tensor.ndim",     "tensor.T",           "tensor.layout",
      "tensor.keys",  "operator.name", "operator.overload", "operator.schema", "operator.arg_names", "operator.tags"};
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
       "`import \"file.ops\"`: runs the file once and makes its functions, operators and modes known; an "
       "`.so` is a plugin."},
      {"impl", "`impl ns::name.overload @ KEY { … }`: a kernel of an operator for one dispatch key."},
      {"fallback", "`fallback @ KEY { … }`: answers the calls of every operator that has no kernel of its own at KEY."},
      {"mode", "`mode name { … } exit { … }`: a handler of all operator calls while `with name { … }` runs."},
      {"fn",
       "`fn name(SCHEMA ARGUMENTS) -> RETURNS { … }`: a function; it sees its arguments, constants and other "
       "functions."},
      {"op",
       "`op ns::name.overload(SCHEMA ARGUMENTS) -> RETURNS { … }`: an operator, which is called through the "
       "dispatcher."},
      {"const", "`const NAME = expression`: a value that is set once and seen in all functions and bodies."},
      {"return", "`return e`: ends the function and gives its result."},
      {"if", "`if c { } elif c { } else { }`; in an expression `a if c else b`."},
      {"elif", "`elif c { }`: the next condition of an `if`."},
      {"else", "`else { }`: what runs when no condition held."},
      {"while", "`while c { }`: repeats as long as the condition holds."},
      {"for", "`for x in e { }`: over a range, a list, a tuple, a dict's keys, a str or a tensor's first dimension."},
      {"in", "`a in b`: whether b has a; and what a `for` goes over."},
      {"break", "`break`: leaves the innermost loop."},
      {"continue", "`continue`: begins the next round of the innermost loop."},
      {"with", "`with scope, scope { }`: modes, handlers and dispatch keys that are switched on for a block."},
      {"assert", "`assert c, message`: ends the script with the message where the condition does not hold."},
      {"and", "`a and b`: True where both hold; b is only looked at where a holds."},
      {"or", "`a or b`: True where one of both holds; b is only looked at where a does not."},
      {"not", "`not a`: the opposite of a truth value."},
      {"is", "`a is None`, `a is not None`: whether a value is there; the compiler learns the type from it."},
      {"None", "The value that says that there is none."},
      {"True", "The bool that holds."},
      {"False", "The bool that does not hold."},
      {"inf", "The float that is larger than all others."},
      {"nan", "The float that is no number, and equals nothing."},
      {"exit", "`mode name { … } exit { … }`: runs when the mode's scope ends."},
  };
  const auto found = std::ranges::find(kHelp, word, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kHelp) ? std::string_view() : found->second;
}

}  // namespace boxcar::service
