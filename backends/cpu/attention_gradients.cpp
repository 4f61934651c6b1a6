#include <boxcar/backends/cpu/attention_blocks.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_attention.h>
#include <boxcar/backends/native/attention.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>

// The weights of a block of queries and keys are computed again, from the scores and the logarithms of their sums. A
// block of keys collects its gradients from all queries; those of the queries are sums over the blocks of keys, always
// in the same order.

namespace boxcar::cpu {
namespace {

using native::AttentionCall;

constexpr int64_t kGradientQueries = 96;
constexpr int64_t kGradientKeys = 256;
// A thread gets at least this many multiply-adds, some 10 microseconds.
constexpr int64_t kLeastSharedGradients = int64_t{1} << 19;
// The most elements that all threads write in memory of their own.
constexpr int64_t kMostPartial = int64_t{1} << 24;

template <class T>
struct AttentionGradientWork {
  AttentionGradientWork(const AttentionCall& attention, const Tensor& grad, const Tensor& result, const Tensor& sums,
                        const Tensor& query, const Tensor& key, const Tensor& value)
      : call(attention),
        grad_out(grad),
        out(result),
        logsumexp(sums),
        of_query(query),
        of_key(key),
        of_value(value),
        sizes(attention),
        by_keys(sizes.keys),
        by_width(sizes.width),
        by_value(sizes.value_width) {
    scale = Scalar(call.scale).to<T>();
    shared = sizes.heads / sizes.key_heads;
    const int64_t fewest = (sizes.queries + kGradientQueries - 1) / kGradientQueries;
    height = roundedUp((sizes.queries + fewest - 1) / fewest, kStripRows);
    most_keys = by_keys.padded < kGradientKeys ? by_keys.padded : roundedUp(kGradientKeys, by_keys.width);
    score_step = rowStep<T>(most_keys);
    key_blocks = (sizes.keys + most_keys - 1) / most_keys;
  }

  const AttentionCall& call;
  const Tensor& grad_out;
  const Tensor& out;
  const Tensor& logsumexp;
  const Tensor& of_query;
  const Tensor& of_key;
  const Tensor& of_value;
  AttentionSizes sizes;
  Tiles<T> by_keys;
  Tiles<T> by_width;
  Tiles<T> by_value;
  T scale;
  int64_t shared;     // the heads of the query that share one of the keys
  int64_t height;     // of a block of queries
  int64_t most_keys;  // of a block
  int64_t score_step;
  int64_t key_blocks;
};

// The work of one thread.
template <class T>
class AttentionGradientWorker {
 public:
  explicit AttentionGradientWorker(const AttentionGradientWork<T>& work)
      : work_(work),
        sizes_(work.sizes),
        rows_(attentionRows<T>()),
        width_(rowStep<T>(work.by_width.padded)),
        value_width_(rowStep<T>(work.by_value.padded)),
        memory_(work.most_keys * (sizes_.width + sizes_.value_width + 2 * width_ + value_width_) +
                work.height * (2 * width_ + value_width_ + 2 * work.score_step) + Workspace<T>::kPart * 10) {
    key_panels_ = memory_.take(work.most_keys * sizes_.width);
    value_panels_ = memory_.take(work.most_keys * sizes_.value_width);
    key_rows_ = memory_.take(work.most_keys * width_);
    of_keys_ = memory_.take(work.most_keys * width_);
    of_values_ = memory_.take(work.most_keys * value_width_);
    query_rows_ = memory_.take(work.height * width_);
    of_queries_ = memory_.take(work.height * width_);
    grad_rows_ = memory_.take(work.height * value_width_);
    scores_ = memory_.take(work.height * work.score_step);
    products_ = memory_.take(work.height * work.score_step);
  }

  // Adds what block [index] of the keys of head [group] gives to the gradients of the queries. If there is [partial],
  // [shared, queries, width], writes that to it instead.
  void keyBlock(int64_t group, int64_t index, T* partial) {
    const int64_t batch = group / sizes_.key_heads;
    const int64_t key_head = group % sizes_.key_heads;
    first_key_ = index * work_.most_keys;
    keys_ = std::min(work_.most_keys, sizes_.keys - first_key_);
    const Matrix<const T> key = from(headOf<const T>(work_.call.key, batch, key_head), first_key_);
    const Matrix<const T> value = from(headOf<const T>(work_.call.value, batch, key_head), first_key_);
    packTransposed(key, keys_, sizes_.width, work_.by_keys.width, work_.scale, key_panels_);
    packTransposed(value, keys_, sizes_.value_width, work_.by_keys.width, T(1), value_panels_);
    copyRows(key, keys_, sizes_.width, key_rows_, width_, work_.by_width.padded);
    std::fill_n(of_keys_, keys_ * width_, T(0));
    std::fill_n(of_values_, keys_ * value_width_, T(0));
    // Earlier queries see none of these keys.
    const int64_t start = work_.call.is_causal ? std::min(first_key_ / work_.height * work_.height, sizes_.queries) : 0;
    for (int64_t i = 0; i < work_.shared; ++i) {
      const int64_t head = key_head * work_.shared + i;
      Matrix<T> to = headOf<T>(work_.of_query, batch, head);
      if (partial != nullptr) {
        to = {partial + i * sizes_.queries * sizes_.width, sizes_.width, 1};
        std::fill_n(to.data, start * sizes_.width, T(0));
      }
      for (first_ = start; first_ < sizes_.queries; first_ += work_.height) {
        queryBlock(batch, head, to, partial == nullptr && index > 0);
        checkStop();
      }
    }
    writeRows(of_keys_, width_, sizes_.width, headOf<T>(work_.of_key, batch, key_head));
    writeRows(of_values_, value_width_, sizes_.value_width, headOf<T>(work_.of_value, batch, key_head));
  }

 private:
  static Matrix<const T> from(Matrix<const T> matrix, int64_t row) {
    return {&matrix.at(row, 0), matrix.row_step, matrix.column_step};
  }

  void writeRows(const T* rows, int64_t step, int64_t columns, Matrix<T> to) const {
    for (int64_t i = 0; i < keys_; ++i) {
      writeRow(&to.at(first_key_ + i, 0), to.column_step, rows + i * step, columns, false);
    }
  }

  // Returns how many of the block's keys the queries below [end] of the block may see.
  int64_t seenBelow(int64_t end) const {
    return work_.call.is_causal ? std::clamp<int64_t>(first_ + end - first_key_, 0, keys_) : keys_;
  }

  void queryBlock(int64_t batch, int64_t head, Matrix<T> to, bool accumulate) {
    const int64_t rows = std::min(work_.height, sizes_.queries - first_);
    const int64_t step = work_.score_step;
    copyRows(from(headOf<const T>(work_.call.query, batch, head), first_), rows, sizes_.width, query_rows_, width_,
             work_.by_width.padded);
    copyRows(from(headOf<const T>(work_.grad_out, batch, head), first_), rows, sizes_.value_width, grad_rows_,
             value_width_, work_.by_value.padded);
    // Whole tiles go directly to the gradient.
    const bool is_direct = to.column_step == 1 && work_.by_width.padded == sizes_.width;
    const int64_t strip = work_.call.is_causal ? kStripRows : rows;
    for (int64_t i = 0; i < rows; i += strip) {
      const int64_t some = std::min(strip, rows - i);
      const int64_t seen = seenBelow(i + some);
      if (seen > 0) {
        work_.by_keys.multiply(some, seen, sizes_.width, {query_rows_ + i * width_, width_, 1},
                               work_.by_keys.panels(key_panels_, sizes_.width), false, scores_ + i * step, step);
        work_.by_keys.multiply(some, seen, sizes_.value_width, {grad_rows_ + i * value_width_, value_width_, 1},
                               work_.by_keys.panels(value_panels_, sizes_.value_width), false, products_ + i * step,
                               step);
      }
      differentiateRows(batch, head, i, some);
      work_.by_width.multiply(some, sizes_.width, seen, {products_ + i * step, step, 1},
                              work_.by_width.rows(key_rows_, width_), is_direct && accumulate,
                              is_direct ? &to.at(first_ + i, 0) : of_queries_ + i * width_,
                              is_direct ? to.row_step : width_);
    }
    for (int64_t r = 0; !is_direct && r < rows; ++r) {
      writeRow(&to.at(first_ + r, 0), to.column_step, of_queries_ + r * width_, sizes_.width, accumulate);
    }
    collect(rows);
  }

  // Turns scores into weights, and the gradients of the weights into those of the products of queries and keys.
  void differentiateRows(int64_t batch, int64_t head, int64_t first, int64_t rows) {
    const Matrix<const T> out = headOf<const T>(work_.out, batch, head);
    const Matrix<const T> mask = headOf<const T>(work_.call.mask, batch, head);
    const auto steps = work_.logsumexp.strides();
    const T* const logsumexp =
        static_cast<const T*>(work_.logsumexp.data_ptr()) + batch * steps[0] + head * steps[1] + first_ * steps[2];
    for (int64_t r = first; r < first + rows; ++r) {
      T* const scores = scores_ + r * work_.score_step;
      T* const products = products_ + r * work_.score_step;
      const int64_t seen = seenBelow(r + 1);
      std::fill(scores + seen, scores + keys_, T(0));
      std::fill(products + seen, products + keys_, T(0));
      if (seen == 0) continue;
      if (mask.data != nullptr) addMask(scores, &mask.at(first_ + r, first_key_), mask.column_step, seen);
      const T* const grad = grad_rows_ + r * value_width_;
      const T* const result = &out.at(first_ + r, 0);
      T share = 0;
      if (out.column_step == 1) {
        share = work_.by_value.kernels.dot(sizes_.value_width, grad, result);
      } else {
        for (int64_t j = 0; j < sizes_.value_width; ++j) share += grad[j] * result[j * out.column_step];
      }
      rows_.gradients(scores, products, logsumexp[r * steps[2]], share, work_.scale, static_cast<size_t>(seen));
    }
  }

  // Adds what the queries give to the gradients of keys and values. Queries before the first one that sees a strip's
  // first key have no part in it.
  void collect(int64_t rows) {
    const int64_t strip = work_.call.is_causal ? kStripRows : keys_;
    const int64_t step = work_.score_step;
    for (int64_t j = 0; j < keys_; j += strip) {
      const int64_t some = std::min(strip, keys_ - j);
      const int64_t r = work_.call.is_causal ? std::clamp<int64_t>(first_key_ + j - first_, 0, rows) : 0;
      if (r == rows) break;
      work_.by_value.multiply(some, sizes_.value_width, rows - r, {scores_ + r * step + j, 1, step},
                              work_.by_value.rows(grad_rows_ + r * value_width_, value_width_), true,
                              of_values_ + j * value_width_, value_width_);
      work_.by_width.multiply(some, sizes_.width, rows - r, {products_ + r * step + j, 1, step},
                              work_.by_width.rows(query_rows_ + r * width_, width_), true, of_keys_ + j * width_,
                              width_);
    }
  }

  const AttentionGradientWork<T>& work_;
  const AttentionSizes& sizes_;
  const AttentionRows<T>& rows_;
  const int64_t width_;        // the step of rows of queries and keys
  const int64_t value_width_;  // that of values
  Workspace<T> memory_;
  T* key_panels_;
  T* value_panels_;
  T* key_rows_;
  T* of_keys_;
  T* of_values_;
  T* query_rows_;
  T* of_queries_;
  T* grad_rows_;
  T* scores_;
  T* products_;  // of gradients and values
  // The blocks that are computed.
  int64_t first_key_ = 0;
  int64_t keys_ = 0;
  int64_t first_ = 0;
};

template <class T>
void differentiateAttention(const AttentionGradientWork<T>& work) {
  const AttentionSizes& sizes = work.sizes;
  const int64_t groups = sizes.batch * sizes.key_heads;
  const int64_t block_work =
      std::max<int64_t>(1, work.shared * sizes.queries * work.most_keys * (3 * sizes.width + 2 * sizes.value_width));
  const int64_t grain = std::max<int64_t>(1, kLeastSharedGradients / block_work);
  const int64_t rows = work.shared * sizes.queries;
  const int64_t most = std::max<int64_t>(1, kMostPartial / (rows * sizes.width));
  const int64_t wave = std::min({int64_t{threadCount()}, work.key_blocks, most});
  if (groups >= threadCount() || wave == 1) {
    return parallelFor(0, groups, grain, [&](int64_t begin, int64_t end) {
      AttentionGradientWorker<T> worker(work);
      for (int64_t group = begin; group < end; ++group) {
        for (int64_t i = 0; i < work.key_blocks; ++i) worker.keyBlock(group, i, nullptr);
      }
    });
  }
  // Threads share the blocks of keys of a head. Each writes the gradients of the queries to memory of its own.
  Workspace<T> partial(wave * rows * sizes.width);
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t batch = group / sizes.key_heads;
    const int64_t first_head = group % sizes.key_heads * work.shared;
    for (int64_t first = 0; first < work.key_blocks; first += wave) {
      const int64_t count = std::min(wave, work.key_blocks - first);
      parallelFor(0, count, 1, [&](int64_t begin, int64_t end) {
        AttentionGradientWorker<T> worker(work);
        for (int64_t i = begin; i < end; ++i) {
          worker.keyBlock(group, first + i, partial.data() + i * rows * sizes.width);
        }
      });
      const int64_t few_rows = std::max<int64_t>(1, kParallelGrain / std::max<int64_t>(1, count * sizes.width));
      parallelFor(0, rows, few_rows, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const Matrix<T> to = headOf<T>(work.of_query, batch, first_head + row / sizes.queries);
          T* const out = &to.at(row % sizes.queries, 0);
          for (int64_t i = 0; i < count; ++i) {
            writeRow(out, to.column_step, partial.data() + (i * rows + row) * sizes.width, sizes.width, first + i > 0);
          }
        }
      });
    }
  }
}

void flashAttentionGradients(const AttentionCall& call, const Tensor& grad_out, const Tensor& out,
                             const Tensor& logsumexp, const Tensor& of_query, const Tensor& of_key,
                             const Tensor& of_value) {
  if (call.query.scalar_type() == ScalarType::Float) {
    differentiateAttention<float>({call, grad_out, out, logsumexp, of_query, of_key, of_value});
  } else {
    differentiateAttention<double>({call, grad_out, out, logsumexp, of_query, of_key, of_value});
  }
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, attendInBlocksGradients, cpu::flashAttentionGradients)

}  // namespace boxcar::native
