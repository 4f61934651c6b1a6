// Calls from C++, typed and boxed.

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ops.h>

#include <vector>

#include "tests/exhaustion/cases.h"

namespace boxcar::exhaustion {
namespace {

ExhaustedCase boxedCall(const char* name, const char* overload, std::vector<IValue> arguments) {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow(name, overload);
  return {std::string("a boxed call of ") + name, [=] {
            Stack stack;
            for (const IValue& argument : arguments) stack.push_back(argument);
            op.callBoxed(stack);
          }};
}

}  // namespace

void addCallCases(std::vector<CaseMaker>& cases) {
  const Tensor x = ones({5, 5});
  const Tensor large = ones({300, 300});
  cases.push_back(always({"a typed call", [=] { add(x, x, 1); }}));
  cases.push_back(always({"a typed call that makes a large tensor", [=] { add(large, large, 2); }}));
  cases.push_back(always({"typed calls of many kinds", [=] {
                            softmax(mm(x, x), 1);
                            cat(std::vector<Tensor>{x, x}, 0);
                            index_select(x, 0, arange(3));
                            sort(x);
                            linalg_inv(eye(5));
                          }}));
  cases.push_back(always(boxedCall("aten::add", "Tensor", {x, x, 1})));
  cases.push_back(always(boxedCall("aten::split", "Tensor", {x, 2, 0})));
  cases.push_back(always(boxedCall("aten::sum", "dim_IntList", {x, std::vector<int64_t>{1}, true, IValue()})));
  cases.push_back(always(
      boxedCall("aten::convolution", "",
                {ones({1, 2, 5, 5}), ones({3, 2, 3, 3}), IValue(), std::vector<int64_t>{1, 1},
                 std::vector<int64_t>{0, 0}, std::vector<int64_t>{1, 1}, false, std::vector<int64_t>{0, 0}, 1})));
}

}  // namespace boxcar::exhaustion
