#include <boxcar/interpreter/cli/operator_docstrings.h>

#include <string_view>

namespace boxcar::detail {
extern const std::string_view kOperatorDocstrings;
}

namespace boxcar::cli {

const service::Docstrings& operatorDocstrings() {
  static const service::Docstrings all = [] {
    service::Docstrings docstrings;
    docstrings.add(detail::kOperatorDocstrings);
    return docstrings;
  }();
  return all;
}

}  // namespace boxcar::cli
