#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// Recurrent networks of products and pointwise operators. The products with the input are made for all steps at once.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalTensor = std::optional<Tensor>;
using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

enum class Cell { kLstm, kGru, kTanh, kRelu };

std::string_view nameOf(Cell cell) {
  switch (cell) {
    case Cell::kLstm: return "lstm";
    case Cell::kGru: return "gru";
    case Cell::kTanh: return "rnn_tanh";
    default: return "rnn_relu";
  }
}

// The blocks of rows in weights.
int64_t gatesOf(Cell cell) { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }

// The parameters of one layer in one direction. The projection, of an LSTM, may be undefined.
struct Weights {
  Tensor input;
  Tensor hidden;
  OptionalTensor input_bias;
  OptionalTensor hidden_bias;
  Tensor projection;
};

struct State {
  Tensor hidden;
  Tensor cell;  // only of an LSTM
};

// Returns the state after a step. [from_input] is the product with the step's input, with its bias.
State step(Cell kind, const Tensor& from_input, const State& before, const Weights& weights) {
  const Tensor from_hidden = boxcar::linear(before.hidden, weights.hidden, weights.hidden_bias);
  if (kind == Cell::kGru) {
    const std::vector<Tensor> in = boxcar::chunk(from_input, 3, -1);
    const std::vector<Tensor> past = boxcar::chunk(from_hidden, 3, -1);
    const Tensor reset = boxcar::sigmoid(boxcar::add(past[0], in[0]));
    const Tensor update = boxcar::sigmoid(boxcar::add(past[1], in[1]));
    const Tensor fresh = boxcar::tanh(boxcar::addcmul(in[2], past[2], reset));
    return {boxcar::addcmul(fresh, boxcar::sub(before.hidden, fresh), update), {}};
  }
  const Tensor sum = boxcar::add(from_hidden, from_input);
  if (kind == Cell::kTanh) return {boxcar::tanh(sum), {}};
  if (kind == Cell::kRelu) return {boxcar::relu(sum), {}};
  const std::vector<Tensor> gates = boxcar::chunk(sum, 4, -1);
  const Tensor added = boxcar::mul(boxcar::sigmoid(gates[0]), boxcar::tanh(gates[2]));
  const Tensor cell = boxcar::addcmul(added, boxcar::sigmoid(gates[1]), before.cell);
  const Tensor hidden = boxcar::mul(boxcar::sigmoid(gates[3]), boxcar::tanh(cell));
  return {weights.projection.defined() ? boxcar::linear(hidden, weights.projection) : hidden, cell};
}

// == Cells ==

// Throws Error unless the arguments of a cell fit: [input] is [batch, features] or [features], [hidden] likewise.
void checkCell(Cell kind, const Tensor& input, const Tensor& hidden, const Tensor& w_ih, const Tensor& w_hh) {
  const std::string_view name = nameOf(kind);
  const bool fits = (input.dim() == 1 || input.dim() == 2) && input.dim() == hidden.dim() && w_ih.dim() == 2 &&
                    w_hh.dim() == 2 && (input.dim() == 1 || input.size(0) == hidden.size(0)) &&
                    input.size(-1) == w_ih.size(1) && hidden.size(-1) == w_hh.size(1) &&
                    w_ih.size(0) == gatesOf(kind) * hidden.size(-1) && w_hh.size(0) == w_ih.size(0);
  BOXCAR_CHECK(fits,
               "{}_cell: expected an input [batch, features], a state [batch, hidden] and weights [{} * hidden, "
               "features] and [{} * hidden, hidden], but got sizes {}, {}, {} and {}",
               name, gatesOf(kind), gatesOf(kind), meta::listOf(input.sizes()), meta::listOf(hidden.sizes()),
               meta::listOf(w_ih.sizes()), meta::listOf(w_hh.sizes()));
}

template <Cell kind>
Tensor simpleCell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                  const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
  checkCell(kind, input, hx, w_ih, w_hh);
  return step(kind, boxcar::linear(input, w_ih, b_ih), {hx, {}}, {w_ih, w_hh, b_ih, b_hh, {}}).hidden;
}

Pair lstmCell(const Tensor& input, std::span<const Tensor> hx, const Tensor& w_ih, const Tensor& w_hh,
              const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
  BOXCAR_CHECK(hx.size() == 2, "lstm_cell expects two hidden states, but got {}", hx.size());
  checkCell(Cell::kLstm, input, hx[0], w_ih, w_hh);
  BOXCAR_CHECK(std::ranges::equal(hx[0].sizes(), hx[1].sizes()),
               "lstm_cell: expected hidden and cell states of one size, but got {} and {}", meta::listOf(hx[0].sizes()),
               meta::listOf(hx[1].sizes()));
  State state = step(Cell::kLstm, boxcar::linear(input, w_ih, b_ih), {hx[0], hx[1]}, {w_ih, w_hh, b_ih, b_hh, {}});
  return {std::move(state.hidden), std::move(state.cell)};
}

// == Networks ==

// A call of a network. Steps of a packed sequence have fewer and fewer rows, because sequences end.
struct Network {
  Cell kind;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train;
  bool bidirectional;
  std::vector<int64_t> batch_sizes;  // the rows of each step
  std::vector<int64_t> starts;       // and where they start

  int64_t directions() const { return bidirectional ? 2 : 1; }

  void addStep(int64_t rows) {
    starts.push_back(starts.empty() ? 0 : starts.back() + batch_sizes.back());
    batch_sizes.push_back(rows);
  }

  // Splits [params] into layers and directions. Throws Error if there is another number of them.
  std::vector<Weights> weightsOf(std::span<const Tensor> params, bool has_projections) const {
    const size_t each = (has_biases ? 4U : 2U) + (has_projections ? 1U : 0U);
    BOXCAR_CHECK(params.size() == static_cast<size_t>(num_layers * directions()) * each,
                 "{}: expected {} parameters for each of {} layers in {} directions, but got {}", nameOf(kind), each,
                 num_layers, directions(), params.size());
    // An undefined bias would count as none.
    for (const Tensor& parameter : params) meta::checkDefined(parameter);
    std::vector<Weights> weights;
    for (size_t i = 0; i < params.size(); i += each) {
      weights.push_back({params[i], params[i + 1], std::nullopt, std::nullopt, {}});
      Weights& layer = weights.back();
      if (has_biases) layer.input_bias = params[i + 2], layer.hidden_bias = params[i + 3];
      if (has_projections) layer.projection = params[i + each - 1];
    }
    return weights;
  }

  // Throws Error if the weights of a layer fit neither its input of [features] nor its state.
  void checkLayer(int64_t features, const State& state, const Weights& weights) const {
    const int64_t hidden = state.hidden.size(-1);
    const int64_t inner = kind == Cell::kLstm ? state.cell.size(-1) : hidden;
    const auto isSized = [](const Tensor& weight, int64_t rows, int64_t columns) {
      return weight.dim() == 2 && weight.size(0) == rows && weight.size(1) == columns;
    };
    const bool fits = isSized(weights.input, gatesOf(kind) * inner, features) &&
                      isSized(weights.hidden, gatesOf(kind) * inner, hidden) &&
                      (weights.projection.defined() ? isSized(weights.projection, hidden, inner) : hidden == inner);
    BOXCAR_CHECK(fits, "{}: weights of sizes {} and {} fit no layer of {} features and states of {} elements",
                 nameOf(kind), meta::listOf(weights.input.sizes()), meta::listOf(weights.hidden.sizes()), features,
                 hidden);
  }

  // Runs one layer in one direction over [rows] of all steps. Writes the last state of each sequence to [state], and
  // returns the outputs of all steps.
  Tensor runLayer(const Tensor& rows, State& state, const Weights& weights, bool backwards) const {
    checkLayer(rows.size(1), state, weights);
    const Tensor projected = boxcar::linear(rows, weights.input, weights.input_bias);
    const State first = state;
    std::vector<Tensor> outputs(batch_sizes.size());
    // Forwards, the states of sequences that end are set aside; backwards, sequences begin with their first states.
    std::vector<State> ended;
    State now = state;
    int64_t rows_now = backwards ? batch_sizes.back() : batch_sizes.front();
    now = narrowed(now, 0, rows_now);
    for (size_t i = 0; i < batch_sizes.size(); ++i) {
      checkStop();
      const size_t t = backwards ? batch_sizes.size() - 1 - i : i;
      const int64_t wanted = batch_sizes[t];
      if (wanted < rows_now) {
        ended.push_back(narrowed(now, wanted, rows_now - wanted));
        now = narrowed(now, 0, wanted);
      } else if (wanted > rows_now) {
        now = joined({now, narrowed(first, rows_now, wanted - rows_now)});
      }
      rows_now = wanted;
      now = step(kind, boxcar::narrow(projected, 0, starts[t], wanted), now, weights);
      outputs[t] = now.hidden;
    }
    ended.push_back(now);
    std::ranges::reverse(ended);
    state = ended.size() == 1 ? now : joined(ended);
    return boxcar::cat(outputs, 0);
  }

  // Runs all layers over [rows], of the steps one after the other. [states] are those of each layer and direction, and
  // become the last ones.
  Tensor run(Tensor rows, std::vector<State>& states, std::span<const Tensor> params, bool has_projections) const {
    BOXCAR_CHECK(dropout >= 0 && dropout <= 1, "{}: dropout must be from 0 to 1, but it is {}", nameOf(kind), dropout);
    const std::vector<Weights> weights = weightsOf(params, has_projections);
    for (size_t layer = 0, i = 0; layer < static_cast<size_t>(num_layers); ++layer) {
      std::vector<Tensor> directed;
      for (size_t direction = 0; direction < static_cast<size_t>(directions()); ++direction, ++i) {
        directed.push_back(runLayer(rows, states[i], weights[i], direction == 1));
      }
      rows = directed.size() == 1 ? directed[0] : boxcar::cat(directed, -1);
      if (dropout != 0 && train && layer + 1 < static_cast<size_t>(num_layers)) {
        rows = boxcar::dropout(rows, dropout, train);
      }
    }
    return rows;
  }

  static State narrowed(const State& state, int64_t start, int64_t length) {
    return {boxcar::narrow(state.hidden, 0, start, length),
            state.cell.defined() ? boxcar::narrow(state.cell, 0, start, length) : Tensor()};
  }
  static State joined(const std::vector<State>& states) {
    std::vector<Tensor> hidden;
    std::vector<Tensor> cells;
    for (const State& state : states) {
      hidden.push_back(state.hidden);
      if (state.cell.defined()) cells.push_back(state.cell);
    }
    return {boxcar::cat(hidden, 0), cells.empty() ? Tensor() : boxcar::cat(cells, 0)};
  }

  // Splits the given states, [layers * directions, batch, hidden]. [cell] may be undefined.
  std::vector<State> split(const Tensor& hidden, const Tensor& cell, int64_t batch) const {
    const int64_t count = num_layers * directions();
    for (const Tensor* state : {&hidden, &cell}) {
      if (!state->defined() && state == &cell) continue;
      BOXCAR_CHECK(state->dim() == 3 && state->size(0) == count && state->size(1) == batch,
                   "{}: expected states of size [{}, {}, hidden], but got {}", nameOf(kind), count, batch,
                   meta::listOf(state->sizes()));
    }
    std::vector<State> states;
    for (int64_t i = 0; i < count; ++i) {
      states.push_back({boxcar::select(hidden, 0, i), cell.defined() ? boxcar::select(cell, 0, i) : Tensor()});
    }
    return states;
  }
};

// The outputs and last states of [network] for [rows]; the cells' are undefined unless it is an LSTM.
Triple runNetwork(const Network& network, const Tensor& rows, const Tensor& hidden, const Tensor& cell,
                  std::span<const Tensor> params) {
  const int64_t batch = network.batch_sizes.front();
  BOXCAR_CHECK(network.num_layers > 0 && network.num_layers <= static_cast<int64_t>(params.size()),
               "{}: {} layers do not fit {} parameters", nameOf(network.kind), network.num_layers, params.size());
  std::vector<State> states = network.split(hidden, cell, batch);
  const bool has_projections = cell.defined() && hidden.size(2) != cell.size(2);
  Tensor output = network.run(rows, states, params, has_projections);
  std::vector<Tensor> last_hidden;
  std::vector<Tensor> last_cells;
  for (const State& state : states) {
    last_hidden.push_back(state.hidden);
    if (state.cell.defined()) last_cells.push_back(state.cell);
  }
  return {output, boxcar::stack(last_hidden, 0), last_cells.empty() ? Tensor() : boxcar::stack(last_cells, 0)};
}

Triple runSequences(Cell kind, const Tensor& input, const Tensor& hidden, const Tensor& cell,
                    std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout, bool train,
                    bool bidirectional, bool batch_first) {
  BOXCAR_CHECK(input.dim() == 3, "{}: expected an input of 3 dimensions, steps, batch and features, but got size {}",
               nameOf(kind), meta::listOf(input.sizes()));
  const Tensor steps = batch_first ? boxcar::transpose(input, 0, 1) : input;
  BOXCAR_CHECK(steps.size(0) > 0, "{}: expected an input with a step at least, but got one of size {}", nameOf(kind),
               meta::listOf(input.sizes()));
  Network network{kind, has_biases, num_layers, dropout, train, bidirectional, {}, {}};
  const int64_t batch = steps.size(1);
  // Without values, one step shows the sizes of any number of steps, which may be huge then.
  const int64_t count = steps.is_meta() || batch == 0 ? 1 : steps.size(0);
  for (int64_t t = 0; t < count; ++t) {
    checkStop();
    network.addStep(batch);
  }
  const Tensor rows = boxcar::reshape(boxcar::narrow(steps, 0, 0, count), dimVector(count * batch, steps.size(2)));
  auto [output, last_hidden, last_cells] = runNetwork(network, rows, hidden, cell, params);
  const DimVector sizes = dimVector(steps.size(0), batch, output.size(1));
  output = boxcar::reshape(output, dimVector(count, batch, output.size(1)));
  // Not an empty tensor, so that the parameters have gradients.
  if (count != steps.size(0)) output = boxcar::clone(boxcar::expand(output, sizes), MemoryFormat::Contiguous);
  return {batch_first ? boxcar::transpose(output, 0, 1) : output, last_hidden, last_cells};
}

Triple runPacked(Cell kind, const Tensor& data, const Tensor& batch_sizes, const Tensor& hidden, const Tensor& cell,
                 std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout, bool train,
                 bool bidirectional) {
  BOXCAR_CHECK(data.dim() == 2 && batch_sizes.dim() == 1 && batch_sizes.numel() > 0 &&
                   batch_sizes.scalar_type() == ScalarType::Long && batch_sizes.device().is_cpu(),
               "{}: expected packed data of 2 dimensions and int64 batch_sizes of one dimension on the CPU, but got "
               "sizes {} and {}",
               nameOf(kind), meta::listOf(data.sizes()), meta::listOf(batch_sizes.sizes()));
  Network network{kind, has_biases, num_layers, dropout, train, bidirectional, {}, {}};
  const Tensor sizes = boxcar::contiguous(resolved(batch_sizes));
  int64_t rows = 0;
  for (int64_t t = 0; t < sizes.numel(); ++t) {
    const int64_t size = sizes.const_data_ptr<int64_t>()[t];
    BOXCAR_CHECK(size > 0 && size <= data.size(0) - rows && (t == 0 || size <= network.batch_sizes.back()),
                 "{}: batch_sizes must be positive, fall, and add up to the {} rows of the data, but element {} is {}",
                 nameOf(kind), data.size(0), t, size);
    network.addStep(size);
    rows += size;
  }
  BOXCAR_CHECK(rows == data.size(0), "{}: batch_sizes must add up to the {} rows of the data, but their sum is {}",
               nameOf(kind), data.size(0), rows);
  return runNetwork(network, data, hidden, cell, params);
}

Pair withoutCells(const Triple& results) { return {std::get<0>(results), std::get<1>(results)}; }

void checkLstmStates(std::span<const Tensor> hx) {
  BOXCAR_CHECK(hx.size() == 2, "lstm expects two hidden states, but got {}", hx.size());
}

Triple lstmInput(const Tensor& input, std::span<const Tensor> hx, std::span<const Tensor> params, bool has_biases,
                 int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  checkLstmStates(hx);
  return runSequences(Cell::kLstm, input, hx[0], hx[1], params, has_biases, num_layers, dropout, train, bidirectional,
                      batch_first);
}
Triple lstmData(const Tensor& data, const Tensor& batch_sizes, std::span<const Tensor> hx,
                std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout, bool train,
                bool bidirectional) {
  checkLstmStates(hx);
  return runPacked(Cell::kLstm, data, batch_sizes, hx[0], hx[1], params, has_biases, num_layers, dropout, train,
                   bidirectional);
}

template <Cell kind>
Pair simpleInput(const Tensor& input, const Tensor& hx, std::span<const Tensor> params, bool has_biases,
                 int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  return withoutCells(
      runSequences(kind, input, hx, {}, params, has_biases, num_layers, dropout, train, bidirectional, batch_first));
}
template <Cell kind>
Pair simpleData(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, std::span<const Tensor> params,
                bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  return withoutCells(
      runPacked(kind, data, batch_sizes, hx, {}, params, has_biases, num_layers, dropout, train, bidirectional));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("lstm.input", BOXCAR_FN(lstmInput));
  m.impl("lstm.data", BOXCAR_FN(lstmData));
  m.impl("gru.input", BOXCAR_FN(simpleInput<Cell::kGru>));
  m.impl("gru.data", BOXCAR_FN(simpleData<Cell::kGru>));
  m.impl("rnn_tanh.input", BOXCAR_FN(simpleInput<Cell::kTanh>));
  m.impl("rnn_tanh.data", BOXCAR_FN(simpleData<Cell::kTanh>));
  m.impl("rnn_relu.input", BOXCAR_FN(simpleInput<Cell::kRelu>));
  m.impl("rnn_relu.data", BOXCAR_FN(simpleData<Cell::kRelu>));
  m.impl("lstm_cell", BOXCAR_FN(lstmCell));
  m.impl("gru_cell", BOXCAR_FN(simpleCell<Cell::kGru>));
  m.impl("rnn_tanh_cell", BOXCAR_FN(simpleCell<Cell::kTanh>));
  m.impl("rnn_relu_cell", BOXCAR_FN(simpleCell<Cell::kRelu>));
}

}  // namespace boxcar::composite
