#pragma once

// Everything that an embedding program needs: values, schemas, the dispatcher and its registration macros, scripts. The
// typed operator functions are in <boxcar/ops.h>.

// IWYU pragma: begin_exports
#include <boxcar/dispatcher/call/dispatch_trace.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/call/tensor_class.h>
#include <boxcar/dispatcher/plugin/plugin.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/program.h>
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
