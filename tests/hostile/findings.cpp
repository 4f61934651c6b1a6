#include "tests/hostile/findings.h"

#include <fmt/format.h>

#include <cctype>

namespace boxcar::hostile {
namespace {

constexpr size_t kMostSeeds = 3;

// Returns a key for reports: the fault and the beginning of the text without its digits.
std::string alike(const Report& report) {
  std::string key = toString(report.fault);
  for (const char* c = report.text; *c != '\0' && key.size() < 60; ++c) {
    if (std::isalpha(static_cast<unsigned char>(*c)) != 0 || *c == ' ') key += *c;
  }
  return key;
}

}  // namespace

uint64_t Findings::add(const std::string& op, uint64_t seed, const Report& report, uint64_t calls_done) {
  Group& group = groups_[{op, alike(report)}];
  if (group.count++ == 0) {
    group.fault = report.fault;
    group.text = report.text;
    group.calls_before = calls_done;
  }
  if (group.seeds.size() < kMostSeeds) group.seeds.push_back(seed);
  return ++counts_[{op, report.fault}];
}

std::string Findings::text(const std::string& program) const {
  std::string text;
  const std::string* op = nullptr;
  for (const auto& [key, group] : groups_) {
    if (op == nullptr || *op != key.first) text += fmt::format("\n{}\n", key.first);
    op = &key.first;
    text += fmt::format("  {}: {}\n    {} calls, the first after {} calls of all operators\n", toString(group.fault),
                        group.text, group.count, group.calls_before);
    for (const uint64_t seed : group.seeds) text += fmt::format("    {} --replay {} {}\n", program, key.first, seed);
  }
  return text;
}

}  // namespace boxcar::hostile
