#include <boxcar/interpreter/cli/lsp/json.h>

#include <charconv>
#include <cstdint>
#include <string_view>

namespace boxcar::cli {
namespace {

constexpr size_t kEscapeBytes = 6;  // \uD83D

// Returns the UTF-16 unit of the escape at the start of [text]; 0 if there is none.
uint32_t escapedUnit(std::string_view text) {
  uint32_t unit = 0;
  if (text.size() < kEscapeBytes || !text.starts_with("\\u")) return 0;
  const char* const end = text.data() + kEscapeBytes;
  return std::from_chars(text.data() + 2, end, unit, 16).ptr == end ? unit : 0;
}

bool isHighSurrogate(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool isLowSurrogate(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

using Json = nlohmann::json;

std::string withoutLoneSurrogates(std::string json) {
  size_t at = json.find('\\');
  while (at != std::string::npos) {
    const std::string_view rest = std::string_view(json).substr(at);
    const uint32_t unit = escapedUnit(rest);
    size_t length = unit == 0 ? 2 : kEscapeBytes;
    if (isHighSurrogate(unit) && isLowSurrogate(escapedUnit(rest.substr(kEscapeBytes)))) {
      length = 2 * kEscapeBytes;
    } else if (isHighSurrogate(unit) || isLowSurrogate(unit)) {
      json.replace(at, kEscapeBytes, "\\ufffd");
    }
    at = json.find('\\', at + length);
  }
  return json;
}

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
