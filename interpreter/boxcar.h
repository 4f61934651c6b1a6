#pragma once

// Everything that an embedding program needs: values, schemas, the dispatcher and its registration macros, scripts. The
// typed operator functions are in <boxcar/ops.h>.

// IWYU pragma: begin_exports
#include <boxcar/dispatcher/dispatch_trace.h>
#include <boxcar/dispatcher/dispatcher.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/dispatcher/local_dispatch_key_set.h>
#include <boxcar/dispatcher/mode.h>
#include <boxcar/dispatcher/plugin.h>
#include <boxcar/dispatcher/record_function.h>
#include <boxcar/interpreter/interrupt.h>
#include <boxcar/interpreter/program.h>
#include <boxcar/interpreter/script_error.h>
#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/dlpack.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/from_blob.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/weak_ivalue.h>
#include <boxcar/schema/parse_schema.h>
// Clang mangles some of fmt's functions differently from a libfmt.so built by GCC; this header defines them.
#include <fmt/format.h>
// IWYU pragma: end_exports
