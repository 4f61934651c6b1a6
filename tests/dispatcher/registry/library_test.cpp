#include <boxcar/dispatcher/registry/library.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

TEST(Library, RefusesForeignNamespacesDefinitionsAmongKernelsAndFallbacksOfOneNamespace) {
  Library m = definitions();
  EXPECT_EQ(errorOf([&] { m.def("other::f(Tensor a) -> Tensor"); }),
            "operator other::f cannot be registered in BOXCAR_LIBRARY_FRAGMENT(test, …) at test.cpp:1: the namespaces "
            "differ. Leave the operator's out, or use a block for namespace other");
  Library cpu = implementations(DispatchKey::CPU);
  EXPECT_EQ(
      errorOf([&] { cpu.def("f(Tensor a) -> Tensor"); }),
      "operator f cannot be defined in BOXCAR_LIBRARY_IMPL(test, …) at test.cpp:2: define it in BOXCAR_LIBRARY or "
      "BOXCAR_LIBRARY_FRAGMENT");
  EXPECT_EQ(errorOf([&] { cpu.fallback(CppFunction::makeFallthrough()); }),
            "a fallback serves every operator, so it cannot be registered for namespace test at test.cpp:2: use "
            "BOXCAR_LIBRARY_IMPL(_, KEY, m)");
}

TEST(Library, KernelsNeedANamespaceWhereFallbacksStand) {
  Library all = fallbacks(DispatchKey::CPU);
  EXPECT_EQ(
      errorOf([&] { all.impl("f", CppFunction::makeFallthrough()); }),
      "a kernel of 'f' cannot be registered for namespace _ at test.cpp:3: `_` is for fallbacks, which serve every "
      "operator; use the operator's namespace");
}

TEST(Library, OneLibraryClaimsANamespace) {
  const Library owner(Library::DEF, "claimed", std::nullopt, "a.cpp", 3);
  EXPECT_EQ(errorOf([] { Library(Library::DEF, "claimed", std::nullopt, "b.cpp", 4); }),
            "only one BOXCAR_LIBRARY can claim namespace claimed: it is claimed at a.cpp:3, and again at b.cpp:4. Use "
            "BOXCAR_LIBRARY_FRAGMENT to add to it");
}

Tensor addedByMacro(const Tensor& a, int64_t) { return a; }

}  // namespace

BOXCAR_LIBRARY(test_macro, m) { m.def("infer", BOXCAR_FN(addedByMacro)); }
BOXCAR_LIBRARY_FRAGMENT(test_macro, m) { m.def("declared(Tensor a, int n=1) -> Tensor"); }
BOXCAR_LIBRARY_IMPL(test_macro, CPU, m) { m.impl("declared", &addedByMacro); }
BOXCAR_LIBRARY_IMPL(test_macro, Meta, m) { m.impl("declared", BOXCAR_FN(addedByMacro)); }

static constexpr uint32_t kLineOfBlock = __LINE__;
BOXCAR_LIBRARY_FRAGMENT(test_sites, m) {
  m.def("one(Tensor a, int n) -> Tensor");
  m.def("two(Tensor a, int n) -> Tensor", BOXCAR_FN(addedByMacro));
  m.impl("one", dispatch(DispatchKey::CPU, BOXCAR_FN(addedByMacro)))
      .impl("one", dispatch(DispatchKey::Meta, BOXCAR_FN(addedByMacro)));
}

namespace {

TEST(Library, MacrosRegisterBeforeTheFirstUse) {
  EXPECT_EQ(toString(find("test_macro::infer").schema()), "test_macro::infer(Tensor _0, int _1) -> Tensor");
  const Tensor a = cpuTensor();
  EXPECT_TRUE(find("test_macro::declared").typed<Tensor(const Tensor&, int64_t)>().call(a, 3).is_same(a));
  EXPECT_EQ(Dispatcher::singleton().registrationErrors(), std::vector<std::string>());
  EXPECT_EQ(Dispatcher::singleton().findOverloads("test_macro::declared").size(), 1U);
}

constexpr char kFile[] = "tests/dispatcher/registry/library_test.cpp";

TEST(Library, EachRegistrationOfAMacroBlockKnowsItsOwnLine) {
  const auto siteOf = [](const OperatorHandle& op, DispatchKey key) {
    return toString(Dispatcher::singleton().computeTableEntry(op, key).site);
  };
  const auto line = [](uint32_t offset) { return fmt::format("{}:{}", kFile, kLineOfBlock + offset); };
  const OperatorHandle one = find("test_sites::one");
  const OperatorHandle two = find("test_sites::two");
  EXPECT_EQ(toString(one.entry().schemaSite()), line(2));
  EXPECT_EQ(toString(two.entry().schemaSite()), line(3));
  EXPECT_EQ(siteOf(two, DispatchKey::CPU), line(3));
  EXPECT_EQ(siteOf(one, DispatchKey::CPU), line(4));
  EXPECT_EQ(siteOf(one, DispatchKey::Meta), line(5));

  const detail::LibraryBlock block{detail::LibraryKind::Implementation, DispatchKey::Tracer, "_", nullptr, "x.cpp", 1};
  Library fallback(block);
  EXPECT_EQ(toString(fallback.site()), "x.cpp:1");
  const uint32_t here = __LINE__ + 1;
  fallback.fallback(CppFunction::makeFallthrough());
  EXPECT_EQ(siteOf(one, DispatchKey::Tracer), fmt::format("{}:{}", kFile, here));
}

TEST(Library, MadeByHandKeepsItsSite) {
  Library m(Library::FRAGMENT, "test", std::nullopt, "by_hand.cpp", 12);
  m.def("handmade(Tensor a) -> Tensor", [](const Tensor& a) { return a; });
  const OperatorHandle op = find("test::handmade");
  EXPECT_EQ(toString(op.entry().schemaSite()), "by_hand.cpp:12");
  EXPECT_EQ(toString(Dispatcher::singleton().computeTableEntry(op, DispatchKey::CPU).site), "by_hand.cpp:12");
}

TEST(Library, ItsNamespaceIsOneThatOperatorsCanHave) {
  for (const char* ns : {"", "bad name", "1st", "a::b"}) {
    EXPECT_EQ(
        errorOf([ns] { Library(Library::FRAGMENT, ns, std::nullopt, "by_hand.cpp", 12); }),
        fmt::format("BOXCAR_LIBRARY_FRAGMENT({}, m) at by_hand.cpp:12 has no namespace that operators can have: it "
                    "is letters, digits and _, and does not begin with a digit",
                    ns));
  }
}

// A type that only refers to memory cannot be a result: a boxed caller would keep it longer than the memory.
static_assert(detail::kIsOperatorFunction<std::string(std::string_view)>);
static_assert(detail::kIsOperatorFunction<std::vector<int64_t>(std::span<const int64_t>)>);
static_assert(!detail::kIsOperatorFunction<std::string_view(const Tensor&)>);
static_assert(!detail::kIsOperatorFunction<std::span<const int64_t>(const Tensor&)>);
static_assert(!detail::kIsOperatorFunction<std::optional<std::string_view>(const Tensor&)>);
static_assert(!detail::kIsOperatorFunction<std::tuple<Tensor, std::string_view>(const Tensor&)>);

detail::LibraryBlock failingBlock(void (*init)(Library&)) {
  return {detail::LibraryKind::Fragment, DispatchKey::CatchAll, "test_late", init, "late.cpp", 7};
}

// Runs in a process of its own, because registration errors are kept.
TEST(Library, ErrorsOfBlocksAreCollectedAndSayWhere) {
  const auto registerBlocks = [] {
    static detail::LibraryBlock good = failingBlock([](Library& m) { m.def("good(Tensor a) -> Tensor"); });
    static detail::LibraryBlock twice = failingBlock([](Library& m) {
      m.def("half(Tensor a) -> Tensor");
      m.def("good(Tensor a) -> Tensor");
    });
    static detail::LibraryBlock foreign = failingBlock([](Library&) { throw 3; });
    for (detail::LibraryBlock* block : {&good, &twice, &foreign}) detail::LibraryLink link(*block);
    const std::vector<std::string> errors = Dispatcher::singleton().registrationErrors();
    const bool found = Dispatcher::singleton().findSchema({"test_late::good", ""}).has_value() &&
                       Dispatcher::singleton().findSchema({"test_late::half", ""}).has_value();
    const std::string report = errorOf([] { find("test_late::no_such"); });
    std::fprintf(stderr, "%d %zu\n%s\n", found, errors.size(), report.c_str());
    std::exit(0);
  };
  EXPECT_EXIT(
      registerBlocks(), ::testing::ExitedWithCode(0),
      "1 2\nCould not find schema for test_late::no_such.*\nregistrations that failed:\n"
      "tests/dispatcher/registry/library_test.cpp:[0-9]+: operator test_late::good is defined twice: at "
      "tests/dispatcher/registry/library_test.cpp:[0-9]+ as\n    test_late::good\\(Tensor a\\) -> Tensor\nand at "
      "tests/dispatcher/registry/library_test.cpp:[0-9]+ as\n    test_late::good\\(Tensor a\\) -> Tensor\n"
      "keep one, or give one of them another overload name\n"
      "late.cpp:7: the block threw something that is not a std::exception");
}

TEST(Library, KernelsComeFromAllThatIsCallable) {
  struct Functor {
    int64_t base;
    int64_t operator()(const Tensor&, int64_t n) const { return base + n; }
  };
  int64_t (*const function)(const Tensor&, int64_t) = [](const Tensor&, int64_t n) { return n; };
  int calls = 0;
  const std::vector<CppFunction> kernels{
      CppFunction(function), CppFunction(Functor{10}),
      CppFunction([](DispatchKeySet, const Tensor&, int64_t n) noexcept { return 2 * n; }),
      CppFunction([calls](const Tensor&, int64_t n) mutable { return ++calls + n; })};
  const int64_t expected[] = {3, 13, 6, 4};
  for (size_t i = 0; i < kernels.size(); ++i) {
    Library m = definitions();
    m.def("count(Tensor a, int n) -> int", kernels[i]);
    EXPECT_EQ(find("test::count").typed<int64_t(const Tensor&, int64_t)>().call(cpuTensor(), 3), expected[i]) << i;
  }
}

TEST(Library, StateOfAKernelIsFreedWithItsRegistration) {
  const auto state = std::make_shared<int>(1);
  {
    Library m = definitions();
    m.def("stateful(Tensor a) -> int", [state](const Tensor&) { return int64_t{*state}; });
    EXPECT_EQ(state.use_count(), 2);
    Library newer = implementations(DispatchKey::CPU);
    newer.impl("stateful", [state](const Tensor&) { return int64_t{2}; });
    Library fallback = fallbacks(DispatchKey::Tracer);
    fallback.fallback(CppFunction::makeFromBoxedFunctor([state](const OperatorHandle&, Stack&) {}));
    EXPECT_EQ(state.use_count(), 4);
    EXPECT_EQ(find("test::stateful").typed<int64_t(const Tensor&)>().call(cpuTensor()), 2);
  }
  EXPECT_EQ(state.use_count(), 1);
}

}  // namespace
}  // namespace boxcar
