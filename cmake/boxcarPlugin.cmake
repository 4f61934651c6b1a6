# boxcar_add_plugin(NAME SOURCE...) adds a library libNAME.so that `boxcar --plugin` loads. One of the sources has the
# line BOXCAR_PLUGIN("name", "version").
function(boxcar_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # There is one boxcar in a process. Where programs have it inside, plugins find it there.
  get_property(type TARGET boxcar::boxcar PROPERTY TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_link_libraries(${name} PRIVATE boxcar::boxcar)
  else()
    target_link_libraries(${name} PRIVATE boxcar::headers)
  endif()
  # Its code stays in memory when it is unloaded, for somebody may be running it.
  target_link_options(${name} PRIVATE LINKER:-z,nodelete)
endfunction()
