#pragma once

#include <boxcar/interpreter/service/known_variable.h>
#include <boxcar/interpreter/service/workspace.h>
#include <boxcar/interpreter/syntax/source.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::service {

enum class CompletionKind : uint8_t {
  Operator,
  Namespace,
  Overload,
  Function,
  Builtin,
  Method,
  Attribute,
  Variable,
  Constant,
  Mode,
  Scope,  // what `with` takes besides modes
  Argument,
  Keyword,
  Type,
  Dtype,
  Device,
  DispatchKey,
  File,
  Key,  // of a dict
};

BOXCAR_API std::string_view toString(CompletionKind kind);

struct Completion {
  std::string text;  // what is inserted
  CompletionKind kind;
  std::string detail;         // a schema or a type; may be empty
  std::string documentation;  // what it does; may be empty
};

struct CompletionList {
  Span replaced;  // the span that the texts replace; it ends at the offset
  std::vector<Completion> items;
};

// Returns the completions at byte [offset] of [text], which may be broken: everything that begins with what is already
// written, ordered by kind and name. [known]: variables set before the text begins. [name]: the text's path. It runs
// nothing.
BOXCAR_API CompletionList complete(std::string_view text, uint32_t offset, std::span<const KnownVariable> known = {},
                                   const std::string& name = "<input>", const Workspace& workspace = {});

}  // namespace boxcar::service
