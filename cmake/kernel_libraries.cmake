# The libraries that kernels use if they are found. For each, a folder NAME in backends/cpu contains the code that
# needs it, and no_NAME beside it the fallback. Only one of the two is compiled.
#
# BOXCAR_KERNEL_LIBRARIES   what to link
# BOXCAR_KERNEL_STANDINS    a regular expression for the folders that are not compiled

option(BOXCAR_OPENMP "Share the work of CPU kernels between threads, by OpenMP" ON)
option(BOXCAR_HIGHWAY "Vectorise CPU kernels for the processor that they run on, by Highway" ON)
option(BOXCAR_ONEDNN "Convolutions and large matrix products by oneDNN" ON)
option(BOXCAR_OPENBLAS "Matrix products and linear algebra by OpenBLAS, which is opened when it is first needed" ON)
option(BOXCAR_KISSFFT "Fourier transforms by KissFFT" ON)

include(CheckIncludeFileCXX)
function(boxcar_kernel_library option name header library)
  set(found FALSE)
  if(${option})
    if(header)
      check_include_file_cxx(${header} BOXCAR_HAS_${name} ${ARGN})
      set(found ${BOXCAR_HAS_${name}})
    else()
      set(found TRUE)
    endif()
    if(NOT found)
      message(STATUS "${name} was not found: no_${name}/ is used instead")
    endif()
  endif()
  if(found)
    set(left_out no_${name})
    set(BOXCAR_KERNEL_LIBRARIES ${BOXCAR_KERNEL_LIBRARIES} ${library} PARENT_SCOPE)
  else()
    set(left_out ${name})
  endif()
  set(BOXCAR_KERNEL_STANDINS ${BOXCAR_KERNEL_STANDINS} ${left_out} PARENT_SCOPE)
endfunction()

boxcar_kernel_library(BOXCAR_OPENMP openmp omp.h gomp -fopenmp)
boxcar_kernel_library(BOXCAR_HIGHWAY highway hwy/highway.h "")  # header-only use
boxcar_kernel_library(BOXCAR_ONEDNN onednn oneapi/dnnl/dnnl.hpp dnnl)
boxcar_kernel_library(BOXCAR_OPENBLAS openblas "" "")
boxcar_kernel_library(BOXCAR_KISSFFT kissfft kissfft/kissfft.hh "")  # a header alone
# Always needed: it inflates members of archives.
list(APPEND BOXCAR_KERNEL_LIBRARIES ZLIB::ZLIB)
list(JOIN BOXCAR_KERNEL_STANDINS "|" BOXCAR_KERNEL_STANDINS)

# CUDA: backends/cuda if nvcc is found, otherwise backends/no_cuda. The CUDA runtime is linked statically, so that the
# same program runs on machines without a driver. CMake 3.25 needs the architectures before the language is enabled, or
# it tries one that CUDA 13 no longer supports.
option(BOXCAR_CUDA "Kernels for NVIDIA GPUs, by nvcc" ON)
set(BOXCAR_HAS_CUDA FALSE)
if(BOXCAR_CUDA)
  find_program(BOXCAR_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda/bin)
  if(BOXCAR_NVCC)
    set(CMAKE_CUDA_COMPILER ${BOXCAR_NVCC})
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # 90 is machine code plus PTX, which later devices compile
    endif()
    if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)  # CMake 3.25 does not know this option
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    find_package(CUDAToolkit REQUIRED)
    if(CUDAToolkit_VERSION VERSION_LESS 12)
      message(STATUS "CUDA ${CUDAToolkit_VERSION} is too old: boxcar's kernels need 12 or newer, and are left out")
    else()
      set(BOXCAR_HAS_CUDA TRUE)
      if(BOXCAR_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
        set(CMAKE_CUDA_COMPILER_LAUNCHER ${BOXCAR_CCACHE})
      endif()
    endif()
  else()
    message(STATUS "nvcc was not found: boxcar is built without CUDA")
  endif()
endif()
