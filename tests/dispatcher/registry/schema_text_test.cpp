#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/dispatcher/registry/registration_listener.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using detail::SchemaText;

Tensor same(const Tensor& a) { return a; }

TEST(SchemaText, AllThatTheProgramIsLinkedWithCanBeRead) {
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    EXPECT_TRUE(Dispatcher::singleton().findSchema(name).has_value()) << toString(name);
  }
  EXPECT_EQ(Dispatcher::singleton().registrationErrors(), std::vector<std::string>());
}

TEST(SchemaText, DefinesAnOperatorThatIsReadWhenItIsAskedFor) {
  static constexpr SchemaText kTexts[] = {
      {"test::late", "", "test::late(Tensor a) -> Tensor", {"late.schemas", 3}, 1, {Tag::pointwise}},
      {"test::late", "int", "test::late.int(Tensor a, int n) -> Tensor", {"late.schemas", 5}}};
  Library m = definitions();
  m.def(kTexts);
  m.impl("late", dispatch(DispatchKey::CPU, BOXCAR_FN(same)));
  const OperatorHandle op = find("test::late");
  EXPECT_EQ(toString(op.schema()), "test::late(Tensor a) -> Tensor");
  EXPECT_EQ(toString(op.entry().schemaSite()), "late.schemas:3");
  EXPECT_EQ(op.entry().tags(), std::vector<Tag>{Tag::pointwise});
  const Tensor a = cpuTensor();
  EXPECT_TRUE(op.typed<Tensor(const Tensor&)>().call(a).is_same(a));
  EXPECT_EQ(Dispatcher::singleton().findOverloads("test::late").size(), 2U);
}

TEST(SchemaText, IsListedAndNoDanglingKernelBeforeItIsRead) {
  static constexpr SchemaText kTexts[] = {
      {"test::listed", "", "test::listed(Tensor a) -> Tensor", {"late.schemas", 3}}};
  Library m = definitions();
  m.def(kTexts);
  const std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
  EXPECT_EQ(std::ranges::count(names, OperatorName("test::listed", "")), 1);
  EXPECT_TRUE(Dispatcher::singleton().findDanglingImpls().empty());
}

TEST(SchemaText, IsDefinedOnceOnly) {
  static constexpr SchemaText kTexts[] = {{"test::twice", "", "test::twice(Tensor a) -> Tensor", {"late.schemas", 3}}};
  Library m = definitions();
  m.def(kTexts);
  const std::string error =
      "operator test::twice is defined twice: at late.schemas:3 as\n    test::twice(Tensor a) -> Tensor\nand at "
      "test.cpp:1 as\n    test::twice(int a) -> int\nkeep one, or give one of them another overload name";
  EXPECT_EQ(errorOf([&] { m.def("twice(int a) -> int"); }), error);
}

TEST(SchemaText, GoesWithItsLibraryReadOrNot) {
  static constexpr SchemaText kTexts[] = {{"test::gone", "", "test::gone(Tensor a) -> Tensor", {"late.schemas", 3}},
                                          {"test::read", "", "test::read(Tensor a) -> Tensor", {"late.schemas", 5}}};
  {
    Library m = definitions();
    m.def(kTexts);
    find("test::read");
  }
  EXPECT_FALSE(Dispatcher::singleton().findOp({"test::gone", ""}).has_value());
  EXPECT_FALSE(Dispatcher::singleton().findOp({"test::read", ""}).has_value());
}

TEST(SchemaText, OneThatCannotBeReadIsAnErrorOfRegistration) {
  static constexpr SchemaText kTexts[] = {{"test::wrong", "", "test::wrong(Tensor a", {"late.schemas", 3}}};
  Library m = definitions();
  m.def(kTexts);
  const size_t errors = Dispatcher::singleton().registrationErrors().size();
  testing::internal::CaptureStderr();
  EXPECT_FALSE(Dispatcher::singleton().findOp({"test::wrong", ""}).has_value());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("boxcar: a registration failed: "), std::string::npos);
  EXPECT_EQ(Dispatcher::singleton().registrationErrors().size(), errors + 1);
  const std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
  EXPECT_EQ(std::ranges::count(names, OperatorName("test::wrong", "")), 0);
}

TEST(SchemaText, AKernelOfAnotherTypeIsRefusedWhereItIsRegistered) {
  static constexpr SchemaText kTexts[] = {{"test::other", "", "test::other(int a) -> int", {"late.schemas", 3}}};
  Library m = definitions();
  m.def(kTexts);
  EXPECT_NE(errorOf([&] {
              m.impl("other", dispatch(DispatchKey::CPU, BOXCAR_FN(same)));
            }).find("does not match the operator's schema, defined at late.schemas:3"),
            std::string::npos);
}

struct Counting final : OpRegistrationListener {
  explicit Counting(std::vector<std::string>& names) : told(names) {}
  void onOperatorRegistered(const OperatorHandle& op) override { told.push_back(toString(op.schema())); }
  void onOperatorDeregistered(const OperatorHandle&) override {}
  std::vector<std::string>& told;
};

TEST(SchemaText, ListenersAreToldOfOperatorsThatNobodyAskedFor) {
  static constexpr SchemaText kBefore[] = {
      {"test::before", "", "test::before(Tensor a) -> Tensor", {"late.schemas", 3}}};
  static constexpr SchemaText kAfter[] = {{"test::after", "", "test::after(Tensor a) -> Tensor", {"late.schemas", 4}}};
  Library m = definitions();
  m.def(kBefore);
  std::vector<std::string> told;
  const auto listener = Dispatcher::singleton().addRegistrationListener(std::make_unique<Counting>(told));
  EXPECT_EQ(std::ranges::count(told, "test::before(Tensor a) -> Tensor"), 1);
  m.def(kAfter);
  EXPECT_EQ(told.back(), "test::after(Tensor a) -> Tensor");
}

TEST(SchemaText, ThreadsThatAskAtOnceFindAnOperatorThatCanBeCalled) {
  constexpr int kOperators = 200;
  std::deque<std::string> words;
  std::vector<SchemaText> texts;
  for (int i = 0; i < kOperators; ++i) {
    const std::string& name = words.emplace_back("test::raced" + std::to_string(i));
    texts.push_back({name.c_str(), "", words.emplace_back(name + "(Tensor a) -> Tensor").c_str(), {"late.schemas", 3}});
  }
  Library m = definitions();
  m.def(texts);
  for (const SchemaText& text : texts) m.impl(text.name, dispatch(DispatchKey::CPU, BOXCAR_FN(same)));
  const Tensor a = cpuTensor();
  std::atomic<int> at{0};
  std::atomic<int> failed{0};
  const auto callAll = [&] {
    for (int i = 0; i < kOperators; ++i) {
      // Wait until both threads are at the same operator.
      at.fetch_add(1);
      while (at.load() < 2 * (i + 1)) std::this_thread::yield();
      try {
        Dispatcher::singleton().findSchemaOrThrow(texts[i].name, "").typed<Tensor(const Tensor&)>().call(a);
      } catch (const Error&) {
        failed.fetch_add(1);
      }
    }
  };
  std::thread other(callAll);
  callAll();
  other.join();
  EXPECT_EQ(failed.load(), 0);
}

}  // namespace
}  // namespace boxcar
