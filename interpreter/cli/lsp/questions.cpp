// Answers an editor's questions about a place in a document.

#include <boxcar/interpreter/cli/lsp/json.h>
#include <boxcar/interpreter/cli/lsp/server.h>
#include <boxcar/interpreter/service/completion.h>
#include <boxcar/interpreter/service/definition.h>
#include <boxcar/interpreter/service/hover.h>
#include <boxcar/interpreter/service/outline.h>
#include <boxcar/interpreter/service/signature.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::cli {
namespace {

using Json = nlohmann::json;

// The protocol's CompletionItemKind.
int kindNumber(service::CompletionKind kind) {
  using Kind = service::CompletionKind;
  switch (kind) {
    case Kind::Operator:
    case Kind::Function:
    case Kind::Builtin:
    case Kind::Overload: return 3;  // Function
    case Kind::Method: return 2;
    case Kind::Attribute: return 5;  // Field
    case Kind::Variable: return 6;
    case Kind::Namespace: return 9;  // Module
    case Kind::Argument: return 10;  // Property
    case Kind::Device: return 12;    // Value
    case Kind::Keyword: return 14;
    case Kind::File: return 17;
    case Kind::Key: return 5;  // Field
    case Kind::Dtype:
    case Kind::DispatchKey: return 20;  // EnumMember
    case Kind::Constant: return 21;
    case Kind::Mode:
    case Kind::Scope: return 23;  // Event
    case Kind::Type: return 25;   // TypeParameter
  }
  return 1;
}

// The protocol's SymbolKind.
int kindNumber(service::SymbolKind kind) {
  using Kind = service::SymbolKind;
  switch (kind) {
    case Kind::Function: return 12;
    case Kind::Operator: return 25;
    case Kind::Kernel:
    case Kind::Method:
    case Kind::Fallback: return 6;  // Method
    case Kind::Struct: return 23;
    case Kind::Field: return 8;
    case Kind::Mode: return 24;  // Event
    case Kind::Constant: return 14;
    case Kind::Variable: return 13;
  }
  return 13;
}

}  // namespace

Json LspServer::hover(const Json& params) {
  const Document& document = documentOf(params);
  const uint32_t offset = document.text.offsetAt(readPosition(params.at("position")));
  const auto found = service::hover(document.text.text(), offset, document.path, workspace_);
  if (!found) return nullptr;
  std::string text;
  if (!found->code.empty()) text = takes_markdown_ ? fmt::format("```ops\n{}\n```", found->code) : found->code;
  if (!found->text.empty()) text += (text.empty() ? "" : "\n\n") + found->text;
  return {{"contents", {{"kind", takes_markdown_ ? "markdown" : "plaintext"}, {"value", std::move(text)}}},
          {"range", toJson(document.text, found->span)}};
}

Json LspServer::completion(const Json& params) {
  const Document& document = documentOf(params);
  const uint32_t offset = document.text.offsetAt(readPosition(params.at("position")));
  const auto found = service::complete(document.text.text(), offset, {}, document.path, workspace_);
  const Json range = toJson(document.text, found.replaced);
  Json items = Json::array();
  for (const service::Completion& completion : found.items) {
    Json item = {{"label", completion.text},
                 {"kind", kindNumber(completion.kind)},
                 {"sortText", fmt::format("{:05}", items.size())},
                 {"textEdit", {{"range", range}, {"newText", completion.text}}}};
    if (!completion.detail.empty()) item["detail"] = completion.detail;
    if (!completion.documentation.empty()) item["documentation"] = completion.documentation;
    items.push_back(std::move(item));
  }
  return {{"isIncomplete", false}, {"items", std::move(items)}};
}

Json LspServer::definition(const Json& params) {
  const Document& document = documentOf(params);
  const uint32_t offset = document.text.offsetAt(readPosition(params.at("position")));
  Json places = Json::array();
  for (const Location& place : service::definitions(document.text.text(), offset, document.path, workspace_)) {
    places.push_back(toJson(place, document.path, document.uri));
  }
  return places;
}

Json LspServer::symbols(const Json& params) {
  const Document& document = documentOf(params);
  Json symbols = Json::array();
  for (const service::Symbol& symbol : service::outline(document.text.text(), document.path)) {
    const Json range = toJson(document.text, symbol.span);
    Json entry = {{"name", symbol.name}, {"kind", kindNumber(symbol.kind)}};
    if (takes_hierarchy_) {
      entry["range"] = range;
      entry["selectionRange"] = toJson(document.text, symbol.name_span);
      if (!symbol.detail.empty()) entry["detail"] = symbol.detail;
    } else {
      entry["location"] = {{"uri", document.uri}, {"range", range}};
    }
    symbols.push_back(std::move(entry));
  }
  return symbols;
}

Json LspServer::signatureHelp(const Json& params) {
  const Document& document = documentOf(params);
  const uint32_t offset = document.text.offsetAt(readPosition(params.at("position")));
  const auto found = service::signatures(document.text.text(), offset, document.path, workspace_);
  if (found.all.empty()) return nullptr;
  Json signatures = Json::array();
  for (const auto& one : found.all) {
    Json parameters = Json::array();
    for (const auto& [begin, end] : one.parameters) {
      parameters.push_back({{"label", one.text.substr(begin, end - begin)}});
    }
    signatures.push_back({{"label", one.text}, {"parameters", std::move(parameters)}});
  }
  return {{"signatures", std::move(signatures)}, {"activeSignature", found.best}, {"activeParameter", found.parameter}};
}

// Returns one edit from the first line that changes to the last, so that the cursor stays where it is.
Json LspServer::formatting(const Json& params) {
  const Document& document = documentOf(params);
  const std::string& before = document.text.text();
  Diagnostics unused;  // they are published already; a script with syntax errors stays as it is
  const std::string after = formatSource(Source::create(document.path, before), unused);
  if (after == before) return Json::array();
  const size_t shorter = std::min(before.size(), after.size());
  size_t begin = 0;
  while (begin < shorter && before[begin] == after[begin]) ++begin;
  while (begin > 0 && before[begin - 1] != '\n') --begin;
  size_t same = 0;
  while (same < shorter - begin && before[before.size() - 1 - same] == after[after.size() - 1 - same]) ++same;
  while (same > 0 && before[before.size() - same - 1] != '\n') --same;
  const Span changed{static_cast<uint32_t>(begin), static_cast<uint32_t>(before.size() - same)};
  return Json::array(
      {{{"range", toJson(document.text, changed)}, {"newText", after.substr(begin, after.size() - same - begin)}}});
}

}  // namespace boxcar::cli
