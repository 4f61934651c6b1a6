// Text -> schema, type or name -> printed -> read again: equal. Errors have a place inside the text.

#include <boxcar/schema/parse_schema.h>

#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace boxcar {
namespace {

using fuzz::require;

// Reads the text with [parse], then reads what [print] made of it. From then on nothing must change.
template <class Parse, class Print>
void readTwice(std::string_view text, Parse parse, Print print) {
  try {
    const auto first = parse(text);
    const std::string printed = print(first);
    try {
      const auto again = parse(printed);
      require(again == first, "what was printed reads as something else");
      require(print(again) == printed, "what was printed prints as something else");
    } catch (const SchemaError& error) {
      require(false, error.what());
    }
  } catch (const SchemaError& error) {
    require(error.offset() <= text.size() && error.length() <= text.size() - error.offset(),
            "an error's place is not in the text");
    require(!error.reason().empty(), "an error says nothing");
    const bool tells_own_names = error.reason().find("boxcar::") != std::string::npos;
    require(!tells_own_names || text.find("boxcar") != std::string_view::npos, "an error tells the parser's own names");
  }
}

// If a prefix of the text parses as a schema or type, it must also parse alone.
void readPrefixes(std::string_view text) {
  try {
    const SchemaPrefix prefix = parseSchemaPrefix(text);
    require(prefix.length <= text.size(), "a schema ends behind the text");
    require(parseSchema(text.substr(0, prefix.length)) == prefix.schema, "a schema's own text reads as another");
  } catch (const SchemaError&) {
  }
  try {
    const TypePrefix prefix = parseTypePrefix(text);
    require(prefix.length <= text.size(), "a type ends behind the text");
    require(parseType(text.substr(0, prefix.length)) == prefix.type, "a type's own text reads as another");
  } catch (const SchemaError&) {
  }
}

}  // namespace
}  // namespace boxcar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  const std::string_view text = fuzz::textOf(data, size);
  readTwice(text, &parseSchema, [](const FunctionSchema& schema) { return toString(schema); });
  readTwice(
      text, [](std::string_view type) { return parseType(type); },
      [](TypePtr type) { return std::string(toString(*type)); });
  readTwice(text, &parseName, [](const OperatorName& name) { return toString(name); });
  readPrefixes(text);
  return 0;
}
