# boxcar_add_plugin(NAME SOURCE...) adds a library libNAME.so that `boxcar --plugin` loads. One of the sources must
# contain the line BOXCAR_PLUGIN("name", "version").
function(boxcar_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # A process has only one boxcar. If programs link it statically, plugins use the program's.
  get_property(type TARGET boxcar::boxcar PROPERTY TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_link_libraries(${name} PRIVATE boxcar::boxcar)
  else()
    target_link_libraries(${name} PRIVATE boxcar::headers)
  endif()
  # The plugin's code stays in memory when it is unloaded, because a thread may still be running it.
  target_link_options(${name} PRIVATE LINKER:-z,nodelete)
endfunction()
