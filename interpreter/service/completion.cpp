#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/service/calls.h>
#include <boxcar/interpreter/service/completer.h>
#include <boxcar/interpreter/service/names.h>
#include <boxcar/interpreter/service/text.h>

#include <algorithm>
#include <array>

namespace boxcar::service {

std::string_view toString(CompletionKind kind) {
  static constexpr std::array<std::string_view, 19> kNames = {
      "operator", "namespace", "overload",     "function", "builtin",  "method",  "attribute",
      "variable", "constant",  "mode",         "scope",    "argument", "keyword", "type",
      "dtype",    "device",    "dispatch key", "file",     "key"};
  return kNames[static_cast<size_t>(kind)];
}

CompletionList complete(std::string_view text, uint32_t offset, std::span<const KnownVariable> known,
                        const std::string& name, const Workspace& workspace) {
  return Completer(text, offset, known, name, workspace).run();
}

Completer::Completer(std::string_view text, uint32_t offset, std::span<const KnownVariable> known,
                     const std::string& name, const Workspace& workspace)
    : known_(known),
      name_(name),
      workspace_(workspace),
      source_(Source::create(name, std::string(text))),
      cursor_(source_, offset) {}

CompletionList Completer::run() {
  list_.replaced = cursor_.word();
  if (cursor_.string()) {
    addInString();
  } else if (!cursor_.isInText()) {
    addByContext();
  }
  std::ranges::stable_sort(list_.items, [this](const Completion& a, const Completion& b) {
    // Names from the script come first, and argument names before them.
    const auto rank = [this](CompletionKind kind) {
      if (kind == wanted_) return -1;
      if (kind == CompletionKind::Argument || kind == CompletionKind::Attribute) return 0;
      if (kind == CompletionKind::Variable || kind == CompletionKind::Constant) return 1;
      if (kind == CompletionKind::Function || kind == CompletionKind::Mode) return 2;
      return 3;
    };
    return std::pair(rank(a.kind), std::string_view(a.text)) < std::pair(rank(b.kind), std::string_view(b.text));
  });
  return std::move(list_);
}

Analysis& Completer::analysis() {
  if (!analysis_) analysis_.emplace(std::string(source_->text()), name_, workspace_, known_);
  return *analysis_;
}

void Completer::add(std::string_view text, CompletionKind kind, std::string detail, std::string documentation) {
  if (!begins(text) || !seen_.emplace(text).second) return;
  list_.items.push_back({std::string(text), kind, std::move(detail), std::move(documentation)});
}

void Completer::addByContext() {
  const std::string_view text = source_->text();
  const Span word = cursor_.word();
  const size_t before = cursor_.before();
  if (text.substr(0, word.begin).ends_with("::")) {
    const Span space = wordAt(text, word.begin - 2);
    addQualified(source_->text({space.begin, word.begin - 2}));
    return;
  }
  const Kind last = cursor_.kindBefore(before);
  if (last == Kind::Dot) {
    addMembers(before - 1);
    return;
  }
  if (addInDeclaration()) return;
  addNames();
}

// Adds what a declaration wants at the cursor; returns whether the cursor is at such a place.
bool Completer::addInDeclaration() {
  const auto& tokens = cursor_.tokens();
  const size_t begin = cursor_.statementBegin();
  const size_t before = cursor_.before();
  if (begin == before) return false;
  const Kind last = cursor_.kindBefore(before);
  const Kind first = tokens[begin].kind;
  const size_t length = before - begin;
  const bool is_op = first == Kind::Name && cursor_.text(begin) == "op" && cursor_.isAtTopLevel() && length >= 1 &&
                     (length == 1 || tokens[begin + 1].kind == Kind::Name);
  if (first == Kind::KwFn || is_op) {
    const bool after_name = std::ranges::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                                tokens.begin() + static_cast<std::ptrdiff_t>(before),
                                                [](const auto& token) { return token.kind == Kind::LeftParen; });
    if (is_op && !after_name) addNamespaces(true);
    if (after_name && (last == Kind::LeftParen || last == Kind::Comma || last == Kind::Arrow)) addTypes();
    if (after_name && last == Kind::Assign) addKeywords();
    return true;
  }
  switch (first) {
    case Kind::KwUse: addNamespaces(false); return true;
    case Kind::KwImport: return true;
    case Kind::KwConst:
      if (length == 1) return true;
      break;
    case Kind::KwMode:
    case Kind::KwFallback:
    case Kind::KwImpl:
      if (last == Kind::At) {
        addDispatchKeys(false);
      } else if (first == Kind::KwImpl && length == 1) {
        addOperatorsInUse();
        addNamespaces(true);
      }
      return true;
    case Kind::KwWith:
      if (cursor_.openBrackets().empty() && (last == Kind::KwWith || last == Kind::Comma)) {
        addScopes();
        return true;
      }
      break;
    case Kind::KwFor: {
      const bool has_in = std::ranges::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                              tokens.begin() + static_cast<std::ptrdiff_t>(before),
                                              [](const auto& token) { return token.kind == Kind::KwIn; });
      if (!has_in) {
        if (last == Kind::Name) add("in", CompletionKind::Keyword, {}, std::string(keywordHelp("in")));
        return true;
      }
      break;
    }
    case Kind::Name:
      // `name: TYPE`
      if (length == 2 && last == Kind::Colon) {
        addTypes();
        return true;
      }
      break;
    default: break;
  }
  return false;
}

void Completer::addNames() {
  if (const auto call = cursor_.openCall()) {
    if (call->name == "isinstance" && call->space.empty() && call->method.empty() && call->argument == 1) {
      addTypes();
      return;
    }
    if ((call->name == "include" || call->name == "exclude") &&
        cursor_.tokens()[cursor_.statementBegin()].kind == Kind::KwWith) {
      addDispatchKeys(true);
      return;
    }
    addInsideCall(*call);
    addWanted(*call);
  }
  // After a value, only a keyword that continues it can follow.
  const Kind last = cursor_.kindBefore(cursor_.before());
  const bool is_behind_value =
      cursor_.statementBegin() != cursor_.before() &&
      (last == Kind::Name || last == Kind::RightParen || last == Kind::RightBracket || last == Kind::Int ||
       last == Kind::Float || last == Kind::String || last == Kind::FStringEnd || last == Kind::KwNone ||
       last == Kind::KwTrue || last == Kind::KwFalse);
  if (!is_behind_value) {
    addVariables();
    addFunctions();
    addBuiltins();
    addDtypes();
    addOperatorsInUse();
    addNamespaces(true);
  }
  addKeywords();
}

void Completer::addKeywords() {
  using List = std::initializer_list<std::string_view>;
  const auto addAll = [this](List words) {
    for (const std::string_view word : words) {
      add(word, CompletionKind::Keyword, {}, std::string(keywordHelp(word)));
    }
  };
  const bool begins_statement = cursor_.statementBegin() == cursor_.before();
  if (begins_statement) {
    addAll({"if", "while", "for", "with", "assert", "raise", "return", "break", "continue", "impl", "fallback", "elif",
            "else"});
    if (cursor_.isAtTopLevel()) addAll({"use", "import", "mode", "fn", "op", "const", "struct", "exit"});
  }
  addAll({"not", "None", "True", "False", "inf", "nan"});
  if (!begins_statement) addAll({"and", "or", "is", "in", "if", "else", "for"});
}

void Completer::addInsideCall(const Cursor::OpenCall& call) {
  const Kind last = cursor_.kindBefore(cursor_.before());
  if (cursor_.openBrackets().back() != call.paren || (last != Kind::LeftParen && last != Kind::Comma)) return;
  for (const CallCandidate& candidate : candidatesOf(analysis(), cursor_, call)) {
    const auto& arguments = candidate.schema->arguments();
    for (size_t i = candidate.skipped; i < arguments.size(); ++i) {
      const bool is_taken = (i < candidate.skipped + call.argument - std::min(call.keywords.size(), call.argument)) ||
                            std::ranges::find(call.keywords, arguments[i].name()) != call.keywords.end();
      if (!is_taken) add(arguments[i].name() + "=", CompletionKind::Argument, toString(arguments[i]));
    }
  }
}

// After `dtype=` and `device=`, the values that the argument takes come first.
void Completer::addWanted(const Cursor::OpenCall& call) {
  const bool is_behind_name = cursor_.openBrackets().back() == call.paren && !call.keyword.empty() &&
                              cursor_.kindBefore(cursor_.before()) == Kind::Assign;
  if (!is_behind_name) return;
  const std::vector<const Argument*> arguments = argumentsAt(call);
  if (isOf(TypeKind::ScalarType, arguments)) {
    wanted_ = CompletionKind::Dtype;
    addDtypes();
  } else if (isOf(TypeKind::Device, arguments)) {
    wanted_ = CompletionKind::Device;
    addDevices();
  }
}

void Completer::addScopes() {
  for (const interp::ScriptMode& mode : analysis().declarations().modes()) {
    if (mode.visible_from <= cursor_.offset()) add(mode.name, CompletionKind::Mode, fmt::format("mode {}", mode.name));
  }
  for (const boxcar::HandlerKind* kind : handlerKinds()) {
    add(kind->name(), CompletionKind::Scope, std::string(kind->schema), std::string(kind->help));
  }
  for (const ScopeKind* kind : scopeKinds()) {
    add(kind->name(), CompletionKind::Scope, std::string(kind->schema), std::string(kind->help));
  }
  add("include", CompletionKind::Scope, "include(KEY, …)", "Switches dispatch keys on.");
  add("exclude", CompletionKind::Scope, "exclude(KEY, …)", "Switches dispatch keys off.");
  add("inference_mode", CompletionKind::Scope, "inference_mode()");
}

}  // namespace boxcar::service
