#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/hostile/worker.h"

namespace boxcar::hostile {

// What was found, by operator, kind and text: those whose texts differ by numbers only are one.
class Findings final {
 public:
  struct Group {
    Fault fault;
    std::string text;             // of the first
    std::vector<uint64_t> seeds;  // some of them
    uint64_t count = 0;
    uint64_t calls_before = 0;  // how many calls were done before the first
  };

  // Gives how many of the kind the operator has now.
  uint64_t add(const std::string& op, uint64_t seed, const Report& report, uint64_t calls_done);

  bool empty() const noexcept { return groups_.empty(); }
  size_t size() const noexcept { return groups_.size(); }
  uint64_t calls = 0;

  const std::map<std::pair<std::string, std::string>, Group>& groups() const noexcept { return groups_; }
  // All of them, a paragraph each, with what makes the call again.
  std::string text(const std::string& program) const;

 private:
  std::map<std::pair<std::string, std::string>, Group> groups_;  // by operator, and what is alike of the text
  std::map<std::pair<std::string, Fault>, uint64_t> counts_;
};

}  // namespace boxcar::hostile
