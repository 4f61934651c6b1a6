#include <boxcar/boxcar.h>

using namespace boxcar;

consteval PluginStamp stampOfAnotherWorld() {
  PluginStamp stamp = detail::makePluginStamp("other_abi", "1");
  stamp.abi = {};
  stamp.abi.append("libnothing, sizes 1 2 3");
  return stamp;
}
BOXCAR_PLUGIN_STAMP(stampOfAnotherWorld());
