#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace boxcar {

// The column by which a profile's table is sorted: largest first; names from A on.
enum class ProfileSort : uint8_t { Self, Total, Average, Memory, Calls, Name, Device };

// What one row of a profile's table stands for.
enum class ProfileBy : uint8_t { Operator, Shape, Line, Function };

struct ProfileTableOptions {
  ProfileSort sort = ProfileSort::Self;
  // The maximum number of rows; 0 for all.
  size_t limit = 0;
  // One row for each operator, each operator with its tensors' shapes, each line of a script, or each function.
  ProfileBy by = ProfileBy::Operator;
};

namespace detail {

struct Profile;
struct CallCosts;

// Returns the table. Lines below it give the whole time, the time in operators, in dispatch and for the profiler, and
// what the timeline leaves out. [costs] is null if they could not be measured.
std::string profileTable(const Profile& profile, const ProfileTableOptions& options, const CallCosts* costs);

// "12.345ms", "1.234s".
std::string durationText(double nanoseconds);
// "1.50 Kb", as PyTorch's profiler writes it.
std::string memoryText(uint64_t bytes);

}  // namespace detail
}  // namespace boxcar
