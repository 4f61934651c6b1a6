#include <boxcar/interpreter/compiler/typed_argument.h>
#include <boxcar/interpreter/compiler/typed_builder.h>

#include <algorithm>
#include <string>
#include <utility>

namespace boxcar::interp {

std::vector<CallArgument> signatureOf(std::span<const TypedArgument> arguments) {
  std::vector<CallArgument> signature;
  for (const TypedArgument& argument : arguments) signature.push_back({argument.value->type, argument.keyword});
  return signature;
}

bool hasPoison(std::span<const TypedArgument> arguments) {
  return std::ranges::any_of(arguments, [](const TypedArgument& a) { return typed::isPoison(*a.value); });
}

void reportRejections(InferenceContext& context, Span span, std::string_view name,
                      std::span<const FunctionSchema* const> candidates, std::span<const TypedArgument> arguments,
                      std::span<const Rejection> rejections) {
  if (haveSameReason(rejections) && rejections[0].argument) span = arguments[*rejections[0].argument].span;
  Diagnostic& diagnostic = context.error(span, rejectionHeadline(name, signatureOf(arguments), rejections));
  for (std::string& line : rejectionLines(candidates, rejections)) diagnostic.note(std::move(line));
}

}  // namespace boxcar::interp
