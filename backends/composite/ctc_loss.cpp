#include <boxcar/backends/composite/host_values.h>
#include <boxcar/backends/composite/reduced_loss.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

// Connectionist temporal classification. A sequence's labels, with blanks before, between and after them, are the
// states of an automaton; the forward probabilities of all states and sequences are computed step by step.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using Pair = std::tuple<Tensor, Tensor>;

// The logarithm of the probability 0.
constexpr double kNoPath = -std::numeric_limits<double>::infinity();

// Throws Error if the arguments do not fit. [log_probs] is [steps, batch, classes].
void checkCtc(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
              int64_t blank) {
  constexpr std::string_view kName = "ctc_loss";
  BOXCAR_CHECK(log_probs.dim() == 3 &&
                   (log_probs.scalar_type() == ScalarType::Float || log_probs.scalar_type() == ScalarType::Double),
               "{}: expected log_probs [steps, batch, classes] of float32 or float64, but got {} of size {}", kName,
               dtypeName(log_probs.scalar_type()), meta::listOf(log_probs.sizes()));
  BOXCAR_CHECK(targets.scalar_type() == ScalarType::Long || targets.scalar_type() == ScalarType::Int,
               "{}: expected targets of int64 or int32, but got {}", kName, dtypeName(targets.scalar_type()));
  const int64_t steps = log_probs.size(0);
  const int64_t batch = log_probs.size(1);
  BOXCAR_CHECK(blank >= 0 && blank < log_probs.size(2), "{}: blank must be one of {} classes, but it is {}", kName,
               log_probs.size(2), blank);
  const auto expected = static_cast<size_t>(batch);
  BOXCAR_CHECK(input_lengths.size() == expected && target_lengths.size() == expected,
               "{}: expected input_lengths and target_lengths for a batch of {}, but got {} and {}", kName, batch,
               input_lengths.size(), target_lengths.size());
  BOXCAR_CHECK(targets.dim() == 1 || (targets.dim() == 2 && targets.size(0) == batch),
               "{}: expected targets [batch, labels], or of one dimension, for a batch of {}, but got size {}", kName,
               batch, meta::listOf(targets.sizes()));
  int64_t room = targets.dim() == 1 ? targets.numel() : targets.size(1);
  for (size_t i = 0; i < expected; ++i) {
    BOXCAR_CHECK(input_lengths[i] >= 0 && input_lengths[i] <= steps,
                 "{}: input_lengths must be from 0 to the {} steps of log_probs, but element {} is {}", kName, steps, i,
                 input_lengths[i]);
    BOXCAR_CHECK(target_lengths[i] >= 0 && target_lengths[i] <= room,
                 "{}: target_lengths must not be negative and fit targets of size {}, but element {} is {}", kName,
                 meta::listOf(targets.sizes()), i, target_lengths[i]);
    if (targets.dim() == 1) room -= target_lengths[i];
  }
  BOXCAR_CHECK(targets.dim() == 2 || room == 0, "{}: target_lengths must add up to the {} targets", kName,
               targets.numel());
}

// Returns the labels of each sequence, [batch, longest], filled up with [blank].
Tensor paddedTargets(const Tensor& targets, IntSpan lengths, int64_t longest, int64_t blank, Device device) {
  const auto batch = static_cast<int64_t>(lengths.size());
  std::vector<int64_t> places;
  std::vector<int64_t> counts;
  int64_t start = 0;
  for (const int64_t length : lengths) {
    for (int64_t i = 0; i < longest; ++i) {
      counts.push_back(i < length ? 1 : 0);
      places.push_back(i < length ? start + i : 0);
    }
    start += targets.dim() == 1 ? length : targets.size(1);
  }
  const Tensor flat = boxcar::reshape(boxcar::to(targets, device, ScalarType::Long), dimVector(targets.numel()));
  const Tensor labels = boxcar::index_select(flat, 0, tensorOf<int64_t>(places, device));
  const Tensor counted = boxcar::where(boxcar::ne(tensorOf<int64_t>(counts, device), 0), labels, blank);
  return boxcar::reshape(counted, dimVector(batch, longest));
}

// [alphas] moved by [states] to the right.
Tensor shifted(const Tensor& alphas, int64_t states) {
  const int64_t length = alphas.size(1);
  if (length < states) return boxcar::full_like(alphas, kNoPath);
  return boxcar::narrow(boxcar::constant_pad_nd(alphas, dimVector(states, int64_t{0}), kNoPath), 1, 0, length);
}

Pair ctcForward(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
                int64_t blank, [[maybe_unused]] bool zero_infinity) {
  checkCtc(log_probs, targets, input_lengths, target_lengths, blank);
  const Device device = log_probs.device();
  const ScalarType type = log_probs.scalar_type();
  const int64_t steps = log_probs.size(0);
  const int64_t batch = log_probs.size(1);
  const int64_t longest = target_lengths.empty() ? 0 : std::ranges::max(target_lengths);
  const int64_t states = 2 * longest + 1;
  // Without values, only sizes matter.
  if (log_probs.is_meta()) {
    return {boxcar::empty(dimVector(batch), type, std::nullopt, device),
            boxcar::empty(dimVector(batch, steps, states), type, std::nullopt, device)};
  }
  if (batch == 0 || steps == 0) {
    std::vector<double> losses;
    for (const int64_t length : target_lengths) losses.push_back(length == 0 ? 0 : -kNoPath);
    return {boxcar::to(tensorOf<double>(losses, device), type),
            boxcar::empty(dimVector(batch, steps, states), type, std::nullopt, device)};
  }

  // The class of each state: a label in every second one.
  const Tensor labels = boxcar::full(dimVector(batch, states), blank, ScalarType::Long, std::nullopt, device);
  if (longest > 0) {
    Tensor odd = boxcar::slice(labels, 1, 1, std::nullopt, 2);
    boxcar::copy_(odd, paddedTargets(targets, target_lengths, longest, blank, device));
  }
  const Tensor by_sequence = boxcar::transpose(log_probs, 0, 1);
  const Tensor probabilities =
      boxcar::gather(by_sequence, 2, boxcar::expand(boxcar::unsqueeze(labels, 1), dimVector(batch, steps, states)));

  // A blank may be skipped between two labels that differ. The blanks themselves are equal, and are not skipped to.
  Tensor skips = boxcar::zeros(dimVector(batch, states), ScalarType::Bool, std::nullopt, device);
  if (states > 2) {
    Tensor from_third = boxcar::narrow(skips, 1, 2, states - 2);
    boxcar::copy_(from_third,
                  boxcar::ne(boxcar::narrow(labels, 1, 2, states - 2), boxcar::narrow(labels, 1, 0, states - 2)));
    Tensor even = boxcar::slice(skips, 1, 0, std::nullopt, 2);
    boxcar::fill_(even, false);
  }

  // A sequence starts with a blank or its first label, if it has one.
  std::vector<int64_t> starts;
  for (const int64_t length : target_lengths) {
    for (int64_t i = 0; i < states; ++i) starts.push_back(i == 0 || (i == 1 && length > 0) ? 1 : 0);
  }
  const Tensor may_start = boxcar::reshape(boxcar::ne(tensorOf<int64_t>(starts, device), 0), dimVector(batch, states));
  Tensor now = boxcar::where(may_start, boxcar::select(probabilities, 1, 0), kNoPath);
  std::vector<Tensor> alphas = {now};
  for (int64_t t = 1; t < steps; ++t) {
    checkStop();
    const Tensor stays = boxcar::logaddexp(now, shifted(now, 1));
    const Tensor skipping = boxcar::where(skips, shifted(now, 2), kNoPath);
    now = boxcar::add(boxcar::logaddexp(stays, skipping), boxcar::select(probabilities, 1, t));
    alphas.push_back(now);
  }
  const Tensor log_alpha = boxcar::stack(alphas, 1);

  // A sequence ends with its last label or the blank after it, at its last step.
  std::vector<Tensor> losses;
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t length = target_lengths[static_cast<size_t>(i)];
    const int64_t last_step = input_lengths[static_cast<size_t>(i)] - 1;
    if (last_step < 0) {
      losses.push_back(boxcar::scalar_tensor(length == 0 ? 0 : -kNoPath, type, std::nullopt, device));
      continue;
    }
    const Tensor last = boxcar::select(boxcar::select(log_alpha, 0, i), 0, last_step);
    const Tensor blank_last = boxcar::select(last, 0, 2 * length);
    losses.push_back(
        boxcar::neg(length == 0 ? blank_last : boxcar::logaddexp(blank_last, boxcar::select(last, 0, 2 * length - 1))));
  }
  return {boxcar::stack(losses, 0), log_alpha};
}

// Returns the elements of an integer tensor.
std::vector<int64_t> lengthsOf(std::string_view name, const Tensor& lengths) {
  BOXCAR_CHECK(lengths.dim() <= 1 && isIntegralType(lengths.scalar_type(), /*includeBool=*/false),
               "ctc_loss: {} must be integers of one dimension, but they are {} of size {}", name,
               dtypeName(lengths.scalar_type()), meta::listOf(lengths.sizes()));
  BOXCAR_CHECK(!lengths.is_meta(), "ctc_loss: {} must have values, but they are on 'meta'; move them to 'cpu'", name);
  const Tensor values = boxcar::contiguous(boxcar::to(lengths, Device(DeviceType::CPU), ScalarType::Long));
  const int64_t* first = values.const_data_ptr<int64_t>();
  return {first, first + values.numel()};
}

Pair ctcForwardTensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                      const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  return ctcForward(log_probs, targets, lengthsOf("input_lengths", input_lengths),
                    lengthsOf("target_lengths", target_lengths), blank, zero_infinity);
}

Tensor ctcLoss(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
               int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool is_batch = log_probs.dim() == 3;
  const Tensor batch = is_batch ? log_probs : boxcar::unsqueeze(log_probs, 1);
  Tensor losses = std::get<0>(boxcar::_ctc_loss(batch, targets, input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) losses = boxcar::masked_fill(losses, boxcar::eq(losses, -kNoPath), 0);
  if (meta::toReduction(reduction) == meta::Reduction::kMean) {
    std::vector<int64_t> labels;
    for (const int64_t length : target_lengths) labels.push_back(std::max<int64_t>(length, 1));
    losses = boxcar::div(losses, tensorOf<int64_t>(labels, losses.device()));
  }
  if (meta::toReduction(reduction) == meta::Reduction::kNone) return is_batch ? losses : boxcar::squeeze(losses, 0);
  return reducedLoss(losses, reduction);
}
Tensor ctcLossTensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                     const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  return ctcLoss(log_probs, targets, lengthsOf("input_lengths", input_lengths),
                 lengthsOf("target_lengths", target_lengths), blank, reduction, zero_infinity);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("ctc_loss.IntList", BOXCAR_FN(ctcLoss));
  m.impl("ctc_loss.Tensor", BOXCAR_FN(ctcLossTensor));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_ctc_loss", BOXCAR_FN(ctcForward));
  m.impl("_ctc_loss.Tensor", BOXCAR_FN(ctcForwardTensor));
}

}  // namespace boxcar::composite
