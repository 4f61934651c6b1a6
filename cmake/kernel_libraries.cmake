# The libraries that CPU kernels use where they are found. For each there is a folder backends/cpu/NAME with what needs
# it, and backends/cpu/no_NAME with what stands in for it: only one of both is compiled.
#
# BOXCAR_KERNEL_LIBRARIES   what to link
# BOXCAR_KERNEL_STANDINS    a pattern of the folders that are left out

option(BOXCAR_OPENMP "Share the work of CPU kernels between threads, by OpenMP" ON)
option(BOXCAR_HIGHWAY "Vectorise CPU kernels for the processor that they run on, by Highway" ON)
option(BOXCAR_ONEDNN "Convolutions and large matrix products by oneDNN" ON)
option(BOXCAR_OPENBLAS "Matrix products and linear algebra by OpenBLAS, which is opened when it is first needed" ON)

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
      message(STATUS "${name} is not here: plain kernels stand in for it")
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
boxcar_kernel_library(BOXCAR_HIGHWAY highway hwy/highway.h "")  # its headers alone
boxcar_kernel_library(BOXCAR_ONEDNN onednn oneapi/dnnl/dnnl.hpp dnnl)
boxcar_kernel_library(BOXCAR_OPENBLAS openblas "" "")
list(JOIN BOXCAR_KERNEL_STANDINS "|" BOXCAR_KERNEL_STANDINS)
