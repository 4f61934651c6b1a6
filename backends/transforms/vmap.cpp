#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/deferred_tape.h>
#include <boxcar/backends/transforms/vmap.h>
#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <string>
#include <utility>

namespace boxcar::transforms {
namespace {

using autograd::isSequence;

// Checks that [dims], if it is a list or a tuple, has an entry for each of [count] values.
void checkDims(std::string_view what, std::string_view which, const IValue& dims, size_t count) {
  if (!isSequence(dims)) return;
  BOXCAR_CHECK(dims.length() == count, "{}: {} has {} entries for {} {}", what, which, dims.length(), count,
               which == "in_dims" ? "arguments" : "results");
}

// That of the i-th value: its own, or the one for all.
IValue dimAt(const IValue& dims, size_t i) { return isSequence(dims) ? dims.elementAt(i) : dims; }

// A tuple or a list of [elements], of the kind that [value] is.
IValue sequenceLike(const IValue& value, std::vector<IValue> elements) {
  if (value.isTuple()) return Tuple(std::move(elements));
  if (value.isTensorList()) {
    List<Tensor> tensors;
    for (const IValue& element : elements) tensors.push_back(element.toTensor());
    return tensors;
  }
  return GenericList(makeIntrusive<GenericListObject>(std::move(elements)));
}

// A dict with the keys of [value], whose i-th element is replaced by map(i, element).
template <class Map>
IValue dictLike(const IValue& value, const Map& map) {
  const GenericDict dict = value.toGenericDict().copy();
  for (size_t i = 0; i < dict.size(); ++i) {
    const auto [key, element] = dict.entryAt(i);
    dict.insert_or_assign(key, map(i, element));
  }
  return dict;
}

// The entry for the i-th key of [dict]: of a dict with the same keys, or one for all.
IValue dimOfKey(std::string_view what, std::string_view which, const IValue& dims, const GenericDict& dict, size_t i) {
  if (!dims.isGenericDict()) return dims;
  const GenericDict each = dims.toGenericDict();
  const IValue key = dict.entryAt(i).first;
  BOXCAR_CHECK(each.size() == dict.size() && each.contains(key),
               "{}: {} is a dict without the keys of the value: it has {} entries, and none or another for {}; give it "
               "the same {} keys, or one entry for all",
               what, which, each.size(), toString(key), dict.size());
  return each.at(key);
}

// The tensors of a call that have a batch, each with the dimension where it is.
class BatchedInputs final {
 public:
  BatchedInputs(std::string_view what, const std::vector<IValue>& args, const IValue& in_dims) : what_(what) {
    checkDims(what, "in_dims", in_dims, args.size());
    args_.reserve(args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      place_ = std::to_string(i);
      args_.push_back(take(args[i], dimAt(in_dims, i)));
    }
    BOXCAR_CHECK(
        batch_.has_value(),
        "{}: at least one argument must be vmapped over, but in_dims is None for each, or there are no tensors", what);
  }

  int64_t batch() const noexcept { return *batch_; }
  // The arguments of the slices from [first] on, which are batched at [level].
  std::vector<IValue> at(uint64_t level, int64_t first, int64_t count) const {
    std::vector<IValue> batched;
    batched.reserve(args_.size());
    size_t next = 0;
    for (const IValue& arg : args_) {
      batched.push_back(mapTensors(arg, [&](const Tensor& tensor) {
        if (!is_batched_[next++]) return tensor;
        return makeBatched(count == *batch_ ? tensor : boxcar::narrow(tensor, 0, first, count), level);
      }));
    }
    return batched;
  }

 private:
  IValue take(const IValue& value, const IValue& dim) {
    if (value.isTensor() && value.toTensor().defined()) {
      const Tensor& tensor = value.toTensor();
      is_batched_.push_back(!dim.isNone());
      if (dim.isNone()) return tensor;
      BOXCAR_CHECK(dim.isInt(), "{}: in_dims of argument {} must be an int or None, not {}", what_, place_,
                   toString(dim));
      const int64_t at = dim.toInt();
      BOXCAR_CHECK(at >= -tensor.dim() && at < tensor.dim(),
                   "{}: Got in_dim={} for argument {}, but it is a Tensor of dimensionality {}, so expected in_dim to "
                   "satisfy -{} <= in_dim < {}",
                   what_, at, place_, tensor.dim(), tensor.dim(), tensor.dim());
      const int64_t size = tensor.size(at);
      BOXCAR_CHECK(
          !batch_.has_value() || *batch_ == size,
          "{}: Expected all tensors to have the same size in the mapped dimension, but argument {} has {}, and "
          "one before {}",
          what_, place_, size, *batch_);
      batch_ = size;
      return at == 0 ? tensor : boxcar::movedim(tensor, at, 0);
    }
    if (value.isTensor()) {
      is_batched_.push_back(false);
      return value;
    }
    if (value.isTuple() || value.isTensorList() || value.isGenericList()) {
      checkDims(what_, "in_dims", dim, value.length());
      std::vector<IValue> elements;
      for (size_t i = 0; i < value.length(); ++i) elements.push_back(take(value.elementAt(i), dimAt(dim, i)));
      return sequenceLike(value, std::move(elements));
    }
    if (value.isGenericDict()) {
      const GenericDict dict = value.toGenericDict();
      return dictLike(value, [&](size_t i, const IValue& element) {
        return take(element, dimOfKey(what_, "in_dims", dim, dict, i));
      });
    }
    BOXCAR_CHECK(
        dim.isNone(),
        "{}: Got in_dim={} for argument {}, but it is no Tensor. Give in_dims with None for it: it is then the "
        "same for all slices",
        what_, toString(dim), place_);
    return value;
  }

  std::string_view what_;
  std::string place_;
  std::optional<int64_t> batch_;
  std::vector<IValue> args_;
  std::vector<bool> is_batched_;
};

// A result of all slices: the batch of [level] moves to where out_dims says.
IValue takeOut(std::string_view what, const IValue& value, const IValue& dim, const VmapLevel& level, int64_t batch) {
  if (value.isTensor() && isSequence(dim)) {
    checkDims(what, "out_dims", dim, 1);
    return takeOut(what, value, dim.elementAt(0), level, batch);
  }
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    const Tensor inner = tensor.defined() ? withoutLevel(tensor, level.level()) : Tensor();
    if (dim.isNone()) {
      BOXCAR_CHECK(!inner.defined(), "{}: a result is vmapped over, but its out_dims is None: give it a dimension",
                   what);
      return tensor;
    }
    BOXCAR_CHECK(dim.isInt(), "{}: out_dims must be an int or None for each result, not {}", what, toString(dim));
    BOXCAR_CHECK(tensor.defined(), "{}: the function returned an undefined tensor", what);
    const Tensor all = inner.defined() ? inner : expandedBy(tensor, batch);
    const int64_t at = dim.toInt();
    BOXCAR_CHECK(at >= -all.dim() && at < all.dim(),
                 "{}: out_dims has {}, but with the batch the result has {} dimensions", what, at, all.dim());
    return at == 0 ? all : boxcar::movedim(all, 0, at);
  }
  if (value.isTuple() || value.isTensorList() || value.isGenericList()) {
    checkDims(what, "out_dims", dim, value.length());
    std::vector<IValue> elements;
    for (size_t i = 0; i < value.length(); ++i)
      elements.push_back(takeOut(what, value.elementAt(i), dimAt(dim, i), level, batch));
    return sequenceLike(value, std::move(elements));
  }
  if (value.isGenericDict()) {
    const GenericDict dict = value.toGenericDict();
    return dictLike(value, [&](size_t i, const IValue& element) {
      return takeOut(what, element, dimOfKey(what, "out_dims", dim, dict, i), level, batch);
    });
  }
  BOXCAR_CHECK(!value.isNone(), "{}: the function must return tensors, but it returned nothing", what);
  BOXCAR_FAIL("{}: the function must only return tensors, but it returned {}", what, toString(value));
}

// The results of chunks, one after the other.
IValue joinedChunks(const std::vector<IValue>& chunks, const IValue& dim) {
  const IValue& first = chunks[0];
  const auto part = [&](size_t i, const IValue& of_part) {
    std::vector<IValue> parts;
    for (const IValue& chunk : chunks) parts.push_back(chunk.elementAt(i));
    return joinedChunks(parts, of_part);
  };
  if (first.isTensor() && isSequence(dim)) return joinedChunks(chunks, dim.elementAt(0));
  if (first.isTensor()) {
    if (dim.isNone()) return first;
    std::vector<Tensor> tensors;
    for (const IValue& chunk : chunks) tensors.push_back(chunk.toTensor());
    return boxcar::cat(tensors, dim.toInt());
  }
  if (first.isGenericDict()) {
    return dictLike(first, [&](size_t i, const IValue&) {
      std::vector<IValue> parts;
      for (const IValue& chunk : chunks) parts.push_back(chunk.toGenericDict().entryAt(i).second);
      return joinedChunks(parts, dimOfKey("vmap()", "out_dims", dim, first.toGenericDict(), i));
    });
  }
  std::vector<IValue> elements;
  for (size_t i = 0; i < first.length(); ++i) {
    elements.push_back(part(i, isSequence(dim) ? dim.elementAt(i) : dim));
  }
  return sequenceLike(first, std::move(elements));
}

// Lets each chunk draw the same numbers from the CPU's default generator, where all slices are to have the same.
class SameDraws final {
 public:
  explicit SameDraws(bool is_wanted) {
    if (!is_wanted) return;
    generator_ = defaultGenerator(DeviceType::CPU).object();
    state_ = generator_->state();
  }
  void begin() const {
    if (generator_) generator_->set_state(state_);
  }

 private:
  IntrusivePtr<GeneratorImpl> generator_;
  GeneratorState state_;
};

}  // namespace

IValue vmapCall(std::string_view what, const std::function<IValue(std::vector<IValue> args)>& function,
                const std::vector<IValue>& args, const VmapOptions& options) {
  BOXCAR_CHECK(!options.chunk_size.has_value() || *options.chunk_size > 0, "{}: chunk_size must be positive, not {}",
               what, options.chunk_size.value_or(0));
  const BatchedInputs inputs(what, args, options.in_dims);
  const int64_t most = options.chunk_size.value_or(inputs.batch());
  const bool repeats_draws = options.randomness == Randomness::kSame && most < inputs.batch();
  BOXCAR_CHECK(
      !repeats_draws || DeferredTape::current() == nullptr,
      "{}: inside deferred_init() chunks cannot draw the same numbers, as each draws when it is made; leave out "
      "chunk_size",
      what);
  const SameDraws draws(repeats_draws);
  std::vector<IValue> chunks;
  int64_t first = 0;
  do {
    draws.begin();
    const int64_t count = std::min(most, inputs.batch() - first);
    const VmapLevel level(count, options.randomness, options.transform);
    const IValue result = function(inputs.at(level.level(), first, count));
    // As it is outside of the level.
    const OuterVmapLevels outer(vmapLevels().size() - 1);
    IValue taken = takeOut(what, result, options.out_dims, level, count);
    if (count == inputs.batch()) return taken;
    chunks.push_back(std::move(taken));
    first += most;
  } while (first < inputs.batch());
  return joinedChunks(chunks, options.out_dims);
}

TensorsFunction vmap(TensorsFunction function, std::vector<std::optional<int64_t>> in_dims,
                     std::vector<std::optional<int64_t>> out_dims, Randomness randomness,
                     std::optional<int64_t> chunk_size) {
  const auto dims = [](const std::vector<std::optional<int64_t>>& given) {
    if (given.empty()) return IValue(int64_t{0});
    std::vector<IValue> each;
    for (const auto& dim : given) each.emplace_back(dim);
    return IValue(Tuple(std::move(each)));
  };
  VmapOptions options{dims(in_dims), dims(out_dims), randomness, chunk_size};
  return [function = std::move(function), options = std::move(options)](const std::vector<Tensor>& args) {
    const auto call = [&](const std::vector<IValue>& batched) {
      std::vector<Tensor> tensors;
      for (const IValue& value : batched) tensors.push_back(value.toTensor());
      std::vector<IValue> results;
      for (const Tensor& tensor : function(tensors)) results.emplace_back(tensor);
      return IValue(Tuple(std::move(results)));
    };
    const IValue found = vmapCall("vmap()", call, std::vector<IValue>(args.begin(), args.end()), options);
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < found.length(); ++i) tensors.push_back(found.elementAt(i).toTensor());
    return tensors;
  };
}

}  // namespace boxcar::transforms
