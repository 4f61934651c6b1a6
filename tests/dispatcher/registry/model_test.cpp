#include <gtest/gtest.h>

#include <random>

#include "tests/dispatcher/registry/registration_program.h"

// Random programs of def, impl, fallback, remove and call, compared with a model of the dispatcher.

namespace boxcar {
namespace {

TEST(Model, AgreesWithTheDispatcherOverRandomPrograms) {
  std::mt19937 random(4711);
  RegistrationProgram program([&random](size_t bound) { return random() % bound; });
  for (long step = 0; step < 100000; ++step) {
    const auto difference = program.step();
    ASSERT_FALSE(difference.has_value()) << "at step " << step << ": " << *difference;
    if (step % 100 != 0) continue;
    const auto in_tables = program.compareTables();
    ASSERT_FALSE(in_tables.has_value()) << "at step " << step << ": " << *in_tables;
  }
  // The program reached every kind of result.
  for (const int kind : {0, kUndefined, kMissing, kAmbiguous}) {
    ASSERT_TRUE(program.seen().contains(kind)) << kind;
  }
}

}  // namespace
}  // namespace boxcar
