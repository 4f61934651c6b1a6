#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/hostile/worker.h"

namespace boxcar::hostile {

// The findings by operator, kind and text. Texts that differ only in numbers count as one finding.
class Findings final {
 public:
  struct Group {
    Fault fault;
    std::string text;             // of the first report
    std::vector<uint64_t> seeds;  // some of the seeds
    uint64_t count = 0;
    uint64_t calls_before = 0;  // calls done before the first report
  };

  // Returns how many findings of this kind the operator has now.
  uint64_t add(const std::string& op, uint64_t seed, const Report& report, uint64_t calls_done);

  bool empty() const noexcept { return groups_.empty(); }
  size_t size() const noexcept { return groups_.size(); }
  uint64_t calls = 0;

  const std::map<std::pair<std::string, std::string>, Group>& groups() const noexcept { return groups_; }
  // Returns all findings, one paragraph each, with the command lines that repeat the calls.
  std::string text(const std::string& program) const;

 private:
  std::map<std::pair<std::string, std::string>, Group> groups_;  // by operator and the common part of the text
  std::map<std::pair<std::string, Fault>, uint64_t> counts_;
};

}  // namespace boxcar::hostile
