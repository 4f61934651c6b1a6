#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/import/script_words.h>
#include <boxcar/interpreter/import/torchscript/object_text.h>
#include <boxcar/interpreter/import/torchscript/program_text.h>
#include <boxcar/interpreter/import/torchscript/translation.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace boxcar::interp::torchscript {
namespace {

// Something that is declared at top level, with placeholders for names: a struct, a function, an Enum.
struct Declared {
  std::string placeholder;
  std::string wanted;  // the name it should have
  std::string text;    // from behind its name
  std::string keyword;
};

class ProgramWriter final {
 public:
  ProgramWriter(CompilationUnit& unit, const IValue& module, std::vector<IValue> constants,
                const ProgramTextOptions& options)
      : unit_(unit), module_(module), options_(options), translation_(unit) {
    translation_.constants = std::move(constants);
  }

  ProgramText write() {
    const std::string root_name = classNameOf(module_);
    BOXCAR_CHECK(!root_name.empty(), "the archive holds no module, but a value of another kind");
    root_ = unit_.findClass(root_name);
    BOXCAR_CHECK(root_ != nullptr, "the archive has no code for {}", root_name);
    for (const std::string& name : classNamesIn(module_)) {
      if (const ClassInfo* const info = unit_.findClass(name); info != nullptr) translation_.held.push_back(info);
    }
    // What is read and written, and what the code makes, is known after a pass; the next one uses it.
    size_t known = 0;
    do {
      known = translation_.factCount();
      translateAll();
    } while (translation_.factCount() != known);
    ObjectText objects(translation_, module_);
    const std::string model = objects.expression(module_, root_->type, "");
    const std::vector<Declared> declared = declarations();
    chooseNames(declared);

    std::string text = head();
    std::set<std::string> written;
    for (const Declared& each : declared) {
      const std::string name = named(each.placeholder);
      if (!written.insert(name).second) continue;
      text += fmt::format("{} {}{}\n\n", each.keyword, name, named(each.text));
    }
    text += enumConstants();
    for (const auto& [type, name] : objects.empties()) {
      text += named(fmt::format("fn {}() -> {} {{ return {} }}\n\n", name, type, type.ends_with("[]") ? "[]" : "{}"));
    }
    for (const std::string& shared : objects.shared()) text += named(shared) + "\n";
    text += fmt::format("const model = {}\n\n", named(model));
    text += named(entries());
    return {std::move(text), {translation_.missing().begin(), translation_.missing().end()}};
  }

 private:
  void translateAll() {
    translation_.restart();
    functions_.clear();
    translation_.noteClass(*root_);
    const Function* const forward = root_->findMethod("forward");
    for (const Function& method : root_->definition->methods) {
      if (&method == forward || !method.name.starts_with('_')) translation_.reach(*root_, method);
    }
    while (!translation_.waiting.empty()) {
      const Callable next = translation_.waiting.front();
      translation_.waiting.pop_front();
      functions_.push_back(translateFunction(translation_, next));
    }
  }

  std::string structText(const ClassInfo& info) {
    std::string text = " {\n";
    for (const Field& field : info.definition->fields) {
      if (field.default_value != nullptr || !translation_.isUsed(info, field.name)) continue;
      const TypePtr type = unit_.typeOfField(info, field.name);
      const ClassInfo* const held = unit_.classOf(type);
      // An object that code makes has no objects yet.
      const bool is_unset = translation_.isMade(info) && held != nullptr && held->kind == ClassInfo::Kind::Object;
      text +=
          fmt::format("{} {}\n", is_unset ? "Any?" : translation_.typeText(type), Translation::fieldName(field.name));
    }
    for (const TranslatedFunction& function : functions_) {
      if (function.callable.its_class != &info) continue;
      text += fmt::format("\nfn {}{} {{\n{}\n}}\n", Translation::methodName(info, function.callable.definition->name),
                          function.signature, fmt::join(function.lines, "\n"));
    }
    return text + "}";
  }

  std::vector<Declared> declarations() {
    std::vector<Declared> found;
    // Types of fields name further classes.
    std::set<size_t> done;
    while (true) {
      const std::set<size_t> known = translation_.classes();
      bool is_new = false;
      for (const size_t number : known) {
        if (!done.insert(number).second) continue;
        is_new = true;
        const ClassInfo& info = unit_.classNumber(number);
        const std::string wanted = info.definition->name;
        if (info.kind == ClassInfo::Kind::Object) {
          found.push_back({Translation::placeholder(info), wanted, structText(info), "struct"});
        } else if (info.kind == ClassInfo::Kind::Enum) {
          const std::string value = enumValueType(info);
          found.push_back(
              {Translation::placeholder(info), wanted, fmt::format(" {{\nstr name\n{} value\n}}", value), "struct"});
        }
      }
      if (!is_new) break;
    }
    for (const TranslatedFunction& function : functions_) {
      if (function.callable.its_class != nullptr) continue;
      const FunctionInfo& info = *function.callable.function;
      std::string wanted = function.callable.definition->name;
      while (wanted.starts_with('_')) wanted.erase(0, 1);
      found.push_back({Translation::placeholder(info), std::move(wanted),
                       fmt::format("{} {{\n{}\n}}", function.signature, fmt::join(function.lines, "\n")), "fn"});
    }
    return found;
  }

  static std::string enumValueType(const ClassInfo& info) {
    for (const Field& field : info.definition->fields) {
      if (field.default_value == nullptr) continue;
      switch (field.default_value->kind) {
        case Expr::Kind::Int: return "int";
        case Expr::Kind::Float: return "float";
        default: return "str";
      }
    }
    return "int";
  }

  std::string enumConstants() {
    std::string text;
    for (const size_t number : translation_.classes()) {
      const ClassInfo& info = unit_.classNumber(number);
      if (info.kind != ClassInfo::Kind::Enum) continue;
      for (const Field& field : info.definition->fields) {
        if (field.default_value == nullptr) continue;
        const Expr& value = *field.default_value;
        const std::string shown = value.kind == Expr::Kind::Int     ? std::to_string(value.integer)
                                  : value.kind == Expr::Kind::Float ? fmt::format("{}", value.number)
                                                                    : scriptString(value.text);
        text += named(fmt::format("const {} = {}({}, {})\n", Translation::memberName(info, field.name),
                                  Translation::placeholder(info), scriptString(field.name), shown));
      }
    }
    return text.empty() ? text : text + "\n";
  }

  // Equal declarations are one. Whether two are equal depends on whether those that they name are, so that equality
  // grows from classes that name no others.
  void chooseNames(const std::vector<Declared>& declared) {
    for (const Declared& each : declared) same_[each.placeholder] = each.placeholder;
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      std::map<std::string, std::string> by_text;
      for (const Declared& each : declared) {
        const std::string text =
            fmt::format("{} {} {}", each.keyword, each.wanted, replaced(each.text, same_, each.placeholder));
        const std::string& first = by_text.emplace(text, each.placeholder).first->second;
        if (same_[each.placeholder] != first) {
          same_[each.placeholder] = first;
          has_changed = true;
        }
      }
    }
    std::set<std::string> taken = {"model", "weights", "ts", "parameters"};
    for (const Function& method : root_->definition->methods) taken.insert(method.name);
    for (const Declared& each : declared) {
      if (same_[each.placeholder] != each.placeholder) continue;
      std::string name = each.wanted;
      // A function that is called like an operator would be called in its place.
      const bool is_operator =
          !Dispatcher::singleton().findOverloads("aten::" + name).empty() || findBuiltin(name).has_value();
      if (is_operator) name += "_function";
      if (isReservedWord(name) || name.empty() || name == "name") name += "_";
      std::string unique = name;
      for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
      name_[each.placeholder] = unique;
    }
  }

  // Replaces placeholders; one's own stands for itself in all that are equal.
  static std::string replaced(std::string_view text, const std::map<std::string, std::string>& names,
                              std::string_view own = {}) {
    std::string out;
    while (true) {
      const size_t begin = text.find('\x01');
      const size_t end = begin == std::string_view::npos ? begin : text.find('\x02', begin);
      if (end == std::string_view::npos) return out + std::string(text);
      const std::string placeholder(text.substr(begin, end + 1 - begin));
      out += text.substr(0, begin);
      const auto found = names.find(placeholder);
      out += !own.empty() && placeholder == own ? "self" : found != names.end() ? found->second : placeholder;
      text.remove_prefix(end + 1);
    }
  }
  std::string named(std::string_view text) const { return replaced(replaced(text, same_), name_); }

  std::string head() const {
    std::string text = fmt::format("# {}, written by torch.jit.save of PyTorch.\n", options_.title);
    for (const std::string& what : translation_.perhapsMissing()) {
      text += fmt::format("# Without {}\n", what);
    }
    if (translation_.needs_library) text += "import \"torchscript.ops\" as ts\n";
    text += fmt::format("\nconst weights = io::load({})\n", scriptString(options_.weights));
    text +=
        "\n# The weights by their names, to be trained or saved.\nfn parameters() -> Dict(str, Tensor) { return "
        "weights }\n\n";
    return text;
  }

  // A function for each method of the model.
  std::string entries() {
    std::string text;
    for (const TranslatedFunction& function : functions_) {
      const Function& method = *function.callable.definition;
      if (function.callable.its_class != root_ || method.name.starts_with('_')) continue;
      std::string signature = function.signature;
      const std::string with_self = method.parameters.size() > 1 ? "(self, " : "(self";
      signature.replace(0, with_self.size(), "(");
      std::vector<std::string> names;
      // The names are those that the signature has.
      for (size_t i = 1; i < method.parameters.size(); ++i) names.push_back(function.parameters[i]);
      const bool has_result = !signature.ends_with("-> ()");
      text += fmt::format("fn {}{} {{ {}model.{}({}) }}\n\n", method.name, signature, has_result ? "return " : "",
                          method.name, fmt::join(names, ", "));
    }
    return text;
  }

  CompilationUnit& unit_;
  const IValue& module_;
  const ProgramTextOptions& options_;
  Translation translation_;
  const ClassInfo* root_ = nullptr;
  std::vector<TranslatedFunction> functions_;
  std::map<std::string, std::string> same_;
  std::map<std::string, std::string> name_;
};

}  // namespace

ProgramText programText(CompilationUnit& unit, const IValue& module, std::vector<IValue> constants,
                        const ProgramTextOptions& options) {
  return ProgramWriter(unit, module, std::move(constants), options).write();
}

}  // namespace boxcar::interp::torchscript
