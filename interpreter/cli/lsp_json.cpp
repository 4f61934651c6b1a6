#include <boxcar/interpreter/cli/lsp_json.h>

namespace boxcar::cli {

using Json = nlohmann::json;

LspPosition readPosition(const Json& position) {
  return {position.at("line").get<uint32_t>(), position.at("character").get<uint32_t>()};
}

Json toJson(LspPosition position) { return {{"line", position.line}, {"character", position.character}}; }

Json toJson(const LspText& text, Span span) {
  return {{"start", toJson(text.positionAt(span.begin))}, {"end", toJson(text.positionAt(span.end))}};
}

Json toJson(const Location& place, const std::string& own_name, const std::string& own_uri) {
  const std::string& name = place.source->name();
  return {{"uri", name == own_name ? own_uri : uriOfPath(name)},
          {"range", toJson(LspText(std::string(place.source->text())), place.span)}};
}

}  // namespace boxcar::cli
