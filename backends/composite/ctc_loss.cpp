#include <boxcar/backends/composite/host_values.h>
#include <boxcar/backends/composite/reduced_loss.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstdlib>
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

// [alphas] moved by [states] to the right, or to the left if it is negative.
Tensor shifted(const Tensor& alphas, int64_t states) {
  if (alphas.size(1) < std::abs(states)) return boxcar::full_like(alphas, kNoPath);
  return boxcar::constant_pad_nd(alphas, dimVector(states, -states), kNoPath);
}

struct States {
  Tensor labels;         // the class of each state, [batch, states]: a label in every second one
  Tensor probabilities;  // their logarithms, [batch, steps, states]
  Tensor skips;          // whether the state before may be skipped, [batch, states]

  // [longest]: of [target_lengths].
  States(const Tensor& log_probs, const Tensor& targets, IntSpan target_lengths, int64_t longest, int64_t blank) {
    const Device device = log_probs.device();
    const int64_t batch = log_probs.size(1);
    const int64_t states = 2 * longest + 1;
    labels = boxcar::full(dimVector(batch, states), blank, ScalarType::Long, std::nullopt, device);
    if (longest > 0) {
      Tensor odd = boxcar::slice(labels, 1, 1, std::nullopt, 2);
      boxcar::copy_(odd, paddedTargets(targets, target_lengths, longest, blank, device));
    }
    const DimVector sizes = dimVector(batch, log_probs.size(0), states);
    probabilities =
        boxcar::gather(boxcar::transpose(log_probs, 0, 1), 2, boxcar::expand(boxcar::unsqueeze(labels, 1), sizes));

    // A blank may be skipped between two labels that differ. The blanks themselves are equal, and are not skipped to.
    skips = boxcar::zeros(dimVector(batch, states), ScalarType::Bool, std::nullopt, device);
    if (states > 2) {
      Tensor from_third = boxcar::narrow(skips, 1, 2, states - 2);
      boxcar::copy_(from_third,
                    boxcar::ne(boxcar::narrow(labels, 1, 2, states - 2), boxcar::narrow(labels, 1, 0, states - 2)));
      Tensor even = boxcar::slice(skips, 1, 0, std::nullopt, 2);
      boxcar::fill_(even, false);
    }
  }
};

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

  const States automaton(log_probs, targets, target_lengths, longest, blank);
  const Tensor& skips = automaton.skips;
  const Tensor& probabilities = automaton.probabilities;

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
  const Tensor values = boxcar::contiguous(resolved(boxcar::to(lengths, Device(DeviceType::CPU), ScalarType::Long)));
  const int64_t* first = values.const_data_ptr<int64_t>();
  return {first, first + values.numel()};
}

Pair ctcForwardTensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                      const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  return ctcForward(log_probs, targets, lengthsOf("input_lengths", input_lengths),
                    lengthsOf("target_lengths", target_lengths), blank, zero_infinity);
}

// The backward probabilities, [batch, steps, states]: those of the rest of each sequence, its state's own label
// included.
Tensor backwardProbabilities(const States& automaton, IntSpan input_lengths, IntSpan target_lengths) {
  const Tensor& probabilities = automaton.probabilities;
  const Device device = probabilities.device();
  const int64_t batch = probabilities.size(0);
  const int64_t steps = probabilities.size(1);
  const int64_t states = probabilities.size(2);
  // A sequence ends with its last label or the blank after it, at its last step.
  std::vector<int64_t> ends;
  for (const int64_t length : target_lengths) {
    for (int64_t i = 0; i < states; ++i) ends.push_back(i == 2 * length || i == 2 * length - 1 ? 1 : 0);
  }
  const Tensor may_end = boxcar::reshape(boxcar::ne(tensorOf<int64_t>(ends, device), 0), dimVector(batch, states));
  const Tensor lengths = boxcar::unsqueeze(tensorOf<int64_t>(input_lengths, device), 1);
  const Tensor skips_to = states > 2
                              ? boxcar::constant_pad_nd(automaton.skips, dimVector(int64_t{-2}, int64_t{2}), false)
                              : automaton.skips;
  Tensor now = boxcar::full(dimVector(batch, states), kNoPath, probabilities.scalar_type(), std::nullopt, device);
  std::vector<Tensor> betas(static_cast<size_t>(steps));
  for (int64_t t = steps - 1; t >= 0; --t) {
    checkStop();
    const Tensor stays = boxcar::logaddexp(now, shifted(now, -1));
    const Tensor rest = boxcar::logaddexp(stays, boxcar::where(skips_to, shifted(now, -2), kNoPath));
    const Tensor ending = boxcar::logical_and(may_end, boxcar::eq(lengths, t + 1));
    now = boxcar::add(boxcar::masked_fill(rest, ending, 0), boxcar::select(probabilities, 1, t));
    betas[static_cast<size_t>(t)] = now;
  }
  return boxcar::stack(betas, 1);
}

// As PyTorch's, this is the gradient for log_probs that are the result of a log_softmax, whose own gradient adds what
// is missing here.
Tensor ctcBackward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths,
                   IntSpan target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank,
                   bool zero_infinity) {
  constexpr std::string_view kName = "_ctc_loss_backward";
  checkCtc(log_probs, targets, input_lengths, target_lengths, blank);
  const Device device = log_probs.device();
  const int64_t steps = log_probs.size(0);
  const int64_t batch = log_probs.size(1);
  const int64_t longest = target_lengths.empty() ? 0 : std::ranges::max(target_lengths);
  const int64_t states = 2 * longest + 1;
  BOXCAR_CHECK(
      grad.numel() == batch && neg_log_likelihood.numel() == batch &&
          std::ranges::equal(log_alpha.sizes(), dimVector(batch, steps, states)),
      "{}: expected grad and neg_log_likelihood for a batch of {} and log_alpha of size [{}, {}, {}], but they "
      "are of size {}, {} and {}",
      kName, batch, batch, steps, states, meta::listOf(grad.sizes()), meta::listOf(neg_log_likelihood.sizes()),
      meta::listOf(log_alpha.sizes()));
  if (log_probs.is_meta() || log_probs.numel() == 0) return boxcar::zeros_like(log_probs);
  const States automaton(log_probs, targets, target_lengths, longest, blank);
  const Tensor beta = backwardProbabilities(automaton, input_lengths, target_lengths);
  const Tensor loss = boxcar::reshape(neg_log_likelihood, dimVector(batch, int64_t{1}, int64_t{1}));
  // The probability of each state at each step, given the labels. Both directions count the state's own label. PyTorch
  // leaves log_alpha unwritten where no path goes on.
  const Tensor alpha = boxcar::masked_fill(log_alpha, boxcar::eq(beta, kNoPath), kNoPath);
  const Tensor both = boxcar::sub(boxcar::add(alpha, beta), automaton.probabilities);
  const Tensor expected = boxcar::masked_fill(boxcar::exp(boxcar::add(both, loss)), boxcar::eq(alpha, kNoPath), 0);
  const Tensor by_sequence = boxcar::transpose(log_probs, 0, 1);
  const Tensor places = boxcar::expand(boxcar::unsqueeze(automaton.labels, 1), dimVector(batch, steps, states));
  const Tensor of_classes = boxcar::scatter_add(boxcar::zeros_like(by_sequence), 2, places, expected);
  Tensor result = boxcar::mul(boxcar::sub(boxcar::exp(by_sequence), of_classes),
                              boxcar::reshape(grad, dimVector(batch, int64_t{1}, int64_t{1})));
  // Steps after the end have no part in the loss.
  const Tensor lengths = boxcar::unsqueeze(tensorOf<int64_t>(input_lengths, device), 1);
  Tensor is_after =
      boxcar::unsqueeze(boxcar::ge(boxcar::arange(steps, ScalarType::Long, std::nullopt, device), lengths), 2);
  const Tensor impossible = boxcar::isinf(loss);
  result = boxcar::masked_fill(result, impossible, zero_infinity ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  return boxcar::contiguous(boxcar::transpose(boxcar::masked_fill(result, is_after, 0), 0, 1));
}
Tensor ctcBackwardTensor(const Tensor& grad, const Tensor& log_probs, const Tensor& targets,
                         const Tensor& input_lengths, const Tensor& target_lengths, const Tensor& neg_log_likelihood,
                         const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  return ctcBackward(grad, log_probs, targets, lengthsOf("input_lengths", input_lengths),
                     lengthsOf("target_lengths", target_lengths), neg_log_likelihood, log_alpha, blank, zero_infinity);
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
  m.impl("_ctc_loss_backward", BOXCAR_FN(ctcBackward));
  m.impl("_ctc_loss_backward.Tensor", BOXCAR_FN(ctcBackwardTensor));
}

}  // namespace boxcar::composite
