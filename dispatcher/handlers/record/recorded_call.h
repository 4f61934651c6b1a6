#pragma once

#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/handlers/drawn_from.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/schema/function_schema.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace boxcar {

// What a recording stores of the elements of tensors.
enum class RecordedContent : uint8_t {
  Full,    // their bytes
  Shapes,  // nothing
  Hashes,  // a hash for each tensor
};

// A part of a storage: [count] bytes from [first] on, which the tensors of a call reach.
struct RecordedStorage {
  Device device = DeviceType::CPU;
  uint64_t bytes = 0;  // of the whole storage
  uint64_t first = 0;
  uint64_t count = 0;
  std::optional<uint32_t> block;  // the recording's block with these bytes; no value if they are not kept
  bool operator==(const RecordedStorage&) const = default;
};

struct RecordedTensor {
  uint32_t storage = 0;  // index among its call's storages
  ScalarType dtype = ScalarType::Undefined;
  bool requires_grad = false;
  bool is_wrapped_number = false;
  bool is_conj = false;  // its elements are the conjugates of what is in memory
  bool is_neg = false;   // the negatives
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  uint64_t hash = 0;  // of the elements in order, if the recording keeps hashes
  bool operator==(const RecordedTensor&) const = default;
};

struct RecordedValue {
  enum class Kind : uint8_t {
    Plain,  // in [plain], which holds no tensor
    Undefined,
    Tensor,     // [index] among its call's tensors
    Storage,    // [index] among its call's storages
    Generator,  // [plain] is its device
    TensorList,
    List,
    Tuple,
    Dict,    // keys and values alternate
    Opaque,  // something that cannot be recorded; [plain] says what
  };
  Kind kind = Kind::Plain;
  uint32_t index = 0;
  IValue plain;
  std::optional<GeneratorState> state;
  std::vector<RecordedValue> elements;
};

// The tensors and storages of a call at one moment.
struct RecordedMoment {
  std::vector<RecordedStorage> storages;
  std::vector<RecordedTensor> tensors;
};

struct RecordedOperator {
  FunctionSchema schema;
  std::string plugin;  // the plugin that it came with; empty if none
  bool is_io = false;
  bool is_random = false;
  bool is_uninitialised = false;  // its results' elements are uninitialised memory
};

// A call, as it was made and as it ended.
struct RecordedCall {
  uint32_t op = 0;      // index among the recording's operators
  uint32_t thread = 0;  // threads are numbered from 0 in the order in which they first record
  std::optional<CallSite> site;
  std::vector<RecordedValue> arguments;
  RecordedMoment before;
  // The state of the default generator of the call's device, for random operators.
  std::optional<DrawnFrom> generator;
  std::optional<std::string> failure;  // what it threw; it then has no results
  std::vector<RecordedValue> results;
  // The tensors of [before], in the same order, then the new ones; equal to [before] if the call failed.
  RecordedMoment after;
};

}  // namespace boxcar
