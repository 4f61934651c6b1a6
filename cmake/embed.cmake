# boxcar_embed(FILE SYMBOL SOURCE_VARIABLE) puts the text of FILE into the program as the std::string_view
# boxcar::detail::SYMBOL, which whoever reads it declares: `extern const std::string_view kPage;`. SOURCE_VARIABLE is set
# to the source that has it, to be added to a target of the same folder; it is made anew when FILE changes.
# Run as a script, this file makes that source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${FILE} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  cmake_path(GET FILE FILENAME name)
  file(WRITE ${SOURCE} "// The bytes of ${name}. They are no string literal, whose length compilers limit.
#include <string_view>

namespace boxcar::detail {

static constexpr unsigned char kBytes[] = {${bytes}};

extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}(reinterpret_cast<const char*>(kBytes), sizeof(kBytes));

}  // namespace boxcar::detail
")
  return()
endif()

set(BOXCAR_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(boxcar_embed file symbol source_variable)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  add_custom_command(OUTPUT ${source} DEPENDS ${file} ${BOXCAR_EMBED_SCRIPT} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DSYMBOL=${symbol} -DSOURCE=${source} -P ${BOXCAR_EMBED_SCRIPT})
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set(${source_variable} ${source} PARENT_SCOPE)
endfunction()
