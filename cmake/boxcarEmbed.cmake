# boxcar_embed(FILE SYMBOL SOURCE_VARIABLE) embeds the bytes of FILE in the program as the std::string_view
# boxcar::detail::SYMBOL. Sources that use it declare it: `extern const std::string_view kPage;`. Sets SOURCE_VARIABLE
# to the source that defines it. Add that source to a target of the same folder; it is regenerated when FILE changes.
set(BOXCAR_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_file.cmake)
function(boxcar_embed file symbol source_variable)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  add_custom_command(OUTPUT ${source}
                     COMMAND ${CMAKE_COMMAND} -D FILE=${file} -D SYMBOL=${symbol} -D SOURCE=${source} -P ${BOXCAR_EMBED_SCRIPT}
                     DEPENDS ${file} ${BOXCAR_EMBED_SCRIPT}
                     VERBATIM)
  # Every such source has the array kBytes, and none needs precompiled headers, which take longer to compile than it.
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  set(${source_variable} ${source} PARENT_SCOPE)
endfunction()
