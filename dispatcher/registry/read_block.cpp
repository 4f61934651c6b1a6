#include <boxcar/dispatcher/registry/read_block.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::detail {

void readBlock(const LibraryBlock& block, std::deque<Library>& libraries) {
  RegistrationSite site{block.file, block.line};
  try {
    Library& library = libraries.emplace_back(block);
    try {
      block.init(library);
    } catch (...) {
      site = library.site();
      throw;
    }
  } catch (const std::exception& error) {
    BOXCAR_FAIL("{}: {}", site, error.what());
  } catch (...) {
    BOXCAR_FAIL("{}: the block threw something that is not a std::exception", site);
  }
}

}  // namespace boxcar::detail
