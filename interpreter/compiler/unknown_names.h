#pragma once

// Errors about names that mean nothing where they are, with suggestions.

#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/schema/type.h>

namespace boxcar::interp {

void reportUnknownName(InferenceContext& context, const syntax::Name& name);
// For `torch.relu`: only names of dtypes and similar values have `torch.` before them.
void reportUnknownInTorch(InferenceContext& context, const syntax::Name& name, Span span);
void reportUnknownFunction(InferenceContext& context, const syntax::QualifiedName& name);
// [type] is that of the object before the `.`.
void reportUnknownMethod(InferenceContext& context, const syntax::Name& name, TypePtr type);

}  // namespace boxcar::interp
