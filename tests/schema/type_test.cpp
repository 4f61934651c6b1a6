#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/type.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/schema/schema_test_util.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

bool isSubtype(std::string_view type, std::string_view super) { return isSubtypeOf(parseType(type), parseType(super)); }

TEST(Type, IsMadeOnce) {
  EXPECT_EQ(Type::listOf(Type::tensor()), Type::listOf(Type::tensor()));
  EXPECT_EQ(Type::optionalOf(Type::listOf(Type::integer())), parseType("int[]?"));
  const TypePtr types[] = {Type::integer(), Type::tensor()};
  EXPECT_EQ(Type::tupleOf(types), parseType("(int, Tensor)"));
  EXPECT_EQ(Type::unionOf(types), parseType("Union(int, Tensor)"));
  EXPECT_EQ(Type::dictOf(Type::string(), Type::variable("t")), parseType("Dict(str, t)"));
  EXPECT_EQ(Type::futureOf(Type::tensor()), parseType("Future(Tensor)"));
  EXPECT_EQ(Type::awaitOf(Type::tensor()), parseType("Await(Tensor)"));
  EXPECT_EQ(Type::rrefOf(Type::tensor()), parseType("RRef(Tensor)"));
  EXPECT_EQ(Type::classNamed("__torch__.torch.classes.a.B"), parseType("__torch__.torch.classes.a.B"));
  EXPECT_NE(Type::listOf(Type::integer()), Type::listOf(Type::symInt()));
  EXPECT_EQ(Type::of(TypeKind::Quantizer), parseType("Quantizer"));
}

TEST(Type, IsMadeOnceByAnyNumberOfThreads) {
  std::vector<TypePtr> made(4);
  std::vector<std::thread> threads;
  for (TypePtr& type : made) {
    threads.emplace_back([&type] { type = parseType("Dict(str, (int, first_seen_by_threads[])?)"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const TypePtr type : made) EXPECT_EQ(type, made.front());
}

TEST(Type, TellsItsParts) {
  const TypePtr dict = parseType("Dict(str, Tensor?[])");
  EXPECT_EQ(dict->kind(), TypeKind::Dict);
  ASSERT_EQ(dict->contained().size(), 2u);
  EXPECT_EQ(dict->contained()[0], Type::string());
  EXPECT_TRUE(dict->contained()[1]->isList());
  EXPECT_TRUE(dict->contained()[1]->element()->isOptional());
  EXPECT_EQ(dict->depth(), 4);
  EXPECT_EQ(toString(*dict), "Dict(str, Tensor?[])");
  EXPECT_FALSE(dict->hasVariables());
  EXPECT_TRUE(parseType("Dict(str, (int, t))")->hasVariables());
}

TEST(Type, OptionalOfOptionalAndOfNoneIsTheSame) {
  EXPECT_EQ(parseType("int??"), parseType("int?"));
  EXPECT_EQ(Type::optionalOf(Type::none()), Type::none());
}

TEST(Type, UnderlyingIsWhatRepresentsIt) {
  for (const std::string_view type :
       {"int", "SymInt", "ScalarType", "Layout", "MemoryFormat", "DeviceIndex", "QScheme", "ConstQuantizerPtr"}) {
    EXPECT_EQ(parseType(type)->underlying(), Type::integer()) << type;
  }
  EXPECT_EQ(parseType("Dimname")->underlying(), Type::string());
  EXPECT_EQ(Type::tensor()->underlying(), Type::tensor());
  EXPECT_EQ(parseType("SymInt[]")->underlying(), parseType("SymInt[]"));
}

TEST(Type, Subtypes) {
  EXPECT_TRUE(isSubtype("Tensor", "Tensor"));
  EXPECT_TRUE(isSubtype("Tensor", "Tensor?"));
  EXPECT_TRUE(isSubtype("None", "Tensor?"));
  EXPECT_TRUE(isSubtype("ScalarType?", "int?"));
  EXPECT_TRUE(isSubtype("int", "SymInt"));
  EXPECT_TRUE(isSubtype("Layout", "int"));
  EXPECT_TRUE(isSubtype("Dimname", "str"));
  EXPECT_TRUE(isSubtype("Tensor?[]", "Any"));
  EXPECT_TRUE(isSubtype("None", "Any"));
  for (const std::string_view number : {"bool", "int", "float", "complex"}) EXPECT_TRUE(isSubtype(number, "Scalar"));
  EXPECT_TRUE(isSubtype("(int, Tensor)", "(SymInt, Tensor?)"));
  EXPECT_TRUE(isSubtype("int", "Union(str, int)"));
  EXPECT_TRUE(isSubtype("Union(int, str)", "Union(str, int, Tensor)"));
  EXPECT_TRUE(isSubtype("Future(int)", "Future(Any)"));
  EXPECT_TRUE(isSubtype("__torch__.torch.classes.a.B", "AnyClassType"));

  EXPECT_FALSE(isSubtype("Tensor?", "Tensor"));
  EXPECT_FALSE(isSubtype("SymInt", "int"));
  EXPECT_FALSE(isSubtype("int", "ScalarType"));
  EXPECT_FALSE(isSubtype("int", "float"));
  EXPECT_FALSE(isSubtype("Any", "int"));
  EXPECT_FALSE(isSubtype("int[]", "SymInt[]"));
  EXPECT_FALSE(isSubtype("Dict(str, int)", "Dict(str, Any)"));
  EXPECT_FALSE(isSubtype("Union(int, str)", "int"));
  EXPECT_FALSE(isSubtype("(int, int)", "(int, int, int)"));
}

TEST(Type, ErrorsNameTheRule) {
  EXPECT_EQ(errorOf([] { Type::of(TypeKind::List); }),
            "this kind of type has parameters: make it with Type::listOf and its like");
  EXPECT_EQ(errorOf([] { Type::classNamed("Foo"); }),
            "class Foo is not of the form __torch__.torch.classes.namespace.Name");
  EXPECT_EQ(
      errorOf([] { Type::variable("T"); }),
      "'T' cannot name a type variable: use a word that begins with a lowercase letter and is not the name of a type");
  EXPECT_EQ(errorOf([] { Type::variable("int"); }),
            "'int' cannot name a type variable: use a word that begins with a lowercase letter and is not the name of "
            "a type");
  EXPECT_EQ(errorOf([] { Type::unionOf({}); }), "a union has at least one member");
  EXPECT_EQ(errorOf([] {
              TypePtr type = Type::integer();
              for (int i = 0; i < Type::kMaxDepth; ++i) type = Type::listOf(type);
            }),
            "a type cannot be nested deeper than 64 types");
}

TEST(Type, ClassesOfOneNameDifferInTheirIdentity) {
  static const int first = 0;
  static const int second = 0;
  const TypePtr a = Type::classOf("Point", &first);
  const TypePtr b = Type::classOf("Point", &second);
  EXPECT_EQ(a, Type::classOf("Point", &first));
  EXPECT_NE(a, b);
  EXPECT_EQ(a->text(), b->text());
  EXPECT_EQ(a->identity(), &first);
  EXPECT_EQ(Type::tensor()->identity(), nullptr);
  // So do all types that contain them.
  EXPECT_NE(Type::listOf(a), Type::listOf(b));
  EXPECT_NE(Type::optionalOf(a), Type::optionalOf(b));
  EXPECT_NE(Type::dictOf(Type::string(), a), Type::dictOf(Type::string(), b));
  EXPECT_EQ(Type::dictOf(Type::string(), a), Type::dictOf(Type::string(), a));
  EXPECT_FALSE(isSubtypeOf(a, b));
  EXPECT_TRUE(isSubtypeOf(a, Type::optionalOf(a)));
  EXPECT_FALSE(isSubtypeOf(a, Type::optionalOf(b)));
}

}  // namespace
}  // namespace boxcar
