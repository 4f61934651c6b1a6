# What `cmake --install` installs, and where. `--component static` adds the static library to an installed shared one.
include(CMakePackageConfigHelpers)

# What is built to be installed, without the tests and benchmarks.
add_custom_target(boxcar_installed DEPENDS boxcar_ops)
set(installed_targets boxcar boxcar_cuda boxcar_cli)
if(BOXCAR_STATIC)
  list(APPEND installed_targets boxcar_archive)
endif()
set(installed_files ${PROJECT_BINARY_DIR}/generated/ops.h)
foreach(target ${installed_targets})
  if(TARGET ${target})
    add_dependencies(boxcar_installed ${target})
    list(APPEND installed_files $<TARGET_FILE:${target}>)
  endif()
endforeach()
# A build of the program alone lacks some of it. Then nothing is installed, rather than a part.
install(CODE "set(files \"${installed_files}\")
foreach(file IN LISTS files)
  if(NOT EXISTS \"\${file}\")
    message(FATAL_ERROR \"\${file} is not built, so nothing is installed: build first, with \"
                        \"cmake --build ${PROJECT_BINARY_DIR} --target boxcar_installed\")
  endif()
endforeach()")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/boxcar)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(room ivalue schema dispatcher interpreter)
  install(DIRECTORY ${room}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/boxcar/${room} FILES_MATCHING PATTERN *.h PATTERN cli EXCLUDE PATTERN editors EXCLUDE)
endforeach()
# Differentiation has C++ functions besides its operators.
set(autograd autograd.h anomaly_mode.h formula.h forward_mode.h function.h gradient_graph.h node.h own_derivative.h)
list(TRANSFORM autograd PREPEND backends/autograd/)
install(FILES ${autograd} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/boxcar/backends/autograd)
install(FILES backends/meta/dims.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/boxcar/backends/meta)
install(FILES interpreter/boxcar.h ${PROJECT_BINARY_DIR}/generated/ops.h ${BOXCAR_INCLUDE_DIR}/boxcar/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/boxcar)
install(TARGETS boxcar_headers EXPORT boxcarHeaders)
install(EXPORT boxcarHeaders NAMESPACE boxcar:: DESTINATION ${package_dir})

configure_package_config_file(cmake/boxcarConfig.cmake.in ${PROJECT_BINARY_DIR}/package/boxcarConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/boxcarConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/boxcarConfig.cmake ${PROJECT_BINARY_DIR}/package/boxcarConfigVersion.cmake
              cmake/boxcarPlugin.cmake
        DESTINATION ${package_dir})

# Writes the pkg-config file [name].pc for programs that link with [libs]. Its folders are relative to its own location.
file(RELATIVE_PATH BOXCAR_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(BOXCAR_PC_CFLAGS "-I\${includedir}")
foreach(dir ${Boost_INCLUDE_DIRS})
  if(NOT dir IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    string(APPEND BOXCAR_PC_CFLAGS " -isystem ${dir}")
  endif()
endforeach()
function(boxcar_pkgconfig name libs)
  set(BOXCAR_PC_LIBS ${libs})
  configure_file(cmake/boxcar.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${pkgconfig_dir} ${ARGN})
endfunction()
set(whole_archive "-Wl,--whole-archive -l:libboxcar.a -Wl,--no-whole-archive")
foreach(library ${BOXCAR_KERNEL_LIBRARIES} ${BOXCAR_CUDA_LIBRARIES} ${CMAKE_DL_LIBS})
  if(library STREQUAL "ZLIB::ZLIB")
    string(APPEND whole_archive " -lz")
  elseif(IS_ABSOLUTE "${library}")
    string(APPEND whole_archive " ${library}")
  else()
    string(APPEND whole_archive " -l${library}")
  endif()
endforeach()

if(BOXCAR_STATIC)
  boxcar_pkgconfig(boxcar ${whole_archive})
else()
  set(optional COMPONENT static EXCLUDE_FROM_ALL)
  install(TARGETS boxcar EXPORT boxcarShared)
  if(TARGET boxcar_cuda)
    install(TARGETS boxcar_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})  # beside libboxcar.so, which opens it there
  endif()
  install(EXPORT boxcarShared NAMESPACE boxcar:: DESTINATION ${package_dir})
  boxcar_pkgconfig(boxcar -lboxcar)
endif()
install(TARGETS boxcar_archive boxcar_static EXPORT boxcarStatic ${optional})
install(EXPORT boxcarStatic NAMESPACE boxcar:: DESTINATION ${package_dir} ${optional})
boxcar_pkgconfig(boxcar-static ${whole_archive} ${optional})

# The program finds libboxcar.so if both are moved together, and in the build folder. CMake would pad a path that it
# sets itself with empty entries, for which the loader searches the current folder.
if(TARGET boxcar_cli)
  file(RELATIVE_PATH libdir_from_bindir ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(boxcar_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${libdir_from_bindir};$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS boxcar_cli)
  # They are part of the program, too; these are for reading.
  install(DIRECTORY scripts/lib DESTINATION ${CMAKE_INSTALL_DATADIR}/boxcar)
  set(described ${PROJECT_BINARY_DIR}/generated/described)
  install(FILES ${described}/boxcar DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${described}/_boxcar DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${described}/boxcar.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
