#pragma once

#include <boxcar/interpreter/cli/lsp/document.h>
#include <boxcar/interpreter/syntax/source.h>

#include <nlohmann/json.hpp>
#include <string>

namespace boxcar::cli {

// Returns [json] with each escape of an unpaired surrogate replaced by U+FFFD, which is one UTF-16 unit as well.
// Editors cut pairs in two, and what they write then is not JSON.
std::string withoutLoneSurrogates(std::string json);

LspPosition readPosition(const nlohmann::json& position);
nlohmann::json toJson(LspPosition position);
// Returns a range of [text].
nlohmann::json toJson(const LspText& text, Span span);
// Returns a place in a source; the source called [own_name] is the document [own_uri].
nlohmann::json toJson(const Location& place, const std::string& own_name, const std::string& own_uri);

}  // namespace boxcar::cli
