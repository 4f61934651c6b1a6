#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace boxcar {

// By which column a profile's table is sorted, the most first; names from A on.
enum class ProfileSort : uint8_t { Self, Total, Average, Memory, Calls, Name, Device };

// What a row of a profile's table is about.
enum class ProfileBy : uint8_t { Operator, Shape, Line, Function };

struct ProfileTableOptions {
  ProfileSort sort = ProfileSort::Self;
  // How many rows there are at most; 0 for all.
  size_t limit = 0;
  // A row for each operator, each operator and shapes of its tensors, each line of a script, or each function.
  ProfileBy by = ProfileBy::Operator;
};

namespace detail {

struct Profile;
struct CallCosts;

// The table, with a line below it for each of: the whole time, what was spent in operators, in dispatch and for the
// profiler, and what is left out of the time line. [costs] are null where they could not be measured.
std::string profileTable(const Profile& profile, const ProfileTableOptions& options, const CallCosts* costs);

// "12.345ms", "1.234s".
std::string durationText(double nanoseconds);
// "1.50 Kb", as PyTorch's profiler writes it.
std::string memoryText(uint64_t bytes);

}  // namespace detail
}  // namespace boxcar
