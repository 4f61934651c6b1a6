#include <boxcar/backends/cpu/attention_blocks.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_attention.h>
#include <boxcar/backends/native/attention.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>
#include <cmath>
#include <limits>

// Each block of queries meets the keys block by block. What it has so far, the greatest score, the sum of the
// exponentials and the sum of the values, is scaled when a greater score comes.

namespace boxcar::cpu {
namespace {

using native::AttentionCall;

constexpr int64_t kMostQueries = 96;
// If keys and values are more elements than this, each block of queries reads them from afar, so these are larger.
constexpr int64_t kMostNear = int64_t{1} << 18;
constexpr int64_t kMostQueriesOfLongKeys = 192;
constexpr int64_t kMostKeys = 256;
// The packed keys and values of a head are kept for all its blocks if they are at most this many elements.
constexpr int64_t kMostKept = int64_t{1} << 20;
// Fewer queries read keys in place, and up to so many values: packing these would cost more.
constexpr int64_t kFewQueries = 8;
constexpr int64_t kMostUnpacked = 4 * kStripRows;
// A thread gets at least this many multiply-adds, some 10 microseconds.
constexpr int64_t kLeastShared = int64_t{1} << 19;

template <class T>
struct AttentionWork {
  AttentionWork(const AttentionCall& attention, const Tensor& result, const Tensor& sums)
      : call(attention),
        out(result),
        logsumexp(sums),
        sizes(attention),
        by_keys(sizes.keys),
        by_value(sizes.value_width) {
    scale = Scalar(call.scale).to<T>();
    value_step = rowStep<T>(by_value.padded);
    const int64_t packed = sizes.keys * (sizes.width + value_step);
    const int64_t most = packed <= kMostNear ? kMostQueries : kMostQueriesOfLongKeys;
    const int64_t fewest = (sizes.queries + most - 1) / most;
    height = roundedUp((sizes.queries + fewest - 1) / fewest, kStripRows);
    blocks = (sizes.queries + height - 1) / height;
    is_kept = blocks > 1 && packed <= kMostKept;
    const auto hasRows = [](const Tensor& tensor) { return tensor.size(3) == 1 || tensor.strides()[3] == 1; };
    const bool has_few = sizes.queries < kFewQueries;
    keys_in_place = has_few && hasRows(call.key);
    values_in_place =
        hasRows(call.value) && (has_few || (sizes.queries <= kMostUnpacked && by_value.padded == sizes.value_width));
    most_keys = by_keys.padded < kMostKeys ? by_keys.padded : roundedUp(kMostKeys, by_keys.width);
    score_step = rowStep<T>(most_keys);
    const int64_t kept = is_kept ? by_keys.padded : most_keys;
    kept_keys = keys_in_place ? 0 : kept;
    kept_values = values_in_place ? 0 : kept;
  }

  const AttentionCall& call;
  const Tensor& out;
  const Tensor& logsumexp;
  AttentionSizes sizes;
  Tiles<T> by_keys;
  Tiles<T> by_value;
  T scale;
  int64_t height;     // of a block of queries
  int64_t blocks;     // of queries
  int64_t most_keys;  // of a block
  int64_t score_step;
  int64_t value_step;
  int64_t kept_keys;  // that are packed at a time
  int64_t kept_values;
  bool is_kept;
  bool keys_in_place;
  bool values_in_place;
};

// The work of one thread.
template <class T>
class AttentionWorker {
 public:
  explicit AttentionWorker(const AttentionWork<T>& work)
      : work_(work),
        sizes_(work.sizes),
        rows_(attentionRows<T>()),
        memory_(work.kept_keys * sizes_.width + work.kept_values * work.value_step +
                work.height * (sizes_.width + work.score_step + work.value_step + 2) + Workspace<T>::kPart * 8) {
    keys_ = memory_.take(work.kept_keys * sizes_.width);
    values_ = memory_.take(work.kept_values * work.value_step);
    query_rows_ = memory_.take(work.height * sizes_.width);
    scores_ = memory_.take(work.height * work.score_step);
    sums_ = memory_.take(work.height * work.value_step);
    greatest_ = memory_.take(work.height);
    totals_ = memory_.take(work.height);
  }

  void block(int64_t head, int64_t index) {
    const int64_t batch = head / sizes_.heads;
    const int64_t own = head % sizes_.heads;
    const int64_t key_head = own / (sizes_.heads / sizes_.key_heads);
    key_ = headOf<const T>(work_.call.key, batch, key_head);
    value_ = headOf<const T>(work_.call.value, batch, key_head);
    mask_ = headOf<const T>(work_.call.mask, batch, own);
    if (const int64_t id = batch * sizes_.key_heads + key_head; id != packed_head_) {
      packed_head_ = id;
      packed_keys_ = 0;
    }
    first_ = index * work_.height;
    count_ = std::min(work_.height, sizes_.queries - first_);
    const Matrix<const T> query = headOf<const T>(work_.call.query, batch, own);
    if (query.column_step == 1) {
      queries_ = {&query.at(first_, 0), query.row_step, 1};
    } else {
      copyRows(Matrix<const T>{&query.at(first_, 0), query.row_step, query.column_step}, count_, sizes_.width,
               query_rows_, sizes_.width, sizes_.width);
      queries_ = {query_rows_, sizes_.width, 1};
    }
    std::fill_n(greatest_, count_, -std::numeric_limits<T>::infinity());
    std::fill_n(totals_, count_, T(0));
    const int64_t end = work_.call.is_causal ? std::min(sizes_.keys, first_ + count_) : sizes_.keys;
    for (int64_t k = 0; k < end; k += work_.most_keys) {
      meet(k, std::min(work_.most_keys, end - k));
      checkStop();
    }
    finish(batch, own);
  }

 private:
  // Returns how many of the block's [n] keys from [k] the rows below [end] may see.
  int64_t seenBelow(int64_t end, int64_t k, int64_t n) const {
    return work_.call.is_causal ? std::clamp<int64_t>(first_ + end - k, 0, n) : n;
  }

  void meet(int64_t k, int64_t n) {
    const int64_t strip = work_.call.is_causal ? kStripRows : count_;
    pack(k, n);
    for (int64_t i = 0; i < count_; i += strip) {
      const int64_t rows = std::min(strip, count_ - i);
      const int64_t seen = seenBelow(i + rows, k, n);
      if (seen == 0) continue;
      score(i, rows, k, seen);
      for (int64_t r = i; r < i + rows; ++r) weigh(r, k, seenBelow(r + 1, k, n), seen);
      addValues(i, rows, k, seen);
    }
  }

  void pack(int64_t k, int64_t n) {
    if (work_.is_kept && k < packed_keys_) return;
    const int64_t at = work_.is_kept ? k : 0;
    if (work_.is_kept) n = std::min(work_.most_keys, sizes_.keys - k);  // other queries may see more
    if (!work_.keys_in_place) {
      packTransposed(Matrix<const T>{&key_.at(k, 0), key_.row_step, key_.column_step}, n, sizes_.width,
                     work_.by_keys.width, work_.scale, keys_ + at * sizes_.width);
    }
    if (!work_.values_in_place) {
      copyRows(Matrix<const T>{&value_.at(k, 0), value_.row_step, value_.column_step}, n, sizes_.value_width,
               values_ + at * work_.value_step, work_.value_step, work_.by_value.padded);
    }
    packed_keys_ = k + n;
  }

  void score(int64_t i, int64_t rows, int64_t k, int64_t seen) {
    T* const scores = scores_ + i * work_.score_step;
    const Matrix<const T> queries{&queries_.at(i, 0), queries_.row_step, 1};
    if (!work_.keys_in_place) {
      const T* const keys = keys_ + (work_.is_kept ? k : 0) * sizes_.width;
      return work_.by_keys.multiply(rows, seen, sizes_.width, queries, work_.by_keys.panels(keys, sizes_.width), false,
                                    scores, work_.score_step);
    }
    constexpr int64_t kMost = GemmKernels<T>::kMostDotRows;
    const GemmKernels<T>& kernels = gemmKernels<T>(sizes_.width);
    const int64_t whole = seen - seen % GemmKernels<T>::kDots;
    for (int64_t r = 0; r < rows; r += kMost) {
      const int64_t some = std::min(kMost, rows - r);
      for (int64_t j = r; j < r + some; ++j) std::fill_n(scores + j * work_.score_step, seen, T(0));
      kernels.dots[some - 1](sizes_.width, work_.scale, &queries.at(r, 0), queries.row_step, &key_.at(k, 0),
                             key_.row_step, whole, scores + r * work_.score_step, work_.score_step);
      for (int64_t j = r; j < r + some; ++j) {
        for (int64_t i_key = whole; i_key < seen; ++i_key) {
          scores[j * work_.score_step + i_key] =
              work_.scale * kernels.dot(sizes_.width, &queries.at(j, 0), &key_.at(k + i_key, 0));
        }
      }
    }
  }

  // Turns the scores of a row into exponentials; it may see the first [seen] of [n] keys.
  void weigh(int64_t row, int64_t k, int64_t seen, int64_t n) {
    T* const scores = scores_ + row * work_.score_step;
    std::fill(scores + seen, scores + n, T(0));
    if (seen == 0) return;
    if (mask_.data != nullptr) addMask(scores, &mask_.at(first_ + row, k), mask_.column_step, seen);
    const auto count = static_cast<size_t>(seen);
    const T before = greatest_[row];
    const T greatest = std::max(before, rows_.greatest(scores, count));
    // If all scores are minus infinity, so that the query may see no key, the exponentials are 0.
    const T shift = greatest == -std::numeric_limits<T>::infinity() ? T(0) : greatest;
    if (k > 0 && greatest != before) {
      const T factor = std::exp(before - shift);
      T* const sums = sums_ + row * work_.value_step;
      for (int64_t i = 0; i < work_.by_value.padded; ++i) sums[i] *= factor;
      totals_[row] *= factor;
    }
    greatest_[row] = greatest;
    totals_[row] += rows_.exponentials(scores, shift, count);
  }

  void addValues(int64_t i, int64_t rows, int64_t k, int64_t seen) {
    const int64_t step = work_.value_step;
    const int64_t columns = work_.by_value.padded;
    const Matrix<const T> weights{scores_ + i * work_.score_step, work_.score_step, 1};
    T* const sums = sums_ + i * step;
    if (work_.values_in_place && columns == sizes_.value_width) {
      return work_.by_value.multiply(rows, columns, seen, weights,
                                     work_.by_value.rows(&value_.at(k, 0), value_.row_step), k > 0, sums, step);
    }
    if (!work_.values_in_place) {
      const T* const values = values_ + (work_.is_kept ? k : 0) * step;
      return work_.by_value.multiply(rows, columns, seen, weights, work_.by_value.rows(values, step), k > 0, sums,
                                     step);
    }
    for (int64_t r = 0; r < rows; ++r) {
      if (k == 0) std::fill_n(sums + r * step, columns, T(0));
      for (int64_t j = 0; j < seen; ++j) {
        work_.by_value.kernels.addScaled(sizes_.value_width, weights.at(r, j), &value_.at(k + j, 0), sums + r * step);
      }
    }
  }

  void finish(int64_t batch, int64_t head) {
    const Matrix<T> out = headOf<T>(work_.out, batch, head);
    const auto steps = work_.logsumexp.strides();
    T* const logsumexp =
        static_cast<T*>(work_.logsumexp.data_ptr()) + batch * steps[0] + head * steps[1] + first_ * steps[2];
    for (int64_t r = 0; r < count_; ++r) {
      const T total = totals_[r];
      const T* const sums = sums_ + r * work_.value_step;
      T* const to = &out.at(first_ + r, 0);
      const T factor = T(1) / total;
      if (total == 0) {
        for (int64_t i = 0; i < sizes_.value_width; ++i) to[i * out.column_step] = T(0);
      } else if (out.column_step == 1) {
        for (int64_t i = 0; i < sizes_.value_width; ++i) to[i] = sums[i] * factor;
      } else {
        for (int64_t i = 0; i < sizes_.value_width; ++i) to[i * out.column_step] = sums[i] * factor;
      }
      logsumexp[r * steps[2]] = total == 0 ? T(0) : greatest_[r] + std::log(total);
    }
  }

  const AttentionWork<T>& work_;
  const AttentionSizes& sizes_;
  const AttentionRows<T>& rows_;
  Workspace<T> memory_;
  T* keys_;
  T* values_;
  T* query_rows_;
  T* scores_;
  T* sums_;  // of the values, by row
  T* greatest_;
  T* totals_;
  int64_t packed_head_ = -1;
  int64_t packed_keys_ = 0;
  // The head and the block of queries that are computed.
  Matrix<const T> key_{};
  Matrix<const T> value_{};
  Matrix<const T> mask_{};
  Matrix<const T> queries_{};  // of the block, with adjacent elements
  int64_t first_ = 0;
  int64_t count_ = 0;
};

template <class T>
void attend(const AttentionCall& call, const Tensor& out, const Tensor& logsumexp) {
  const AttentionWork<T> work(call, out, logsumexp);
  const AttentionSizes& sizes = work.sizes;
  const int64_t heads = sizes.batch * sizes.heads;
  const int64_t row_work = std::max<int64_t>(1, sizes.keys * (sizes.width + sizes.value_width));
  const auto grainOf = [&](int64_t rows) { return std::max<int64_t>(1, kLeastShared / row_work / rows); };
  if (heads >= int64_t{2} * threadCount() || work.blocks == 1) {
    return parallelFor(0, heads, grainOf(sizes.queries), [&](int64_t begin, int64_t end) {
      AttentionWorker<T> worker(work);
      for (int64_t head = begin; head < end; ++head) {
        for (int64_t i = 0; i < work.blocks; ++i) worker.block(head, i);
      }
    });
  }
  parallelFor(0, heads * work.blocks, grainOf(work.height), [&](int64_t begin, int64_t end) {
    AttentionWorker<T> worker(work);
    for (int64_t i = begin; i < end; ++i) {
      // Takes the first and the last blocks in turns, because the later ones see more keys.
      const int64_t at = i % work.blocks;
      worker.block(i / work.blocks, at % 2 == 0 ? at / 2 : work.blocks - 1 - at / 2);
    }
  });
}

void flashAttention(const AttentionCall& call, const Tensor& out, const Tensor& logsumexp) {
  if (call.query.scalar_type() == ScalarType::Float) {
    attend<float>(call, out, logsumexp);
  } else {
    attend<double>(call, out, logsumexp);
  }
}

Tensor attentionByProducts(const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool, double, bool) {
  return {};
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, attendAtOnce, cpu::attentionByProducts)
BOXCAR_REGISTER_STUB(CPU, attendInBlocks, cpu::flashAttention)

}  // namespace boxcar::native
