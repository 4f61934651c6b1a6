#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

// A build may allow only some operators by name; blocks then skip all others, as if they were not written.

namespace boxcar {
namespace {

const std::vector<std::string> kNames{"a", "aa", "b", "bb", "bb.out", "bb.outer", "c", "ccc"};

detail::LibraryBlock blockAllowing(const char* operators, detail::LibraryKind kind, DispatchKey key) {
  return {kind, key, "allowed", nullptr, "allowed.cpp", 1, operators};
}

// Returns the names in kNames that are registered after a block defines and implements all, in a build that allows
// [operators].
std::vector<std::string> registeredAllowing(const char* operators) {
  const detail::LibraryBlock definitions =
      blockAllowing(operators, detail::LibraryKind::Fragment, DispatchKey::CatchAll);
  const detail::LibraryBlock kernels = blockAllowing(operators, detail::LibraryKind::Implementation, DispatchKey::CPU);
  Library m(definitions);
  Library cpu(kernels);
  std::vector<std::string> found;
  for (const std::string& name : kNames) {
    m.def(name + "(Tensor x) -> Tensor");
    cpu.impl(name, CppFunction::makeFallthrough());
    const size_t dot = name.find('.');
    const OperatorName whole("allowed::" + name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
    const auto op = Dispatcher::singleton().findOp(whole);
    if (!op.has_value()) continue;
    EXPECT_TRUE(op->hasSchema()) << name;
    EXPECT_TRUE(op->hasKernelForDispatchKey(DispatchKey::CPU)) << name;
    found.push_back(name);
  }
  return found;
}

using Names = std::vector<std::string>;

TEST(AllowedOperators, AreAllWhereNoListIsGiven) { EXPECT_EQ(registeredAllowing(nullptr), kNames); }

TEST(AllowedOperators, AreThoseOfTheListByTheirWholeName) {
  EXPECT_EQ(registeredAllowing("allowed::a;allowed::bb;allowed::ccc"), (Names{"a", "bb", "ccc"}));
  EXPECT_EQ(registeredAllowing("allowed::bb.out"), Names{"bb.out"});
  EXPECT_EQ(registeredAllowing("other::a;;allowed::ccc;"), Names{"ccc"});
  // Prefixes and suffixes of a name do not match, nor does a name without its namespace.
  EXPECT_EQ(registeredAllowing("allowed::aaa;allowed::bb.o;xallowed::c;a;bb"), Names());
  EXPECT_EQ(registeredAllowing(""), Names());
}

TEST(AllowedOperators, WithAKernelOfItsDefinitionAreLeftOutWithIt) {
  const detail::LibraryBlock block = blockAllowing("allowed::a", detail::LibraryKind::Fragment, DispatchKey::CatchAll);
  Library m(block);
  m.def("a(Tensor x) -> Tensor", CppFunction::makeFallthrough());
  m.def("b(Tensor x) -> Tensor", CppFunction::makeFallthrough());
  EXPECT_TRUE(Dispatcher::singleton().findOp({"allowed::a", ""}).has_value());
  EXPECT_FALSE(Dispatcher::singleton().findOp({"allowed::b", ""}).has_value());
}

}  // namespace
}  // namespace boxcar
