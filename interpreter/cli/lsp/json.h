#pragma once

#include <boxcar/interpreter/cli/lsp/document.h>
#include <boxcar/interpreter/syntax/source.h>

#include <nlohmann/json.hpp>
#include <string>

namespace boxcar::cli {

// [json] with U+FFFD, which is one UTF-16 unit as well, for each escape of a surrogate that is no half of a pair:
// editors cut pairs in two, and what they write is no JSON then.
std::string withoutLoneSurrogates(std::string json);

LspPosition readPosition(const nlohmann::json& position);
nlohmann::json toJson(LspPosition position);
// A range of [text].
nlohmann::json toJson(const LspText& text, Span span);
// A place in a source; that of the source called [own_name] is in the document [own_uri].
nlohmann::json toJson(const Location& place, const std::string& own_name, const std::string& own_uri);

}  // namespace boxcar::cli
