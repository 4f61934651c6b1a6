#pragma once

#include <boxcar/interpreter/service/analysis.h>
#include <boxcar/interpreter/service/completion.h>
#include <boxcar/interpreter/service/cursor.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::service {

// Finds the completions at one place of a text.
class Completer {
 public:
  Completer(std::string_view text, uint32_t offset, std::span<const KnownVariable> known, const std::string& name,
            const Workspace& workspace);

  CompletionList run();

 private:
  using Kind = syntax::TokenKind;

  // Returns the analysis of the text; made at the first call.
  Analysis& analysis();
  // Adds a proposal if it begins with the written word; of several with the same text, the first counts.
  void add(std::string_view text, CompletionKind kind, std::string detail = {}, std::string documentation = {});
  bool begins(std::string_view text) const { return text.starts_with(cursor_.wordText()); }

  // ---- completion.cpp: by what stands before ----
  void addByContext();
  bool addInDeclaration();
  void addNames();
  void addKeywords();
  void addInsideCall(const Cursor::OpenCall& call);
  void addWanted(const Cursor::OpenCall& call);
  void addScopes();

  // ---- completion_names.cpp ----
  void addVariables();
  void addFunctions();
  void addBuiltins();
  void addOperatorsInUse();
  void addNamespaces(bool with_colons);
  void addQualified(std::string_view space);
  void addOverloads(const std::string& name);
  void addOperator(std::string_view label, const interp::OverloadSet& set, const FunctionSchema& shown,
                   CompletionKind kind);
  void addTypes();
  void addStructs();
  void addDtypes();
  void addDispatchKeys(bool functionalities);
  std::string documentationOf(const interp::ScriptFunction& function);

  // ---- completion_members.cpp ----
  void addMembers(size_t dot);
  std::optional<interp::Findings::Value> receiverBefore(size_t dot);
  std::optional<interp::Findings::Value> valueIn(std::string text, Span span);
  void addMembersOf(const interp::Findings::Value& value);

  // ---- completion_strings.cpp ----
  void addInString();
  void addFiles(std::span<const std::string_view> endings);
  void addKeys();
  std::vector<const Argument*> argumentsAt(const Cursor::OpenCall& call);
  static bool isOf(TypeKind kind, const std::vector<const Argument*>& arguments);
  static bool mayBeDevice(const Cursor::OpenCall& call, const std::vector<const Argument*>& arguments);
  void addDevices();

  const std::span<const KnownVariable> known_;
  const std::string name_;
  const Workspace& workspace_;
  const SourcePtr source_;
  const Cursor cursor_;
  std::optional<Analysis> analysis_;
  CompletionList list_;
  std::optional<CompletionKind> wanted_;  // the kind listed first
  std::set<std::string, std::less<>> seen_;
};

}  // namespace boxcar::service
