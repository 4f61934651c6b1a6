# boxcar_embed(FILE SYMBOL SOURCE_VARIABLE) puts the bytes of FILE into the program as the std::string_view
# boxcar::detail::SYMBOL, which whoever reads it declares: `extern const std::string_view kPage;`. SOURCE_VARIABLE is set
# to the source that has it, to be added to a target of the same folder; it is made anew when FILE changes.
set(BOXCAR_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_file.cmake)
function(boxcar_embed file symbol source_variable)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  add_custom_command(OUTPUT ${source}
                     COMMAND ${CMAKE_COMMAND} -D FILE=${file} -D SYMBOL=${symbol} -D SOURCE=${source} -P ${BOXCAR_EMBED_SCRIPT}
                     DEPENDS ${file} ${BOXCAR_EMBED_SCRIPT}
                     VERBATIM)
  set(${source_variable} ${source} PARENT_SCOPE)
endfunction()
