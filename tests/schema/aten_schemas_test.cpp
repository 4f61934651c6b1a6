#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "tests/schema/schema_test_util.h"

namespace boxcar {

const std::vector<std::string>& atenSchemas() {
  static const std::vector<std::string> schemas = [] {
    std::ifstream file(BOXCAR_TEST_DATA "/aten_schemas.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line.front() != '#') lines.push_back(line);
    }
    return lines;
  }();
  return schemas;
}

namespace {

TEST(AtenSchemas, AllAreRead) { EXPECT_EQ(atenSchemas().size(), 2633u); }

TEST(AtenSchemas, EachParsesAndPrintsBackToItself) {
  for (const std::string& text : atenSchemas()) EXPECT_EQ(reprinted(text), text);
}

TEST(AtenSchemas, EachEqualsItselfAndHasTheSameHash) {
  std::set<std::size_t> hashes;
  for (const std::string& text : atenSchemas()) {
    const FunctionSchema schema = parseSchema(text);
    EXPECT_EQ(schema, parseSchema(text)) << text;
    EXPECT_EQ(hashOf(schema), hashOf(parseSchema(text))) << text;
    hashes.insert(hashOf(schema));
  }
  EXPECT_EQ(hashes.size(), atenSchemas().size());
}

TEST(AtenSchemas, SpacesCommentsAndNewlinesInParenthesesChangeNothing) {
  for (const std::string& text : atenSchemas()) {
    std::string spread;
    bool is_quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      is_quoted ^= (text[i] == '"' || text[i] == '\'') && text[i - 1] != '\\';
      spread += text[i];
      if (text[i] == ',' && !is_quoted && text.find('=', i) == std::string::npos) spread += "\n  # next\n\t";
    }
    EXPECT_EQ(parseSchema(spread), parseSchema(text)) << text;
  }
}

}  // namespace
}  // namespace boxcar
