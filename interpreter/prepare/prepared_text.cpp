#include <boxcar/interpreter/prepare/absorption.h>
#include <boxcar/interpreter/prepare/channels_last.h>
#include <boxcar/interpreter/prepare/pointwise_groups.h>
#include <boxcar/interpreter/prepare/prepared_text.h>
#include <boxcar/interpreter/prepare/rewriter.h>
#include <boxcar/interpreter/prepare/typed_script.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

namespace boxcar::detail {

extern const std::string_view kRewritesScript;

}  // namespace boxcar::detail

namespace boxcar::interp {
namespace {

constexpr std::string_view kLayers = "nn.ops";
constexpr std::string_view kFusedLayers = "fused.ops";
// A rule makes a program smaller, or is wrong: this ends those that undo one another.
constexpr int kMostPasses = 50;

const Rules& libraryRules(ModuleLoader* loader) {
  static const auto& rules = *new Rules(
      Source::create(std::string(kLibraryFolder) + "rewrites.ops", std::string(detail::kRewritesScript)), loader);
  return rules;
}

// A text that is changed step by step.
class Text final {
 public:
  Text(SourcePtr source, ModuleLoader* loader) : source_(std::move(source)), loader_(loader) {}

  // Makes the changes that [step] returns for the text's script, until it returns none or [most] times.
  template <class Step>
  void change(const Step& step, int most) {
    for (int pass = 0; pass < most; ++pass) {
      Diagnostics diagnostics;
      const auto script = TypedScript::infer(source_, diagnostics, loader_);
      if (script == nullptr) return;
      std::vector<Edit> edits = step(*script);
      if (edits.empty()) return;
      has_changed_ = true;
      source_ = Source::create(source_->name(), edited(source_->text(), std::move(edits)));
    }
  }

  bool hasChanged() const noexcept { return has_changed_; }
  const SourcePtr& source() const noexcept { return source_; }

 private:
  SourcePtr source_;
  ModuleLoader* loader_;
  bool has_changed_ = false;
};

// The change that imports what the rules call, beside the layers that they replace.
std::vector<Edit> importOfFusedLayers(const TypedScript& script) {
  const auto& statements = script.tree().statements;
  if (script.imports(kFusedLayers) || statements.empty()) return {};
  const std::string line = fmt::format("import \"{}\"\n", kFusedLayers);
  for (size_t i = 0; i + 1 < statements.size(); ++i) {
    const auto* import = boost::variant2::get_if<syntax::Import>(&statements[i]->node);
    if (import == nullptr || import->path != kLayers) continue;
    const std::string_view text = script.source()->text();
    const auto end = static_cast<uint32_t>(std::min(text.find('\n', statements[i]->span.end) + 1, text.size()));
    return {{{end, end}, line}};
  }
  const uint32_t begin = statements[0]->span.begin;
  return {{{begin, begin}, line}};
}

// The change that removes this import where no rule needed it.
std::vector<Edit> importThatNothingNeeds(const TypedScript& script) {
  if (script.names(kFusedLayers)) return {};
  for (const syntax::StmtPtr& statement : script.tree().statements) {
    const auto* import = boost::variant2::get_if<syntax::Import>(&statement->node);
    if (import != nullptr && import->path == kFusedLayers) return {withoutStatement(*script.source(), statement->span)};
  }
  return {};
}

}  // namespace

std::string preparedText(const SourcePtr& source, ModuleLoader* loader, const std::vector<const Rules*>& rules) {
  std::vector<const Rules*> all = rules;
  all.push_back(&libraryRules(loader));
  Text text(source, loader);
  text.change(importOfFusedLayers, 1);
  Text prepared(text.source(), loader);
  prepared.change([&all](const TypedScript& script) { return rewrite(script, all); }, kMostPasses);
  prepared.change(absorb, kMostPasses);
  prepared.change(groupPointwise, 1);
  prepared.change(keepChannelsLast, 1);
  if (!prepared.hasChanged()) return std::string(source->text());
  if (text.hasChanged()) prepared.change(importThatNothingNeeds, 1);
  Diagnostics diagnostics;
  return formatSource(prepared.source(), diagnostics);
}

}  // namespace boxcar::interp
