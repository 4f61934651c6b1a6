#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/operator_call.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/syntax/token.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

Expression operatorCall(const OperatorHandle& op, std::span<const GivenArgument> given) {
  const FunctionSchema& schema = op.schema();
  const std::string& name = schema.name();
  const std::string_view short_name = std::string_view(name).substr(name.find("::") + 2);
  std::vector<Expression> positional;
  std::vector<std::pair<std::string, Expression>> keywords;
  for (size_t i = 0; i < given.size(); ++i) {
    const Argument& parameter = *given[i].parameter;
    const bool is_contiguous =
        keywords.empty() && i < schema.arguments().size() && &schema.arguments()[i] == &parameter;
    const bool is_plain = parameter.default_value().has_value() && given[i].is_literal;
    if (is_contiguous && !parameter.kwarg_only() && !is_plain) {
      positional.push_back(given[i].value);
    } else {
      keywords.emplace_back(parameter.name(), given[i].value);
    }
  }
  TypePtr type = Type::any();
  if (schema.returns().size() == 1) type = schema.returns()[0].type();
  if (type == Type::symInt()) type = Type::integer();
  // Another dtype alone is what the short form means.
  if (name == "aten::to" && positional.size() == 1 && keywords.size() == 1 && keywords[0].first == "dtype") {
    return {fmt::format("{}.to({})", within(positional[0], Precedence::Atom), keywords[0].second.text)};
  }
  // What the short form would call.
  std::vector<CallArgument> written;
  for (const Expression& each : positional) written.push_back({each.type, {}});
  for (const auto& [keyword, each] : keywords) written.push_back({each.type, keyword});
  const std::vector<OperatorHandle> overloads = Dispatcher::singleton().findOverloads(name);
  std::vector<const FunctionSchema*> candidates;
  for (const OperatorHandle& each : overloads) candidates.push_back(&each.schema());
  const Resolution resolution = resolveOverload(candidates, written, TypesFrom::kProgram);
  const bool is_short = name.starts_with("aten::") && syntax::keywordOrName(short_name) == syntax::TokenKind::Name &&
                        !isHiddenByLibrary(short_name) && resolution.kind == Resolution::Kind::Chosen &&
                        candidates[resolution.candidate] == &schema;
  // `addmm(bias, x, w)` is a product, and not something that is done with the bias.
  const bool is_method = is_short && !short_name.starts_with("addmm") && short_name != "baddbmm" &&
                         !schema.arguments().empty() && schema.arguments()[0].name() == "self" && !positional.empty() &&
                         positional[0].type == Type::tensor();
  std::vector<std::string> texts;
  for (size_t i = is_method ? 1 : 0; i < positional.size(); ++i) {
    std::string text = positional[i].text;
    // Ints without their list, if they are all there is.
    const bool is_list = is_method && schema.arguments().size() == 2 && text.starts_with('[') && text != "[]" &&
                         positional[i].type == Type::listOf(Type::integer());
    texts.push_back(is_list ? text.substr(1, text.size() - 2) : std::move(text));
  }
  for (const auto& [keyword, each] : keywords) texts.push_back(fmt::format("{}={}", keyword, each.text));
  const std::string arguments = fmt::format("{}", fmt::join(texts, ", "));
  if (is_method) {
    return {fmt::format("{}.{}({})", within(positional[0], Precedence::Atom), short_name, arguments), Precedence::Atom,
            type};
  }
  if (is_short) return {fmt::format("{}({})", short_name, arguments), Precedence::Atom, type};
  const bool is_only = candidates.size() == 1;
  return {fmt::format("{}{}{}({})", name, is_only ? "" : ".",
                      is_only                          ? ""
                      : schema.overload_name().empty() ? "default"
                                                       : schema.overload_name(),
                      arguments),
          Precedence::Atom, type};
}

}  // namespace boxcar::interp
