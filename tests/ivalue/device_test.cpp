#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_set>

#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(Device, TypesHaveTheirShortNames) {
  EXPECT_EQ(Device(kCPU), Device("cpu"));
  EXPECT_EQ(Device(kCUDA, 1), Device("cuda:1"));
  EXPECT_EQ(Device(kMeta), Device("meta"));
  EXPECT_EQ(Device(kPrivateUse1), Device("privateuseone"));
  EXPECT_EQ(toString(kMPS), "mps");
}

std::string parseError(std::string_view text) {
  return errorOf([&] { static_cast<void>(Device(text)); });
}

TEST(Device, TypesHaveTheirNumbersNamesAndKeys) {
  const struct {
    int number;
    const char* name;
    DispatchKey key;
    BackendComponent backend;
  } expected[] = {
      {0, "cpu", DispatchKey::CPU, BackendComponent::CPUBit},
      {1, "cuda", DispatchKey::CUDA, BackendComponent::CUDABit},
      {6, "hip", DispatchKey::HIP, BackendComponent::HIPBit},
      {7, "fpga", DispatchKey::FPGA, BackendComponent::InvalidBit},
      {8, "ort", DispatchKey::ORT, BackendComponent::InvalidBit},
      {9, "xla", DispatchKey::XLA, BackendComponent::XLABit},
      {10, "vulkan", DispatchKey::Vulkan, BackendComponent::InvalidBit},
      {11, "metal", DispatchKey::Metal, BackendComponent::InvalidBit},
      {12, "xpu", DispatchKey::XPU, BackendComponent::XPUBit},
      {13, "mps", DispatchKey::MPS, BackendComponent::MPSBit},
      {14, "meta", DispatchKey::Meta, BackendComponent::MetaBit},
      {15, "hpu", DispatchKey::HPU, BackendComponent::HPUBit},
      {16, "ve", DispatchKey::VE, BackendComponent::VEBit},
      {17, "lazy", DispatchKey::Lazy, BackendComponent::LazyBit},
      {18, "ipu", DispatchKey::IPU, BackendComponent::IPUBit},
      {19, "mtia", DispatchKey::MTIA, BackendComponent::MTIABit},
      {20, "privateuseone", DispatchKey::PrivateUse1, BackendComponent::PrivateUse1Bit},
  };
  for (const auto& each : expected) {
    const auto type = static_cast<DeviceType>(each.number);
    EXPECT_EQ(toString(type), each.name);
    EXPECT_EQ(parseDeviceType(each.name), type);
    EXPECT_EQ(toDispatchKey(type), each.key);
    EXPECT_EQ(toBackendComponent(type), each.backend);
    if (each.backend == BackendComponent::InvalidBit) continue;
    EXPECT_EQ(toDeviceType(each.backend), type);
  }
  EXPECT_EQ(toDeviceType(BackendComponent::InvalidBit), std::nullopt);
  EXPECT_EQ(toDeviceType(BackendComponent::PrivateUse2Bit), std::nullopt);
  EXPECT_EQ(parseDeviceType("CPU"), std::nullopt);
}

TEST(Device, ParsesAndPrints) {
  EXPECT_EQ(Device("cpu"), Device(DeviceType::CPU));
  EXPECT_EQ(Device("cuda"), Device(DeviceType::CUDA, -1));
  EXPECT_FALSE(Device("cuda").has_index());
  EXPECT_EQ(Device("cuda:0"), Device(DeviceType::CUDA, 0));
  EXPECT_EQ(Device("privateuseone:1"), Device(DeviceType::PrivateUse1, 1));
  for (const char* text : {"cpu", "cpu:0", "cuda", "cuda:0", "cuda:127", "meta", "privateuseone:1", "mtia:10"}) {
    EXPECT_EQ(toString(Device(text)), text);
  }
  EXPECT_TRUE(Device("cpu").is_cpu());
  EXPECT_TRUE(Device("cuda:3").is_cuda());
  EXPECT_TRUE(Device("meta").is_meta());
}

TEST(Device, UnknownTypeIsAnErrorThatListsTheTypes) {
  EXPECT_EQ(
      parseError("gpu:0"),
      "device 'gpu:0' has the unknown type 'gpu'; the type is one of cpu, cuda, hip, fpga, ort, xla, vulkan, metal, "
      "xpu, mps, meta, hpu, ve, lazy, ipu, mtia or privateuseone");
  EXPECT_EQ(parseError("float32"), "'float32' is a dtype, not a device; write a dtype without quotes: float32");
  EXPECT_EQ(parseError("").substr(0, 33), "device '' has the unknown type ''");
}

// Runs in a separate process, because the name stays.
TEST(PrivateUse1, IsNamedOnceAndPrintsWhatReadsBack) {
  const auto nameIt = [] {
    const auto refused = [](std::string_view name) { return errorOf([&] { register_privateuse1_backend(name); }); };
    const auto holds = [](bool condition, const char* what) {
      if (condition) return;
      std::fprintf(stderr, "not so: %s\n", what);
      std::exit(1);
    };
    holds(!is_privateuse1_backend_registered(), "nobody named it");
    holds(get_privateuse1_backend() == "privateuseone", "its name before");
    for (const char* name : {"cpu", "cuda", "meta", "mtia"}) {
      holds(refused(name) == fmt::format("PrivateUse1 cannot be named '{}': that is a device already", name), name);
    }
    holds(refused("float32") == "PrivateUse1 cannot be named 'float32': that is a dtype already", "a dtype");
    for (const char* name : {"", "NPU", "my npu", "0a", "npu:0"}) {
      holds(refused(name).ends_with("a device's name consists of lowercase letters, digits and _, such as 'npu'"),
            name);
    }
    holds(!is_privateuse1_backend_registered(), "what is refused names nothing");

    register_privateuse1_backend("npu_2");
    register_privateuse1_backend("npu_2");
    holds(refused("other") ==
              "PrivateUse1 is already named 'npu_2', and cannot be named 'other': a process names it once",
          "a second name");
    holds(is_privateuse1_backend_registered(), "it is named");
    holds(get_privateuse1_backend() == "npu_2" && get_privateuse1_backend(false) == "NPU_2", "its name");
    holds(toString(DeviceType::PrivateUse1) == "npu_2", "the type prints");
    holds(toString(Device(DeviceType::PrivateUse1, 3)) == "npu_2:3", "the device prints");
    holds(Device("npu_2:3") == Device(DeviceType::PrivateUse1, 3), "what prints reads back");
    holds(Device("privateuseone:1") == Device(DeviceType::PrivateUse1, 1), "the older name is read, too");
    holds(parseError("gpu").find("mtia or npu_2") != std::string::npos, "errors name it");
    holds(toString(DispatchKey::AutogradPrivateUse1) == "AutogradPrivateUse1", "keys keep their names");
    std::exit(0);
  };
  EXPECT_EXIT(nameIt(), ::testing::ExitedWithCode(0), "");
}

TEST(Device, BadIndexIsAnErrorThatNamesTheDevice) {
  for (const std::string text :
       {"cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:1 ", "cuda:+1", "cuda:128", "cuda:99999999999", "cuda:1:2"}) {
    EXPECT_EQ(parseError(text),
              "the index of device '" + text + "' must be a number from 0 to 127, without leading zeros");
  }
}

TEST(Device, ComparesAndHashesBothParts) {
  EXPECT_NE(Device("cuda:0"), Device("cuda:1"));
  EXPECT_NE(Device("cuda:0"), Device("cuda"));
  EXPECT_NE(Device("cuda:0"), Device("cpu:0"));
  const std::unordered_set<Device> devices = {Device("cuda:0"), Device("cuda:0"), Device("cuda"), Device("cpu")};
  EXPECT_EQ(devices.size(), 3u);
}

}  // namespace
}  // namespace boxcar
