#include <boxcar/schema/schema_builder.h>
#include <boxcar/schema/words.h>

namespace boxcar {
namespace {

// Spaces and tabs behind a default are read with it, but do not belong to its text.
std::string_view withoutSpacesBehind(std::string_view text) { return text.substr(0, text.find_last_not_of(" \t") + 1); }

// A default keeps its spelling unless it has newlines, comments, or a space after a minus sign.
bool isTidy(std::string_view text) {
  if (text.front() == '-' && !detail::isOfClass(text[1], detail::kDigit) && text[1] != '.') return false;
  if (text.find_first_of("\n\r") != std::string_view::npos) return false;
  return text.front() == '\'' || text.front() == '"' || text.find('#') == std::string_view::npos;
}

}  // namespace

void SchemaBuilder::fillName(OperatorName& name) const {
  if (!namespace_.empty()) {
    name.name.reserve(namespace_.size() + 2 + name_.size());
    name.name.append(namespace_).append("::");
  }
  name.name.append(name_);
  name.overload_name = overload_;
}

void SchemaBuilder::fill(std::vector<Argument>& arguments, Drafts& drafts) {
  arguments.reserve(drafts.size());
  for (Draft& draft : drafts) {
    Argument& argument = arguments.emplace_back(Argument::Unchecked{}, draft.name, draft.type.type, draft.size,
                                                draft.type.alias, draft.kwarg_only);
    if (!draft.has_default) continue;
    const std::string_view spelling = withoutSpacesBehind(draft.default_text);
    argument.default_spelling_ = isTidy(spelling)
                                     ? std::string(spelling)
                                     : detail::spellDefault(draft.default_value, draft.type.type, draft.size);
    argument.default_value_.emplace(std::move(draft.default_value));
  }
}

FunctionSchema SchemaBuilder::takeSchema() {
  FunctionSchema schema;
  fillName(schema.name_);
  fill(schema.arguments_, arguments_);
  fill(schema.returns_, returns_);
  schema.is_vararg_ = is_vararg_;
  schema.is_varret_ = is_varret_;
  if (std::optional<detail::ArgumentFault> fault = detail::findFault(schema.arguments_, schema.is_vararg_)) {
    source_.fail(arguments_[fault->index].name, std::move(fault->reason));
  }
  return schema;
}

}  // namespace boxcar
