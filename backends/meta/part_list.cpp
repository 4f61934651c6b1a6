#include <boxcar/backends/meta/part_list.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::meta {

void checkPartCount(std::string_view name, int64_t count) {
  const auto most = static_cast<int64_t>(std::vector<Tensor>().max_size());
  BOXCAR_CHECK(count <= most, "{}: {} parts are more than a list can hold; ask for {} at most", name, count, most);
}

}  // namespace boxcar::meta
