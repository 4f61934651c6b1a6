#include <boxcar/dispatcher/registry/tag.h>

namespace boxcar {

std::string_view toString(Tag tag) noexcept {
  switch (tag) {
#define BOXCAR_TAG(name) \
  case Tag::name: return #name;
    BOXCAR_FORALL_TAGS(BOXCAR_TAG)
#undef BOXCAR_TAG
  }
  return "";
}

}  // namespace boxcar
