# boxcar_embed_docstrings(SOURCE_VARIABLE) embeds what operators do, by name, as boxcar::detail::kOperatorDocstrings, and
# sets SOURCE_VARIABLE to the source of it, for a target of the same folder.
function(boxcar_embed_docstrings source_variable)
  file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/ops/*.schemas)
  set(docstrings ${CMAKE_CURRENT_BINARY_DIR}/operators.docstrings)
  set(docstrings_script ${PROJECT_SOURCE_DIR}/cmake/docstrings.cmake)
  add_custom_command(OUTPUT ${docstrings}
                     COMMAND ${CMAKE_COMMAND} -D "SCHEMAS=${schemas}" -D OUT=${docstrings} -P ${docstrings_script}
                     DEPENDS ${schemas} ${docstrings_script}
                     VERBATIM)
  boxcar_embed(${docstrings} kOperatorDocstrings source)
  set(${source_variable} ${source} PARENT_SCOPE)
endfunction()
