// Bytes, each a choice -> a whole program -> run in a sandbox, as by `boxcar run --sandbox`, and again piece by piece
// as at a prompt. It must end normally, with an error, or soon after it is interrupted.
//
// BOXCAR_FUZZ_SHOW=1 in the environment writes the program to stderr.

#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/session/session.h>

#include <csignal>
#include <ctime>
#include <new>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/program_text.h"

namespace boxcar::fuzz {
namespace {

// Interrupts a run that takes longer than some seconds. libFuzzer itself uses the signal of alarm().
class Watch final {
 public:
  static constexpr time_t kMostSeconds = 3;

  Watch() {
    std::signal(SIGRTMIN, [](int) { interruptScripts(); });
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    require(::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0, "the system has no timer");
  }
  ~Watch() { ::timer_delete(timer_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // After the first interrupt, repeats it every second: a run that was between two operators may start another one.
  void start() { set(kMostSeconds); }
  void stop() { set(0); }

 private:
  void set(time_t seconds) {
    const itimerspec times{.it_interval = {.tv_sec = seconds == 0 ? 0 : 1, .tv_nsec = 0},
                           .it_value = {.tv_sec = seconds, .tv_nsec = 0}};
    require(::timer_settime(timer_, 0, &times, nullptr) == 0, "the timer cannot be set");
  }

  timer_t timer_{};
};

// Runs [body] like an untrusted program. Memory may run out during compilation; an embedding program can meet this,
// too.
template <class Body>
void runWatched(Body body) {
  static Watch watch;
  watch.start();
  runHarmlessly([&] {
    try {
      body();
    } catch (const std::bad_alloc&) {
    }
  });
  watch.stop();
}

}  // namespace
}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  size_t at = 0;
  // Choices among more than 256, such as all operators, take two bytes.
  const auto below = [&](size_t bound) -> size_t {
    size_t number = at < size ? data[at++] : 0;
    if (bound > 256) number = number << 8 | (at < size ? data[at++] : 0);
    return number % bound;
  };
  const std::vector<std::string> pieces = fuzz::ProgramText(below).write();
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  if (std::getenv("BOXCAR_FUZZ_SHOW") != nullptr) std::fputs(text.c_str(), stderr);
  fuzz::runWatched([&] {
    Program program = Program::compile(text, "fuzz.ops");
    program.setLimits(fuzz::kLimits);
    program.run({"argument"});
  });
  // Run the pieces at a prompt, which continues after an error.
  Session session({"argument"});
  session.setLimits(fuzz::kLimits);
  for (const std::string& piece : pieces) fuzz::runWatched([&] { session.evaluate(piece); });
  return 0;
}
