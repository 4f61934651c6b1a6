// Registrations: a failed one registers nothing.

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/schema/parse_schema.h>

#include <optional>
#include <string>

#include "tests/exhaustion/cases.h"

namespace boxcar::exhaustion {
namespace {

constexpr const char* kName = "exhaust::registered";

int64_t answer(const Tensor&, int64_t n) { return n + 1; }

std::optional<std::string> whatIsRegistered() {
  const auto op = Dispatcher::singleton().findOp({kName, ""});
  if (op && op->hasSchema()) return "the operator is still defined";
  if (op && op->entry().defAndImplCount() != 0) return "a kernel of the operator is left";
  if (Dispatcher::singleton().hasBackendFallbackForDispatchKey(DispatchKey::Batched)) return "a fallback is left";
  return std::nullopt;
}

void registerAndCall(bool boxed) {
  Library m(Library::FRAGMENT, "exhaust", std::nullopt, "registration_cases.cpp", 1);
  m.def("registered(Tensor x, int n=1) -> int");
  if (boxed) {
    m.impl("registered", DispatchKey::CPU, CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack& stack) {
             const int64_t n = stack.back().toInt();
             drop(stack, 2);
             push(stack, n + 1);
           }));
  } else {
    m.impl("registered", DispatchKey::CPU, BOXCAR_FN(answer));
    m.impl("registered", DispatchKey::Autograd,
           [kept = std::string(100, 'x')](const Tensor&, int64_t n) { return n + static_cast<int64_t>(kept.size()); });
  }
  Library fallbacks(Library::IMPL, "_", DispatchKey::Batched, "registration_cases.cpp", 2);
  fallbacks.fallback(CppFunction::makeFallthrough());
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow(kName, "");
  Stack stack;
  push(stack, Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float), 1);
  op.callBoxed(stack);
  BOXCAR_CHECK(pop(stack).toInt() == 2, "the kernel gives something else");
}

}  // namespace

void addRegistrationCases(std::vector<CaseMaker>& cases) {
  for (const bool boxed : {false, true})
    cases.push_back(always({std::string("registering ") + (boxed ? "a boxed kernel" : "unboxed kernels"),
                            [boxed] { registerAndCall(boxed); }, [](bool) { return whatIsRegistered(); }}));
  cases.push_back(always(
      {"parsing a schema", [] {
         const FunctionSchema schema = parseSchema(
             "a::b.c(Dict(str, (int, Tensor(a!))[])(b) x, str s='\\x41\\n', *, Device d='cpu') -> (int[2] z, ...)");
         BOXCAR_CHECK(parseSchema(toString(schema)) == schema, "it reads as another");
       }}));
  cases.push_back(always({"a text that is no schema", [] {
                            try {
                              parseSchema("a::b(Tensor, int x=) -> ");
                            } catch (const SchemaError&) {
                              return;
                            }
                            throw RuntimeError("what is no schema was read");
                          }}));
}

}  // namespace boxcar::exhaustion
