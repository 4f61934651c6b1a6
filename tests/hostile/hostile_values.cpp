#include "tests/hostile/hostile_values.h"

#include <boxcar/ivalue/cpu_generator.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

namespace boxcar::hostile {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kTwo31 = int64_t{1} << 31;
constexpr int64_t kTwo32 = int64_t{1} << 32;

constexpr int64_t kSmallInts[] = {0, 1, 2, 3, 4, 5, 7, 8, -1, -2, -3, -4};
constexpr int64_t kInts[] = {6,
                             9,
                             16,
                             31,
                             32,
                             33,
                             63,
                             64,
                             65,
                             127,
                             255,
                             256,
                             1023,
                             4096,
                             32768,
                             65536,
                             -5,
                             -64,
                             -65,
                             kTwo31 - 1,
                             kTwo31,
                             kTwo31 + 1,
                             -kTwo31,
                             -kTwo31 - 1,
                             kTwo32 - 1,
                             kTwo32,
                             kTwo32 + 1,
                             int64_t{1} << 40,
                             int64_t{1} << 53,
                             int64_t{1} << 61,
                             int64_t{1} << 62,
                             kMost / 3,
                             kMost - 1,
                             kMost,
                             kLeast,
                             kLeast + 1,
                             -(int64_t{1} << 62)};

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kFloats[] = {
    0.0,    -0.0,   1.0,     -1.0,     0.5,   2.0,          kNaN,         -kNaN,  kInf,    -kInf,
    1e-5,   5e-324, -5e-324, 2.2e-308, 1e-45, 1e-300,       1e300,        1e308,  -1e308,  1.7976931348623157e308,
    3.5e38, 65504,  65520,   1e9,      -1e9,  2147483648.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19};

constexpr ScalarType kDtypes[] = {ScalarType::Byte,     ScalarType::Char,         ScalarType::Short,
                                  ScalarType::Int,      ScalarType::Long,         ScalarType::Half,
                                  ScalarType::Float,    ScalarType::Double,       ScalarType::Bool,
                                  ScalarType::BFloat16, ScalarType::ComplexFloat, ScalarType::ComplexDouble};

constexpr const char* kTexts[] = {
    "",         "mean",      "sum",    "none",     "floor",    "trunc",     "constant",  "reflect", "replicate",
    "circular", "ij",        "xy",     "reduced",  "complete", "r",         "gelu",      "tanh",    "fro",
    "nuc",      "linear",    "higher", "left",     "amax",     "prod",      "ij,jk->ik", "ii->i",   "...ij,...jk",
    "i,i",      "ij->ijij",  "->",     ",",        "...",      "a...b->ba", "i->ij",     "->i",     "../x",
    "/",        "/dev/null", ".",      "\xff\xfe", "%s%n",     "{}",        " ",         "\n"};

std::string text(Random& random) {
  switch (random.below(12)) {
    case 0: return std::string(random.pick({size_t{1}, size_t{300}, size_t{70000}}), 'i');
    case 1: return std::string("a\0b", 3);
    case 2: {
      std::string made;
      for (size_t left = random.below(12); left > 0; --left) made += "ijk,.->A \xc3"[random.below(11)];
      return made;
    }
    default: return random.pick(kTexts);
  }
}

// Changes one element, the length or the whole list.
template <class T, class Make>
IValue list(std::vector<T> values, Random& random, const Make& make) {
  switch (random.below(8)) {
    case 0: values.clear(); break;
    case 1: values.push_back(make()); break;
    case 2:
      if (!values.empty()) values.pop_back();
      break;
    case 3:
      if (!values.empty()) values.assign(values.size(), values[0]);
      break;
    case 4: values.assign(random.below(6), make()); break;
    case 5:
      if (random.oneIn(4)) {
        values.assign(random.pick({size_t{64}, size_t{65}, size_t{1000}, size_t{20000}}), make());
        break;
      }
      [[fallthrough]];
    default:
      if (values.empty()) values.push_back(make());
      values[random.below(values.size())] = make();
  }
  return IValue(std::move(values));
}

template <class T>
std::vector<T> elementsOf(const IValue& value) {
  std::vector<T> elements;
  if (value.isList()) {
    for (size_t i = 0; i < value.length(); ++i) elements.push_back(value.elementAt(i).to<T>());
  }
  return elements;
}

IValue scalar(Random& random) {
  switch (random.below(6)) {
    case 0: return random.oneIn(2);
    case 1: return std::complex<double>(hostileFloat(random), hostileFloat(random));
    case 2:
    case 3: return hostileInt(random);
    default: return hostileFloat(random);
  }
}

// Sometimes returns a number outside the enumeration.
IValue enumerator(int count, Random& random) {
  if (random.oneIn(6)) return hostileInt(random);
  return static_cast<int64_t>(random.below(static_cast<size_t>(count) + 1));
}

Device device(Random& random) {
  constexpr Device kDevices[] = {
      Device(DeviceType::CPU),       Device(DeviceType::CPU, 0),         Device(DeviceType::CPU, 1),
      Device(DeviceType::Meta),      Device(DeviceType::CUDA),           Device(DeviceType::CUDA, 0),
      Device(DeviceType::CUDA, 127), Device(DeviceType::PrivateUse1, 0), Device(DeviceType::Vulkan),
      Device(DeviceType::Meta, 3),   Device(DeviceType::CPU, -2)};
  return random.pick(kDevices);
}

}  // namespace

int64_t hostileInt(Random& random) { return random.oneIn(2) ? random.pick(kSmallInts) : random.pick(kInts); }

double hostileFloat(Random& random) { return random.pick(kFloats); }

ScalarType anyDtype(Random& random) { return random.pick(kDtypes); }

IValue hostileValue(TypePtr type, const IValue& plausible, Random& random) {
  switch (type->kind()) {
    case TypeKind::Optional: return random.oneIn(3) ? IValue() : hostileValue(type->element(), plausible, random);
    case TypeKind::Int:
    case TypeKind::SymInt:
      if (plausible.isInt() && random.oneIn(4))
        return static_cast<int64_t>(static_cast<uint64_t>(plausible.toInt()) + random.below(5) - 2);
      return hostileInt(random);
    case TypeKind::Float: return hostileFloat(random);
    case TypeKind::Complex: return std::complex<double>(hostileFloat(random), hostileFloat(random));
    case TypeKind::Bool: return plausible.isBool() ? !plausible.toBool() : random.oneIn(2);
    case TypeKind::Scalar: return scalar(random);
    case TypeKind::String: return text(random);
    case TypeKind::ScalarType:
      if (!random.oneIn(3)) return anyDtype(random);
      return enumerator(static_cast<int>(ScalarType::NumOptions), random);
    case TypeKind::Layout: return enumerator(static_cast<int>(Layout::NumOptions), random);
    case TypeKind::MemoryFormat: return enumerator(static_cast<int>(MemoryFormat::NumOptions), random);
    case TypeKind::Device: return device(random);
    case TypeKind::Generator:
      return random.oneIn(2) ? IValue(defaultCpuGenerator()) : IValue(makeCpuGenerator(random.next()));
    case TypeKind::List: {
      switch (type->element()->kind()) {
        case TypeKind::Int:
        case TypeKind::SymInt: return list(elementsOf<int64_t>(plausible), random, [&] { return hostileInt(random); });
        case TypeKind::Float: return list(elementsOf<double>(plausible), random, [&] { return hostileFloat(random); });
        case TypeKind::Bool: return list(elementsOf<bool>(plausible), random, [&] { return random.oneIn(2); });
        default: return plausible;
      }
    }
    default: return plausible;
  }
}

}  // namespace boxcar::hostile
