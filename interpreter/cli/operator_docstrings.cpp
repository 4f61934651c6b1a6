#include <boxcar/interpreter/cli/operator_docstrings.h>

#include <string_view>

namespace boxcar::detail {
extern const std::string_view kOperatorSchemas;
}

namespace boxcar::cli {

const service::Docstrings& operatorDocstrings() {
  static const service::Docstrings all = [] {
    service::Docstrings docstrings;
    docstrings.add(detail::kOperatorSchemas);
    return docstrings;
  }();
  return all;
}

}  // namespace boxcar::cli
