# Takes the libraries that a build needs from the folder that `./dev bundle` makes, for machines without a package
# registry. The presets offline and gpu-offline include this file. Headers are in the folder's include/, which ./dev
# adds to the compilers' include path; libraries that must be compiled are compiled as part of the build.
#
# BOXCAR_BUNDLE   the folder

if(NOT EXISTS ${BOXCAR_BUNDLE}/include/boost)
  message(FATAL_ERROR "there is no bundle in ${BOXCAR_BUNDLE}; ./dev bundle makes one, where packages can be installed")
endif()

macro(boxcar_bundle_sources name)
  if(NOT TARGET boxcar_bundle_${name})
    add_custom_target(boxcar_bundle_${name})
    add_subdirectory(${BOXCAR_BUNDLE}/${name} ${CMAKE_BINARY_DIR}/bundle/${name} EXCLUDE_FROM_ALL SYSTEM)
  endif()
endmacro()

macro(boxcar_bundle_headers target)
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
  endif()
endmacro()

macro(boxcar_find_in_bundle method package)
  if("${package}" STREQUAL "Boost")
    boxcar_bundle_headers(Boost::headers)
    set(Boost_INCLUDE_DIRS ${BOXCAR_BUNDLE}/include)
    set(Boost_FOUND TRUE)
  elseif("${package}" STREQUAL "CLI11")
    boxcar_bundle_headers(CLI11::CLI11)
    set(CLI11_FOUND TRUE)
  elseif("${package}" STREQUAL "fmt")
    set(FMT_INSTALL OFF)
    boxcar_bundle_sources(fmt)
    set(fmt_FOUND TRUE)
  elseif("${package}" STREQUAL "GTest")
    set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
    set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
    boxcar_bundle_sources(googletest)
    set(GTest_FOUND TRUE)
  elseif("${package}" STREQUAL "benchmark")
    foreach(option TESTING INSTALL WERROR DOXYGEN)
      set(BENCHMARK_ENABLE_${option} OFF CACHE BOOL "" FORCE)
    endforeach()
    boxcar_bundle_sources(benchmark)
    set(benchmark_FOUND TRUE)
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER boxcar_find_in_bundle SUPPORTED_METHODS FIND_PACKAGE)
