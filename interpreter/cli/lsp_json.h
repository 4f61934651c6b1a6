#pragma once

#include <boxcar/interpreter/cli/lsp_document.h>
#include <boxcar/interpreter/source.h>

#include <nlohmann/json.hpp>
#include <string>

namespace boxcar::cli {

LspPosition readPosition(const nlohmann::json& position);
nlohmann::json toJson(LspPosition position);
// A range of [text].
nlohmann::json toJson(const LspText& text, Span span);
// A place in a source; that of the source called [own_name] is in the document [own_uri].
nlohmann::json toJson(const Location& place, const std::string& own_name, const std::string& own_uri);

}  // namespace boxcar::cli
