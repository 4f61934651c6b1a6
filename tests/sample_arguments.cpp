#include "tests/sample_arguments.h"

#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tests/backends/io/hand_made_zip.h"
#include "tests/numerics/case_reader.h"
#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

using Sizes = std::vector<int64_t>;

// The properties of the tensors of one set.
struct Kind {
  ScalarType dtype;
  Sizes sizes;
  bool is_transposed = false;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {ScalarType::Float, {2, 3}},
      {ScalarType::Double, {2, 3}, true},
      {ScalarType::Long, {2, 3}},
      {ScalarType::Bool, {2, 3}},
      {ScalarType::BFloat16, {4}},
      {ScalarType::Half, {2, 1, 3}},
      {ScalarType::ComplexFloat, {2, 3}},
      {ScalarType::Byte, {3}},
      {ScalarType::Float, {}},
      {ScalarType::Float, {0, 3}},
  };
  return all;
}

// Makes the values of one set.
class Maker final {
 public:
  Maker(const Kind& kind, bool is_odd) : kind_(kind), is_odd_(is_odd) {}

  const Kind& kind() const noexcept { return kind_; }
  // If there are two choices, every second set takes the other one.
  bool isOdd() const noexcept { return is_odd_; }

  // Positive numbers below 4; the tensors of a set get different ones.
  Tensor tensor(const Sizes& sizes, ScalarType dtype) {
    Sizes allocated = sizes;
    const bool swap = kind_.is_transposed && sizes.size() == 2;
    if (swap) std::swap(allocated[0], allocated[1]);
    Tensor made = Tensor::allocate(allocated, dtype);
    const int64_t first = made_++;
    visitScalarType(kAllTypes, dtype, "a sample", [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* data = made.data_ptr<T>();
      for (int64_t i = 0; i < made.numel(); ++i) {
        if constexpr (std::is_same_v<T, bool>) {
          data[i] = (i + first) % 2 == 0;
        } else if constexpr (std::is_integral_v<T>) {
          data[i] = static_cast<T>(1 + (i + first) % 3);
        } else {
          data[i] = static_cast<T>(0.5f + 0.25f * static_cast<float>((5 * i + 3 * first) % 13));
        }
      }
    });
    if (!swap) return made;
    return made.view(sizes, Sizes{1, sizes[0]}, 0);
  }
  Tensor tensor(const Sizes& sizes) { return tensor(sizes, kind_.dtype); }
  Tensor tensor() { return tensor(kind_.sizes); }
  // Zeros, which are valid indices into anything with elements.
  Tensor indices(const Sizes& sizes) {
    const Tensor made = Tensor::allocate(sizes, ScalarType::Long);
    std::fill_n(made.data_ptr<int64_t>(), made.numel(), 0);
    return made;
  }

 private:
  const Kind& kind_;
  bool is_odd_;
  int64_t made_ = 0;
};

using Hint = std::function<IValue(Maker&)>;

Hint sized(Sizes sizes) {
  return [sizes](Maker& make) { return make.tensor(sizes); };
}
Hint always(IValue value) {
  return [value](Maker&) { return value; };
}
Hint ints(Sizes values) {
  return [values](Maker&) { return IValue(values); };
}

// Float32, in oneDNN's layout; strided in builds without oneDNN, where no operator takes the other.
Hint packed(Sizes sizes) {
  return [sizes](Maker& make) {
    const HiddenCalls hidden;
    Stack stack;
    push(stack, make.tensor(sizes, ScalarType::Float), IValue());
    try {
      Dispatcher::singleton().findSchemaOrThrow("aten::to_mkldnn", "").callBoxed(stack);
    } catch (const Error&) {
      return IValue(make.tensor(sizes, ScalarType::Float));
    }
    return stack.back();
  };
}

// Returns the path of a file into which the operator [save] wrote [value].
std::string savedBy(const char* save, const IValue& value) {
  static const TemporaryFolder folder;
  const std::string path = folder / (std::string("sample.") + (save + 4));
  Stack stack;
  push(stack, value, path);
  Dispatcher::singleton().findSchemaOrThrow(save, "").callBoxed(stack);
  return path;
}

std::string savedFile() {
  static const std::string path = [] {
    const Dict<std::string, Tensor> tensors;
    const Kind kind{ScalarType::Float, {2, 3}};
    tensors.insert("w", Maker(kind, false).tensor());
    return savedBy("io::save", tensors);
  }();
  return path;
}

std::string savedArray() {
  static const std::string path = [] {
    const Kind kind{ScalarType::Float, {2, 3}};
    return savedBy("io::save_npy", Maker(kind, false).tensor());
  }();
  return path;
}

std::string savedZip() {
  static const TemporaryFolder folder;
  folder.write("sample.zip", "PK\x05\x06" + std::string(18, '\0'));  // no members
  return folder / "sample.zip";
}

std::string savedModule() {
  static const TemporaryFolder folder;
  folder.write("sample.pt", io::archiveOf({{"m/data.pkl", "}."}, {"m/constants.pkl", ")."}}));
  return folder / "sample.pt";
}

std::string writtenFile() {
  static const TemporaryFolder folder;
  return folder / "sample.txt";
}

// Keyed by "operator.argument", with the operator's name without namespace and trailing _, or by the argument's name.
const std::map<std::string, Hint>& hints() {
  static const std::map<std::string, Hint> all = {
      {"_mkldnn_reshape.self", packed({2, 3})},
      {"_mkldnn_transpose.self", packed({2, 3})},
      {"_to_dense.self", packed({2, 3})},
      {"mkldnn_linear.self", packed({2, 3})},
      {"mkldnn_linear.weight", packed({4, 3})},
      {"mkldnn_max_pool2d.self", packed({1, 2, 4, 4})},
      {"mkldnn_reorder_conv2d_weight.self", packed({4, 2, 3, 3})},
      {"addbmm.self", sized({3, 4})},
      {"addbmm.batch1", sized({2, 3, 2})},
      {"addbmm.batch2", sized({2, 2, 4})},
      {"addmm.self", sized({2, 4})},
      {"addmm.mat1", sized({2, 3})},
      {"addmm.mat2", sized({3, 4})},
      {"arange.start", always(1)},
      {"arange.end", [](Maker& make) { return make.isOdd() ? IValue(4.5) : IValue(5); }},
      {"as_strided.size", ints({2})},
      {"as_strided.stride", ints({1})},
      {"batch_norm.input", sized({2, 3})},
      {"empty_permuted.physical_layout", ints({1, 0})},
      {"randint.low", always(0)},
      {"randint.high", always(5)},
      {"randint_like.low", always(0)},
      {"randint_like.high", always(5)},
      {"bmm.self", sized({2, 2, 3})},
      {"bmm.mat2", sized({2, 3, 4})},
      {"dot.self", sized({3})},
      {"dot.tensor", sized({3})},
      {"empty_strided.stride", ints({1, 2})},
      {"expand.size", [](Maker& make) { return IValue(make.kind().sizes); }},
      {"fill.value", [](Maker& make) { return make.isOdd() ? IValue(make.tensor(Sizes{})) : IValue(2); }},
      {"gather.index", [](Maker& make) { return IValue(make.indices(make.kind().sizes)); }},
      {"index_put.values", sized({})},
      {"linear.bias", [](Maker& make) { return make.isOdd() ? IValue(make.tensor({4})) : IValue(); }},
      {"linear.weight", sized({4, 3})},
      {"exists.path", [](Maker&) { return IValue(savedFile()); }},
      {"load.path", [](Maker&) { return IValue(savedFile()); }},
      {"load_checkpoint.path", [](Maker&) { return IValue(savedFile()); }},
      {"load_npy.path", [](Maker&) { return IValue(savedArray()); }},
      {"load_torchscript.path", [](Maker&) { return IValue(savedModule()); }},
      {"torchscript_lines.debug_pkl",
       [](Maker&) {
         const int64_t sizes[] = {2};
         const Tensor bytes = Tensor::allocate(sizes, ScalarType::Byte);
         bytes.data_ptr<uint8_t>()[0] = ')';  // an empty tuple
         bytes.data_ptr<uint8_t>()[1] = '.';
         return IValue(bytes);
       }},
      {"load_zip.path", [](Maker&) { return IValue(savedZip()); }},
      {"save_npz.path", [](Maker&) { return IValue(writtenFile()); }},
      {"write_text.path", [](Maker&) { return IValue(writtenFile()); }},
      {"write_text.text", always(IValue("text"))},
      {"masked_fill.value", [](Maker& make) { return make.isOdd() ? IValue(make.tensor(Sizes{})) : IValue(2); }},
      {"matmul.other", sized({3, 4})},
      {"mm.self", sized({2, 3})},
      {"mm.mat2", sized({3, 4})},
      {"mv.vec", sized({3})},
      {"permute.dims",
       [](Maker& make) {
         Sizes dims;
         for (size_t i = make.kind().sizes.size(); i-- > 0;) dims.push_back(static_cast<int64_t>(i));
         return IValue(dims);
       }},
      {"read_text.path", [](Maker&) { return IValue(savedFile()); }},
      {"save.path", [](Maker&) { return IValue(savedFile() + ".copy"); }},
      {"save_npy.path", [](Maker&) { return IValue(savedArray() + ".copy"); }},
      {"select.index", always(0)},
      {"transpose.dim1", always(-1)},
      {"view.size", ints({-1})},
      {"_unsafe_view.size", ints({-1})},

      {"condition", [](Maker& make) { return IValue(make.tensor(make.kind().sizes, ScalarType::Bool)); }},
      {"index", [](Maker& make) { return IValue(make.indices({2})); }},
      {"indices",
       [](Maker& make) {
         return IValue(List<std::optional<Tensor>>{make.isOdd() ? make.tensor(make.kind().sizes, ScalarType::Bool)
                                                                : make.indices({2})});
       }},
      {"keepdim", [](Maker& make) { return IValue(make.isOdd()); }},
      {"mask", [](Maker& make) { return IValue(make.tensor(make.kind().sizes, ScalarType::Bool)); }},
      {"rounding_mode", [](Maker& make) { return IValue(make.isOdd() ? "floor" : "trunc"); }},
      {"shape", ints({-1})},
      {"start_dim", always(0)},
  };
  return all;
}

// Returns a value of [type], or nothing for an unsupported type.
std::optional<IValue> valueOf(TypePtr type, Maker& make) {
  switch (type->kind()) {
    case TypeKind::Tensor: return IValue(make.tensor());
    case TypeKind::Scalar: {
      if (make.kind().dtype == ScalarType::Bool) return IValue(true);
      return isFloatingType(make.kind().dtype) && make.isOdd() ? IValue(1.5) : IValue(2);
    }
    case TypeKind::Int:
    case TypeKind::SymInt: return IValue(1);
    case TypeKind::Float: return IValue(0.5);
    case TypeKind::Bool: return IValue(make.isOdd());
    case TypeKind::String: return IValue("");
    case TypeKind::ScalarType: return IValue(make.isOdd() ? ScalarType::Double : make.kind().dtype);
    case TypeKind::Device: return IValue(Device(DeviceType::CPU));
    case TypeKind::Function: return IValue(makeFunction(parseSchema("same(Tensor x) -> Tensor"), [](Stack&) {}));
    case TypeKind::Optional: return IValue();
    case TypeKind::List: {
      const TypeKind element = type->element()->kind();
      if (element == TypeKind::Tensor) return IValue(List<Tensor>{make.tensor(), make.tensor()});
      if (element == TypeKind::Int || element == TypeKind::SymInt) return IValue(Sizes{2, 3});
      return std::nullopt;
    }
    case TypeKind::Dict: {
      const Dict<std::string, Tensor> dict;
      dict.insert("w", make.tensor());
      return IValue(dict);
    }
    default: return std::nullopt;
  }
}

// Schemas use one name for a dimension as a number, a list and an optional.
IValue dimensionOf(TypePtr type, const Maker& make) {
  if (type->isOptional()) return make.isOdd() ? IValue() : dimensionOf(type->element(), make);
  return type->isList() ? IValue(Sizes{0}) : IValue(0);
}

std::optional<IValue> argumentOf(const std::string& op, const Argument& argument, Maker& make) {
  const auto hint = hints().find(op + "." + argument.name());
  if (hint != hints().end()) return hint->second(make);
  if (argument.name() == "dim" || argument.name() == "dim0") return dimensionOf(argument.type(), make);
  const auto general = hints().find(argument.name());
  if (general != hints().end()) return general->second(make);
  if (argument.default_value().has_value()) return argument.default_value();
  return valueOf(argument.type(), make);
}

bool runs(const OperatorHandle& op, const Stack& arguments) {
  const GeneratorState before = defaultCpuGenerator().unsafeGetGeneratorImpl()->state();
  const HiddenCalls hidden;
  Stack stack = copyValues(last(arguments, arguments.size()));
  bool done = true;
  try {
    op.callBoxed(stack);
  } catch (const Error&) {
    done = false;
  }
  if (defaultCpuGenerator().unsafeGetGeneratorImpl()->state() != before)
    defaultCpuGenerator().unsafeGetGeneratorImpl()->set_state(before);
  return done;
}

// Returns the set with a tensor for each out= argument that the results fit into; nothing if the operator does not run.
std::optional<Stack> withOuts(const OperatorHandle& op, const Stack& arguments, Maker& make) {
  const std::vector<Argument>& declared = op.schema().arguments();
  for (const ScalarType dtype : {make.kind().dtype, ScalarType::Float, ScalarType::Bool, ScalarType::Long}) {
    for (const Sizes& sizes : {make.kind().sizes, Sizes{0}}) {
      Stack filled = arguments;
      bool has_out = false;
      for (size_t i = 0; i < declared.size(); ++i) {
        if (!declared[i].is_out()) continue;
        has_out = true;
        filled[i] = make.tensor(sizes, dtype);
      }
      if (runs(op, filled)) return filled;
      if (!has_out) return std::nullopt;
    }
  }
  return std::nullopt;
}

bool isFinite(const Tensor& tensor) {
  return visitScalarType(kAllTypes, tensor.dtype(), "a sample", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* data = tensor.data_ptr<T>();
    return std::all_of(data, data + tensor.numel(), [](const T& value) {
      if constexpr (std::is_integral_v<T>) {
        return true;
      } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        return std::isfinite(static_cast<float>(value));
      } else {
        return std::isfinite(std::abs(value));
      }
    });
  });
}

// Keyed by the operator's name: its calls in the kept cases of tests/numerics.
const std::map<std::string, std::vector<const numerics::Case*>>& keptCases() {
  static const auto files = [] {
    const HiddenCalls hidden;
    return numerics::readCaseFiles(BOXCAR_NUMERICS_DATA);
  }();
  static const auto cases = [] {
    std::map<std::string, std::vector<const numerics::Case*>> by_name;
    for (const auto& file : files) {
      for (const numerics::Case& one : file->cases()) by_name[one.op()].push_back(&one);
    }
    return by_name;
  }();
  return cases;
}

std::vector<Stack> argumentsOfKeptCases(const OperatorHandle& op) {
  std::vector<Stack> samples;
  const auto found = keptCases().find(toString(op));
  if (found == keptCases().end()) return samples;
  for (const numerics::Case* one : found->second) {
    if (one->isError()) continue;
    numerics::CaseArguments arguments = one->makeArguments(op.schema());
    if (std::ranges::all_of(arguments.storages, isFinite) && runs(op, arguments.values)) {
      samples.push_back(std::move(arguments.values));
    }
  }
  return samples;
}

}  // namespace

std::vector<Stack> sampleArguments(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  std::string name = schema.name().substr(schema.name().find("::") + 2);
  if (name.size() > 1 && name.ends_with('_') && !name.ends_with("__")) name.pop_back();
  std::vector<Stack> samples;
  for (size_t i = 0; i < kinds().size(); ++i) {
    for (const bool is_odd : {false, true}) {
      Maker make(kinds()[i], is_odd);
      Stack arguments;
      for (const Argument& argument : schema.arguments()) {
        const auto value = argument.is_out() ? std::optional(IValue()) : argumentOf(name, argument, make);
        if (!value.has_value()) return argumentsOfKeptCases(op);
        arguments.push_back(*value);
      }
      if (const auto filled = withOuts(op, arguments, make)) samples.push_back(*filled);
    }
  }
  return samples.empty() ? argumentsOfKeptCases(op) : samples;
}

bool needsHistory(const OperatorHandle& op) {
  const std::string& name = op.schema().name();
  return name == "aten::backward" || name == "aten::_backward" || name == "aten::retain_grad" ||
         name == "aten::register_hook";
}

std::vector<Stack> keptArguments(const OperatorHandle& op) {
  std::vector<Stack> kept;
  const auto found = keptCases().find(toString(op));
  if (found == keptCases().end()) return kept;
  for (const numerics::Case* one : found->second) kept.push_back(one->makeArguments(op.schema()).values);
  return kept;
}

}  // namespace boxcar
