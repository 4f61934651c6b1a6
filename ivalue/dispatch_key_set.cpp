#include <boxcar/ivalue/dispatch_key_set.h>

namespace boxcar {

std::string toString(DispatchKeySet keys) {
  std::string text = "DispatchKeySet(";
  const char* separator = "";
  for (const DispatchKey key : keys) {
    text += separator;
    text += toString(key);
    separator = ", ";
  }
  return text += ')';
}

}  // namespace boxcar
