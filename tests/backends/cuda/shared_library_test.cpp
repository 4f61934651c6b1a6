#include <boxcar/backends/cuda/shared_library.h>
#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>

#include <string>

namespace boxcar::cuda {
namespace {

template <class Call>
std::string errorOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SharedLibrary, OpensTheFirstFileThereIs) {
  SharedLibrary library("the C library's mathematics", {"libno-such-thing.so.1", "libm.so.6"});
  EXPECT_EQ(library.function<double(double)>("fabs", "abs")(-3.0), 3.0);
}

TEST(SharedLibrary, SaysWhichOperatorWantedALibraryThatIsMissing) {
  SharedLibrary library("cuNothing", {"libcunothing.so.13", "libcunothing.so"});
  EXPECT_EQ(
      errorOf([&] { library.function<void()>("cuNothingCreate", "mm"); }),
      "mm on a CUDA device needs cuNothing, which cannot be opened (libcunothing.so.13: cannot open shared "
      "object file: "
      "No such file or directory). Install cuNothing for this version of CUDA, or add its folder to LD_LIBRARY_PATH");
}

TEST(SharedLibrary, GivesWhatItOpened) {
  SharedLibrary library("the C library's mathematics", {"libm.so.6"});
  EXPECT_NE(library.handle("abs"), nullptr);
  SharedLibrary missing("cuNothing", {"libcunothing.so"});
  EXPECT_EQ(errorOf([&] { missing.handle("mm"); }).substr(0, 36), "mm on a CUDA device needs cuNothing,");
}

TEST(SharedLibrary, SaysWhichFunctionAnOldVersionLacks) {
  SharedLibrary library("the C library's mathematics", {"libm.so.6"});
  EXPECT_EQ(
      errorOf([&] { library.function<void()>("cuNothingCreate", "mm"); }),
      "mm on a CUDA device needs cuNothingCreate of the C library's mathematics, which the installed version lacks; "
      "update it");
}

}  // namespace
}  // namespace boxcar::cuda
