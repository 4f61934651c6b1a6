#include <boxcar/interpreter/service/docstrings.h>
#include <boxcar/interpreter/service/text.h>

namespace boxcar::service {

void Docstrings::add(std::string_view schemas) {
  std::string comment;
  for (size_t begin = 0; begin < schemas.size();) {
    const size_t end = std::min(schemas.find('\n', begin), schemas.size());
    const std::string_view line = schemas.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("# == ")) {
      comment.clear();  // the heading of a section
    } else if (line.starts_with('#')) {
      if (!comment.empty()) comment += '\n';
      comment += withoutHash(line);
    } else {
      const size_t name_end = line.find('(');
      if (name_end != std::string_view::npos && !comment.empty()) {
        texts_.emplace(std::string(line.substr(0, name_end)), comment);
      }
      comment.clear();
    }
  }
}

std::string_view Docstrings::find(const std::string& name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? std::string_view() : found->second;
}

}  // namespace boxcar::service
