#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/error.h>

namespace boxcar {

void OperatorHandle::failShortStack(const Stack& stack) const {
  const FunctionSchema& defined = schema();
  BOXCAR_FAIL(
      "{}() takes {} arguments, but the stack holds {} values; push all arguments, those with defaults too. "
      "Schema: {}",
      operator_name(), defined.arguments().size(), stack.size(), defined);
}

}  // namespace boxcar
