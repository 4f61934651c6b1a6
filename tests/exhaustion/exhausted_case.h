#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace boxcar::exhaustion {

// Something that takes memory, and does the same each time.
struct ExhaustedCase {
  std::string name;
  // What is done. It may end with an Error or std::bad_alloc where memory is short, and with neither where it is not.
  std::function<void()> body;
  // What is wrong afterwards, whether the body ended or not; nothing where all is as it should.
  std::function<std::optional<std::string>(bool ended)> check = [](bool) { return std::nullopt; };
};

// Each case is made when its turn comes, and goes before the next one.
using CaseMaker = std::function<ExhaustedCase()>;
inline CaseMaker always(ExhaustedCase exhausted) {
  return [exhausted = std::move(exhausted)] { return exhausted; };
}

// From now on nothing is printed but what is wrong.
void quietStandardStreams();

// Says, on the stderr that there was.
void say(const std::string& line);

// Does it once for each n while the n-th request for memory fails, and while that and all later ones do, until none
// did; after each time once without, which must go well. Nothing may stay of a body that failed. Says what is wrong;
// whether nothing was.
bool passes(const ExhaustedCase& exhausted);

}  // namespace boxcar::exhaustion
