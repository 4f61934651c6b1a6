#pragma once

#include <boxcar/dispatcher/fallbacks/packed_bytes.h>
#include <boxcar/dispatcher/fallbacks/recorded_call.h>

#include <cstddef>
#include <span>

namespace boxcar {

// How many there are of what calls name by numbers.
struct RecordedCounts {
  size_t operators = 0;
  size_t sites = 0;
  size_t blocks = 0;
};

// [site]: the number of the call's site; nothing where it has none.
void encode(PackedWriter& writer, const RecordedCall& call, std::optional<uint32_t> site);

// A call, with its site by number in [site]. An Error where the bytes are none, or name what is not there.
RecordedCall decodeCall(std::span<const std::byte> bytes, const RecordedCounts& counts, std::optional<uint32_t>& site);

void encode(PackedWriter& writer, const RecordedOperator& op);
RecordedOperator decodeOperator(std::span<const std::byte> bytes);

}  // namespace boxcar
