#pragma once

#include <boxcar/dispatcher/handlers/record/packed_bytes.h>
#include <boxcar/dispatcher/handlers/record/recorded_call.h>

#include <cstddef>
#include <span>

namespace boxcar {

// The number of items of each kind that calls refer to by number.
struct RecordedCounts {
  size_t operators = 0;
  size_t sites = 0;
  size_t blocks = 0;
};

// [site] is the number of the call's site; no value if it has none.
void encode(PackedWriter& writer, const RecordedCall& call, std::optional<uint32_t> site);

// Returns a call, and the number of its site in [site]. Throws Error if the bytes are not a call, or refer to something
// that does not exist.
RecordedCall decodeCall(std::span<const std::byte> bytes, const RecordedCounts& counts, std::optional<uint32_t>& site);

void encode(PackedWriter& writer, const RecordedOperator& op);
RecordedOperator decodeOperator(std::span<const std::byte> bytes);

}  // namespace boxcar
