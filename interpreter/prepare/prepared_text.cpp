#include <boxcar/interpreter/prepare/absorption.h>
#include <boxcar/interpreter/prepare/channels_last.h>
#include <boxcar/interpreter/prepare/constant_folding.h>
#include <boxcar/interpreter/prepare/pointwise_groups.h>
#include <boxcar/interpreter/prepare/prepared_text.h>
#include <boxcar/interpreter/prepare/rewriter.h>
#include <boxcar/interpreter/prepare/typed_script.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/ivalue/error.h>
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
// Programs of the library's rules take three passes or so.
constexpr int kMostPasses = 50;

const Rules& libraryRules(ModuleLoader* loader) {
  static const auto& rules = *new Rules(
      Source::create(std::string(kLibraryFolder) + "rewrites.ops", std::string(detail::kRewritesScript)), loader);
  return rules;
}

// A script that is changed step by step.
class ChangedScript final {
 public:
  ChangedScript(const SourcePtr& source, ModuleLoader* loader) : loader_(loader), script_(infer(source)) {}

  // Makes the changes that [step] returns, until it returns none or [most] times. Returns whether there were any.
  template <class Step>
  bool change(const Step& step, int most) {
    bool has_changed = false;
    for (int pass = 0; pass < most && script_ != nullptr; ++pass) {
      std::vector<Edit> edits = step(*script_);
      if (edits.empty()) break;
      const SourcePtr& source = script_->source();
      auto next = infer(Source::create(source->name(), edited(source->text(), std::move(edits))));
      if (next == nullptr) break;  // such as a script that has functions of these names
      script_ = std::move(next);
      has_changed = true;
    }
    return has_changed;
  }

  // Null if the script had errors.
  const TypedScript* script() const noexcept { return script_.get(); }

 private:
  std::unique_ptr<TypedScript> infer(const SourcePtr& source) const {
    Diagnostics diagnostics;
    return TypedScript::infer(source, diagnostics, loader_);
  }

  ModuleLoader* loader_;
  std::unique_ptr<TypedScript> script_;
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

std::string preparedText(const SourcePtr& source, ModuleLoader* loader, const std::vector<const Rules*>& rules,
                         ScriptRole role) {
  std::vector<const Rules*> all = rules;
  all.push_back(&libraryRules(loader));
  ChangedScript changed(source, loader);
  const bool imports = changed.change(importOfFusedLayers, 1);
  if (changed.script() == nullptr || !changed.script()->imports(kFusedLayers)) return std::string(source->text());
  int passes = 0;
  const auto applyRules = [&](const TypedScript& script) {
    BOXCAR_CHECK(
        passes++ < kMostPasses,
        "{}: the rules find something in their own results, again and again; the last of these programs begins "
        "with\n{}",
        source->name(), script.source()->text().substr(0, 500));
    return rewrite(script, all);
  };
  bool is_better = changed.change(foldConstants, kMostPasses);
  is_better |= changed.change(applyRules, kMostPasses + 1);
  is_better |= changed.change(absorb, kMostPasses);
  is_better |= changed.change(groupPointwise, 1);
  if (role == ScriptRole::Program) {
    is_better |= changed.change([loader](const TypedScript& script) { return keepChannelsLast(script, loader); }, 1);
  }
  if (!is_better) return std::string(source->text());
  if (imports) changed.change(importThatNothingNeeds, 1);
  Diagnostics diagnostics;
  return formatSource(changed.script()->source(), diagnostics);
}

}  // namespace boxcar::interp
