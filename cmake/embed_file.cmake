# Writes SOURCE, which defines SYMBOL with the bytes of FILE; see boxcarEmbed.cmake. The bytes are written as numbers
# because compilers limit the length of string literals.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
cmake_path(GET FILE FILENAME name)
file(WRITE ${SOURCE} "// The bytes of ${name}.
#include <string_view>

namespace boxcar::detail {

static constexpr char kBytes[] = {
${bytes}
};

// Constant: it costs the start of programs nothing.
extern const std::string_view ${SYMBOL};
constinit const std::string_view ${SYMBOL}(kBytes, sizeof(kBytes));

}  // namespace boxcar::detail
")
