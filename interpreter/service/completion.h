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
  std::string text;  // what is put in
  CompletionKind kind;
  std::string detail;         // a schema or a type; may be empty
  std::string documentation;  // what it does; may be empty
};

struct CompletionList {
  Span replaced;  // what the texts are put in for; it ends at the offset
  std::vector<Completion> items;
};

// What may stand at byte [offset] of [text], which may be broken: all that begins with what is written of it already,
// in the order of kinds and names. [known] are variables that are set before the text begins, [name] is its path. It
// runs nothing.
BOXCAR_API CompletionList complete(std::string_view text, uint32_t offset, std::span<const KnownVariable> known = {},
                                   const std::string& name = "<input>", const Workspace& workspace = {});

}  // namespace boxcar::service
