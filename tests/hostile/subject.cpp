#include "tests/hostile/subject.h"

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/name_pattern.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

#include "tests/sample_arguments.h"

namespace boxcar::hostile {
namespace {

// More stacks for one operator would add nothing new.
constexpr size_t kMostKept = 24;

bool isWanted(const OperatorName& name, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return !name.name.starts_with("faulty::");
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return matchesPattern(name, pattern) || matchesPattern(name, "aten::" + pattern);
  });
}

// Optional arguments are None; other ones get a simple value, such as an empty list.
Stack defaultArguments(const FunctionSchema& schema) {
  Stack made;
  for (const Argument& argument : schema.arguments()) {
    if (argument.default_value().has_value()) {
      made.push_back(*argument.default_value());
      continue;
    }
    switch (argument.type()->kind()) {
      case TypeKind::Tensor: made.push_back(Tensor()); break;
      case TypeKind::Bool: made.push_back(false); break;
      case TypeKind::Float: made.push_back(0.5); break;
      case TypeKind::String: made.push_back(""); break;
      case TypeKind::Device: made.push_back(Device(DeviceType::CPU)); break;
      case TypeKind::Optional: made.push_back(IValue()); break;
      case TypeKind::Dict: made.push_back(Dict<std::string, Tensor>()); break;
      case TypeKind::List: {
        const TypeKind element = argument.type()->element()->kind();
        if (element == TypeKind::Tensor) {
          made.push_back(List<Tensor>());
        } else if (element == TypeKind::Float) {
          made.push_back(List<double>());
        } else if (element == TypeKind::Bool) {
          made.push_back(List<bool>());
        } else if (element == TypeKind::Optional) {
          made.push_back(List<std::optional<Tensor>>());
        } else {
          made.push_back(List<int64_t>());
        }
        break;
      }
      default: made.push_back(1);
    }
  }
  return made;
}

}  // namespace

std::vector<Subject> findSubjects(const std::vector<std::string>& patterns) {
  std::vector<Subject> subjects;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    // It prints by design, but the driver reports printed output as a finding.
    if (name.name == "aten::_print" || !isWanted(name, patterns)) continue;
    const auto op = Dispatcher::singleton().findSchema(name);
    if (!op || op->schema().is_vararg()) continue;
    subjects.push_back({*op, toString(*op), {}});
  }
  std::ranges::sort(subjects, {}, &Subject::name);
  return subjects;
}

void findPlausibleArguments(std::vector<Subject>& subjects) {
  for (Subject& subject : subjects) {
    std::vector<Stack>& plausible = subject.plausible;
    plausible = sampleArguments(subject.op);
    std::vector<Stack> kept = keptArguments(subject.op);
    // Take them evenly from the whole list.
    const size_t count = std::min(kept.size(), kMostKept);
    for (size_t i = 0; i < count; ++i) plausible.push_back(std::move(kept[i * kept.size() / count]));
    if (plausible.empty()) plausible.push_back(defaultArguments(subject.op.schema()));
  }
}

}  // namespace boxcar::hostile
