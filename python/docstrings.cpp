#include <boxcar/python/docstrings.h>

#include <string_view>

namespace boxcar {

namespace detail {
extern const std::string_view kOperatorDocstrings;
}

namespace python {

const service::Docstrings& docstrings() {
  static const service::Docstrings all = [] {
    service::Docstrings docstrings;
    docstrings.add(detail::kOperatorDocstrings);
    return docstrings;
  }();
  return all;
}

}  // namespace python
}  // namespace boxcar
