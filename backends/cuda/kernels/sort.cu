#include <boxcar/backends/cuda/kernels/device_algorithms.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/sort_network.h>
#include <boxcar/backends/cuda/sort_kernels.h>
#include <boxcar/backends/functors/ordered_key.h>

#include <bit>
#include <type_traits>

namespace boxcar::cuda {
namespace {

using namespace functors;

constexpr int kThreads = 256;
// Minimum number of entries that a block sorts: several rows if they are short.
constexpr int kLeastEntries = 1024;

// One block sorts some rows in shared memory, each padded to [width] entries.
template <class T>
struct ShortRows {
  using Entry = NetworkEntry<T>;
  SortLaunch call;
  int width;
  int count;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const T* const in = static_cast<const T*>(call.in);
    T* const values = static_cast<T*>(call.values);
    Entry* const entries = block.shared<Entry>();
    const int64_t first = block.index() * (count / width);
    block.each([&](int thread) {
      for (int i = thread; i < count; i += kThreads) {
        const int64_t row = first + i / width;
        const int column = i & (width - 1);
        entries[i] =
            row < call.rows && column < call.length
                ? networkEntry<T>(in[row * call.length + column], static_cast<uint32_t>(column), call.descending)
                : Entry::greatest();
      }
    });
    sortByNetwork<kThreads>(block, entries, count, width);
    block.each([&](int thread) {
      for (int i = thread; i < count; i += kThreads) {
        const int64_t row = first + i / width;
        const int column = i & (width - 1);
        if (row >= call.rows || column >= call.kept) continue;
        const int64_t index = entries[i].index();
        values[row * call.kept + column] = in[row * call.length + index];
        call.indices[row * call.kept + column] = index;
      }
    });
  }
};

// Returns the number of bits that numbers below [n] need.
int bitsFor(int64_t n) { return static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1))); }

// How rows are sorted together: by a key with the row's number above the element's key or, if the two take more than 64
// bits, by the element and then by the row.
struct Plan {
  int64_t rows;  // sorted together
  int key_bits;
  int row_bits;
  bool wide_keys;  // 64 bits wide
  bool wide_places;
  bool rows_apart;

  static constexpr int64_t kMost = int64_t{1} << 31;

  Plan(const SortLaunch& call, int bits) {
    rows = call.length >= kMost ? 1 : kMost / call.length < call.rows ? kMost / call.length : call.rows;
    key_bits = bits;
    row_bits = bitsFor(rows);
    wide_places = call.length > kMost;
    rows_apart = key_bits + row_bits > 64;
    wide_keys = key_bits + row_bits > 32 || wide_places;
  }
};

// Makes the key of each element, with its row's number above it, and its position.
template <class T, class Key, class Place>
struct MakeKeys {
  const T* in;
  Key* keys;
  Place* places;
  int64_t n;
  int64_t length;
  int row_shift;  // 64 if the key has no row
  bool descending;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= n) return;
    const auto above = row_shift < 64 ? static_cast<Key>(static_cast<uint64_t>(i / length) << row_shift) : Key{0};
    keys[i] = static_cast<Key>(above | static_cast<Key>(denseKey(in[i], descending)));
    places[i] = static_cast<Place>(i);
  }
};

struct KeysOfRows {
  uint64_t* keys;
  const uint32_t* places;
  int64_t n;
  int64_t length;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i < n) keys[i] = static_cast<uint64_t>(places[i] / length);
  }
};

template <class Word, class Place>
struct WriteSorted {
  const Word* in;
  Word* values;
  int64_t* indices;
  const Place* places;
  int64_t n;  // number of elements to write
  int64_t length;
  int64_t kept;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= n) return;
    const int64_t row = i / kept;
    const auto place = static_cast<int64_t>(places[row * length + i % kept]);
    values[i] = in[place];
    indices[i] = place - row * length;
  }
};

constexpr size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

// The keys, the positions, a second buffer for both, and the sort's own workspace.
template <class Key, class Place>
struct Room {
  KeyedValues<Key, Place> pairs;
  char* rest;

  static size_t bytes(int64_t n) {
    return 2 * (rounded(static_cast<size_t>(n) * sizeof(Key)) + rounded(static_cast<size_t>(n) * sizeof(Place)));
  }
  Room(void* workspace, int64_t n) {
    char* next = static_cast<char*>(workspace);
    const auto take = [&](size_t size) {
      char* const taken = next;
      next += rounded(static_cast<size_t>(n) * size);
      return taken;
    };
    for (Key*& keys : pairs.keys) keys = reinterpret_cast<Key*>(take(sizeof(Key)));
    for (Place*& places : pairs.values) places = reinterpret_cast<Place*>(take(sizeof(Place)));
    rest = next;
  }
};

template <class T, class Key, class Place>
struct LongRows {
  static int bitsOf(const Plan& plan) { return plan.key_bits + (plan.rows_apart ? 0 : plan.row_bits); }

  static size_t sortBytes(const Plan& plan, int64_t n) {
    const size_t bytes = sortPairsBytes<Key, Place>(n, bitsOf(plan));
    if (!plan.rows_apart) return bytes;
    const size_t again = sortPairsBytes<Key, Place>(n, plan.row_bits);
    return bytes < again ? again : bytes;
  }

  static size_t bytes(const SortLaunch& call, const Plan& plan) {
    const int64_t n = plan.rows * call.length;
    return Room<Key, Place>::bytes(n) + sortBytes(plan, n);
  }

  static void run(const SortLaunch& call, const Plan& plan, void* workspace) {
    for (int64_t row = 0; row < call.rows; row += plan.rows) {
      SortLaunch part = call;
      part.rows = call.rows - row < plan.rows ? call.rows - row : plan.rows;
      part.in = static_cast<const T*>(call.in) + row * call.length;
      part.values = static_cast<T*>(call.values) + row * call.kept;
      part.indices = call.indices + row * call.kept;
      runPart(part, plan, workspace);
    }
  }

 private:
  static void runPart(const SortLaunch& call, const Plan& plan, void* workspace) {
    const int64_t n = call.rows * call.length;
    Room<Key, Place> room(workspace, n);
    const size_t bytes = sortBytes(plan, n);
    const auto* in = static_cast<const T*>(call.in);
    launchGrid<kThreads>(
        blocksFor(n, kThreads),
        MakeKeys<T, Key, Place>{in, room.pairs.keys[0], room.pairs.values[0], n, call.length,
                                plan.rows_apart || call.rows == 1 ? 64 : plan.key_bits, call.descending});
    int at = sortPairs(room.rest, bytes, room.pairs, n, bitsOf(plan));
    if constexpr (sizeof(Key) == 8 && sizeof(Place) == 4) {
      if (plan.rows_apart) {
        const KeyedValues<Key, Place> again{{room.pairs.keys[at], room.pairs.keys[1 - at]},
                                            {room.pairs.values[at], room.pairs.values[1 - at]}};
        launchGrid<kThreads>(blocksFor(n, kThreads), KeysOfRows{again.keys[0], again.values[0], n, call.length});
        if (sortPairs(room.rest, bytes, again, n, plan.row_bits) != 0) at = 1 - at;
      }
    }
    writeSorted(call, room.pairs.values[at]);
  }

  static void writeSorted(const SortLaunch& call, const Place* places) {
    using Word = std::conditional_t<
        sizeof(T) == 1, uint8_t,
        std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    const int64_t n = call.rows * call.kept;
    launchGrid<kThreads>(blocksFor(n, kThreads),
                         WriteSorted<Word, Place>{static_cast<const Word*>(call.in), static_cast<Word*>(call.values),
                                                  call.indices, places, n, call.length, call.kept});
  }
};

// Calls body(std::type_identity<LongRows<…>>, plan) with the types that [call] needs.
template <class Body>
auto withPlan(const SortLaunch& call, const Body& body) {
  return visitScalarType(kRealAndBoolTypes, call.type, "sort", [&]<class T>(std::type_identity<T>) {
    const Plan plan(call, kKeyBits<T>);
    if (plan.wide_places) return body(std::type_identity<LongRows<T, uint64_t, uint64_t>>(), plan);
    if constexpr (kKeyBits<T> <= 32) {
      if (!plan.wide_keys) return body(std::type_identity<LongRows<T, uint32_t, uint32_t>>(), plan);
    }
    return body(std::type_identity<LongRows<T, uint64_t, uint32_t>>(), plan);
  });
}

}  // namespace

void launchShortSort(const SortLaunch& call) {
  const int width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(call.length)));
  const int count = width < kLeastEntries ? kLeastEntries : width;
  visitScalarType(kRealAndBoolTypes, call.type, "sort", [&]<class T>(std::type_identity<T>) {
    const size_t shared = static_cast<size_t>(count) * sizeof(NetworkEntry<T>);
    launchBlocks<kThreads>(blocksFor(call.rows, count / width), shared, ShortRows<T>{call, width, count});
  });
}

size_t longSortBytes(const SortLaunch& call) {
  return withPlan(call,
                  [&]<class Rows>(std::type_identity<Rows>, const Plan& plan) { return Rows::bytes(call, plan); });
}

void launchLongSort(const SortLaunch& call, void* workspace) {
  withPlan(call, [&]<class Rows>(std::type_identity<Rows>, const Plan& plan) { Rows::run(call, plan, workspace); });
}

}  // namespace boxcar::cuda
