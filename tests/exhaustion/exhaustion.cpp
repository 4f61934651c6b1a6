// Runs scripts while the n-th request for memory fails, for each n until none did: a run must end with an error or as
// ever, leave no mode, key or storage behind, and the next run must be right. Fails where that is not so.

#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/dispatcher/fallbacks/storage_watch.h>
#include <boxcar/dispatcher/local_dispatch_key_set.h>
#include <boxcar/interpreter/program.h>
#include <boxcar/interpreter/script_error.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tests/dispatcher/fallbacks/unwinding_samples.h"

namespace {

// How many requests there are until one fails; 0 when none shall. Only the thread that runs the scripts counts.
thread_local long left = 0;

}  // namespace

// Out of line, for GCC takes a mix of its own and ours for a mistake.
[[gnu::noinline]] void* operator new(size_t size) {
  if (left > 0 && --left == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace boxcar {
namespace {

// The storages that are alive, kept without asking for memory.
struct LiveStorages {
  std::array<const StorageImpl*, 4096> all{};
  size_t count = 0;
  const StorageObserver observer = {[](void* context, const StorageImpl& storage, size_t) {
                                      auto& self = *static_cast<LiveStorages*>(context);
                                      if (self.count < self.all.size()) self.all[self.count++] = &storage;
                                    },
                                    [](void* context, const StorageImpl& storage, size_t) {
                                      auto& self = *static_cast<LiveStorages*>(context);
                                      const auto end = self.all.begin() + static_cast<std::ptrdiff_t>(self.count);
                                      const auto found = std::find(self.all.begin(), end, &storage);
                                      if (found != end) *found = self.all[--self.count];
                                    },
                                    this};
};

// What a run prints while there is memory.
std::string printedBy(const Program& program) {
  std::string printed;
  const ModeGuard collect([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    if (op.operator_name().name != "aten::_print") return op.redispatchBoxed(keys, stack);
    printed += pop(stack).toStringView();
  });
  program.run();
  return printed;
}

// What went wrong; nothing where the run ended as it should. [was_met]: whether a request failed.
std::optional<std::string> problemOfRun(const Program& program, std::string_view kind, long n, bool& was_met) {
  std::unique_ptr<Handler> handler;
  std::vector<IValue> arguments;
  if (!kind.empty()) {
    const HandlerKind& found = *findHandlerKind(kind);
    if (found.schema.find("pattern") != std::string_view::npos) arguments.emplace_back("no::such");
    if (kind == "inject") arguments.insert(arguments.end(), {IValue(1), IValue(false), IValue(0), IValue(0.0)});
    handler = found.make(arguments);
  }
  std::optional<std::string> problem;
  std::optional<HandlerGuard> on;
  if (handler != nullptr) on.emplace(*handler);
  left = n;
  try {
    program.run();
  } catch (const ScriptError& error) {
    left = 0;
    if (error.reason().find("out of memory") == std::string::npos) problem = error.what();
  } catch (const std::bad_alloc&) {
    // Before the script began, or where not even its error could be told.
  } catch (const std::exception& error) {
    left = 0;
    problem = error.what();
  }
  was_met = left == 0;
  left = 0;
  on.reset();
  if (handler != nullptr) handler->finish(true);
  return problem;
}

bool check(const UnwindingSample& sample, const std::string& file, std::string_view kind) {
  LiveStorages storages;
  const StorageWatch watch(storages.observer);
  const auto complain = [&](long n, const std::string& what) {
    std::fprintf(stderr, "%s%s%s: without the %ldth memory: %s\n", sample.name, kind.empty() ? "" : " with ",
                 std::string(kind).c_str(), n, what.c_str());
    return false;
  };
  {
    const Program program = Program::compile(sample.text, file);
    const std::string expected = printedBy(program);
    const size_t live = storages.count;
    const LocalDispatchKeySet keys = tls_local_dispatch_key_set();
    bool was_met = true;
    for (long n = 1; was_met; ++n) {
      const auto problem = problemOfRun(program, kind, n, was_met);
      if (problem) return complain(n, *problem);
      if (modeCount() != 0 || modeCount(DispatchKey::Python) != 0) return complain(n, "a mode is left");
      const LocalDispatchKeySet now = tls_local_dispatch_key_set();
      if (now.included_ != keys.included_ || now.excluded_ != keys.excluded_) return complain(n, "keys have changed");
      if (storages.count != live) return complain(n, "storages are left");
      if (printedBy(program) != expected) return complain(n, "the next run prints something else");
    }
  }
  return storages.count == 0 || complain(0, "storages outlive the program");
}

}  // namespace
}  // namespace boxcar

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "boxcar_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr || std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
  bool passed = true;
  for (const boxcar::UnwindingSample& sample : boxcar::kUnwindingSamples) {
    if (sample.needs_json) continue;
    for (const char* kind : {"", "memory", "cost", "deny", "inject"})
      passed = boxcar::check(sample, folder + "/sample.ops", kind) && passed;
  }
  std::filesystem::remove_all(folder);
  return passed ? 0 : 1;
}
