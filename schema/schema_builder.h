#pragma once

#include <boxcar/schema/default_value.h>  // IWYU pragma: export
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/schema_rules.h>
#include <boxcar/schema/source_text.h>

#include <boost/container/small_vector.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar {

// A type at a position of a schema, with its annotation.
struct AnnotatedType {
  TypePtr type = nullptr;
  AliasInfoPtr alias = nullptr;
};

// Collects what the parser reads, as views into the text, and makes the schema in one step: two vectors of the right
// size, no argument moved.
class SchemaBuilder {
 public:
  // The argument or return being read.
  struct Draft {
    std::string_view name;
    AnnotatedType type;
    std::int32_t size = -1;
    bool kwarg_only = false;
    bool has_default = false;
    std::string_view default_text;
    IValue default_value;
  };

  explicit SchemaBuilder(std::string_view text) : source_{text} {}

  const detail::SourceText& source() const noexcept { return source_; }

  void setNamespace(std::string_view ns) { namespace_ = ns; }
  void setName(std::string_view name) { name_ = name; }
  void setOverload(std::string_view overload) {
    std::string fault = detail::overloadFault(overload);
    if (!fault.empty()) source_.fail(overload, std::move(fault));
    overload_ = overload;
  }
  std::string_view name() const noexcept { return name_; }

  void beginKwargOnly() noexcept { kwarg_only_ = true; }
  void setVararg() noexcept { is_vararg_ = true; }
  bool isVararg() const noexcept { return is_vararg_; }
  void setVarret() noexcept { is_varret_ = true; }
  bool isVarret() const noexcept { return is_varret_; }

  Draft& beginArgument(AnnotatedType type) { return begin(arguments_, type, kwarg_only_); }
  Draft& beginReturn(AnnotatedType type) { return begin(returns_, type, false); }
  Draft& current() noexcept { return *current_; }

  OperatorName takeName() const {
    OperatorName name;
    fillName(name);
    return name;
  }
  FunctionSchema takeSchema();

 private:
  using Drafts = boost::container::small_vector<Draft, 12>;

  Draft& begin(Drafts& drafts, AnnotatedType type, bool kwarg_only) {
    current_ = &drafts.emplace_back();
    current_->type = type;
    current_->kwarg_only = kwarg_only;
    return *current_;
  }
  void fillName(OperatorName& name) const;
  static void fill(std::vector<Argument>& arguments, Drafts& drafts);

  detail::SourceText source_;
  std::string_view namespace_;
  std::string_view name_;
  std::string_view overload_;
  bool kwarg_only_ = false;
  bool is_vararg_ = false;
  bool is_varret_ = false;
  Draft* current_ = nullptr;
  Drafts arguments_;
  Drafts returns_;
};

}  // namespace boxcar
