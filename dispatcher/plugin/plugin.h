#pragma once

#include <boxcar/dispatcher/plugin/abi.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/version.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

// A plugin is a shared library that adds operators, kernels, fallbacks or a device to a running program. It consists of
// BOXCAR_LIBRARY blocks, like any library, and one line that stamps it:
//
//   BOXCAR_PLUGIN("sample", "1.0");
//   BOXCAR_LIBRARY(sample, m) { m.def("double(Tensor x) -> Tensor", …); }
//
// CMake's boxcar_add_plugin(sample sample.cpp) builds one, `boxcar --plugin` and Dispatcher::loadPlugin load it.

namespace boxcar {

// A plugin that is loaded.
struct PluginInfo {
  std::string name;     // as BOXCAR_PLUGIN gives it
  std::string version;  // likewise
  std::string path;     // of its file: absolute, without symbolic links
};

// What a plugin was built for. It is in its own section and holds no pointers, so that it can be read from the file,
// and a plugin for another boxcar never runs. The first four members are the same in all versions.
struct PluginStamp {
  detail::FixedText<8> magic;
  uint32_t format;
  uint32_t bytes;  // of the whole stamp
  detail::FixedText<16> boxcar_version;

  detail::FixedText<64> name;
  detail::FixedText<32> version;
  detail::AbiText abi;

  static constexpr std::string_view kMagic = "boxcar";
  static constexpr uint32_t kFormat = 1;
  static constexpr uint32_t kFirstBytes = 32;
};
static_assert(std::is_trivially_copyable_v<PluginStamp> && offsetof(PluginStamp, name) == PluginStamp::kFirstBytes);

namespace detail {

consteval PluginStamp makePluginStamp(std::string_view name, std::string_view version,
                                      std::string_view boxcar_version = BOXCAR_VERSION) {
  if (name.empty()) throw "a plugin has a name";
  PluginStamp stamp{};
  stamp.magic.append(PluginStamp::kMagic);
  stamp.format = PluginStamp::kFormat;
  stamp.bytes = sizeof(PluginStamp);
  stamp.boxcar_version.append(boxcar_version);
  stamp.name.append(name);
  stamp.version.append(version);
  stamp.abi = makeAbiText();
  return stamp;
}

}  // namespace detail
}  // namespace boxcar

#define BOXCAR_PLUGIN_STAMP(stamp)                                       \
  extern "C" BOXCAR_API const ::boxcar::PluginStamp boxcar_plugin_stamp; \
  constinit const ::boxcar::PluginStamp boxcar_plugin_stamp __attribute__((used, section(".boxcar_plugin"))) = stamp

// BOXCAR_PLUGIN("name", "version"); makes a shared library a plugin. Exactly one of its source files contains it.
#define BOXCAR_PLUGIN(name, version) BOXCAR_PLUGIN_STAMP(::boxcar::detail::makePluginStamp(name, version))
