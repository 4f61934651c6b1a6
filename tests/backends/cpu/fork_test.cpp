#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// ThreadSanitizer kills a process that forks while it has threads.
#ifndef __SANITIZE_THREAD__
TEST(Fork, TheChildComputesAlone) {
  const int before = cpu::threadCount();
  cpu::setThreadCount(2);
  const Tensor x = randn({1000, 1000});
  const Tensor expected = exp(x);
  const Tensor product = mm(expected, x);  // by a library with its own threads
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    ::_exit(equal(exp(x), expected) && allclose(mm(expected, x), product) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  cpu::setThreadCount(before);
}
#endif

}  // namespace
}  // namespace boxcar
