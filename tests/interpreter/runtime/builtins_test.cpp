#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "tests/test_support.h"

namespace boxcar::interp {
namespace {

// Returns the result of a built-in for these arguments, as Python's repr shows it, or the error.
std::string call(std::string_view name, std::vector<IValue> arguments) {
  const auto index = findBuiltin(name);
  if (!index) return "there is no built-in " + std::string(name);
  std::string text;
  const std::string error = errorOf([&] { text = repr(builtins()[*index].function(arguments)); });
  return error == "no error" ? text : error;
}

// Returns the result type of a built-in with a type rule for arguments of these types.
std::string typeGiven(std::string_view name, std::vector<TypePtr> arguments) {
  const TypePtr type = builtins()[*findBuiltin(name)].result_rule(arguments);
  return type == nullptr ? "none fits" : std::string(type->text());
}

IValue strings(std::initializer_list<const char*> texts) {
  GenericList list;
  for (const char* text : texts) list.push_back(text);
  return list;
}

TEST(Builtins, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Builtin& builtin : builtins()) EXPECT_TRUE(names.insert(builtin.name()).second) << builtin.name();
  for (size_t i = 0; i < builtins().size(); ++i) EXPECT_EQ(findBuiltin(builtins()[i].name()), i);
  EXPECT_FALSE(findBuiltin("nothing").has_value());
}

TEST(Builtins, AVariadicOneHasItsListLastAmongThePositionalOnes) {
  for (const Builtin& builtin : builtins()) {
    if (!builtin.variadic) continue;
    const std::vector<Argument>& arguments = builtin.schema.arguments();
    size_t last = arguments.size();
    while (last > 0 && arguments[last - 1].kwarg_only()) --last;
    ASSERT_GT(last, 0U) << builtin.name();
    EXPECT_TRUE(arguments[last - 1].type()->isList()) << builtin.name();
  }
}

TEST(Builtins, Conversions) {
  EXPECT_EQ(call("int", {"  -12 "}), "-12");
  EXPECT_EQ(call("int", {"1_000"}), "1000");
  EXPECT_EQ(call("int", {2.9}), "2");
  EXPECT_EQ(call("int", {true}), "1");
  EXPECT_EQ(call("int", {"1.5"}), "int() cannot read '1.5'");
  EXPECT_EQ(call("int", {"9223372036854775808"}), "int('9223372036854775808') does not fit 64 bits");
  EXPECT_EQ(call("int", {"_1"}), "int() cannot read '_1'");
  EXPECT_EQ(call("int", {IValue()}), "int() takes a number or a str, not NoneType");
  EXPECT_EQ(call("float", {"1e3"}), "1000.0");
  EXPECT_EQ(call("float", {" -Infinity "}), "-inf");
  EXPECT_EQ(call("float", {"nan"}), "nan");
  EXPECT_EQ(call("float", {"1e999"}), "inf");
  EXPECT_EQ(call("float", {"nan(1)"}), "float() cannot read 'nan(1)'");
  EXPECT_EQ(call("float", {""}), "float() cannot read ''");
  EXPECT_EQ(call("float", {"+-1"}), "float() cannot read '+-1'");
  EXPECT_EQ(call("bool", {"False"}), "True");
  EXPECT_EQ(call("str", {"text"}), "'text'");
  EXPECT_EQ(call("ord", {"é"}), "233");
  EXPECT_EQ(call("ord", {"ab"}), "ord() takes a single character, not 'ab'");
  EXPECT_EQ(call("chr", {8364}), "'€'");
  EXPECT_EQ(call("chr", {0xD800}), "chr() takes the number of a character, not 55296");
  EXPECT_EQ(call("type", {1.5}), "'float'");
}

TEST(Builtins, Numbers) {
  EXPECT_EQ(call("min", {3, 1, 2}), "1");
  EXPECT_EQ(call("max", {List<double>{1, 3, 2}}), "3.0");
  EXPECT_EQ(call("min", {"b", "a"}), "'a'");
  EXPECT_EQ(call("max", {1, 1.0}), "1");
  EXPECT_EQ(call("max", {GenericList()}), "max() of nothing: the sequence is empty");
  EXPECT_EQ(call("abs", {-3}), "3");
  EXPECT_EQ(call("abs", {std::complex<double>(3, 4)}), "5.0");
  EXPECT_EQ(call("sum", {List<int64_t>{1, 2, 3}}), "6");
  EXPECT_EQ(call("sum", {List<double>()}), "0.0");
  EXPECT_EQ(call("sum", {List<int64_t>{1}, 10}), "11");
  EXPECT_EQ(call("round", {2.5}), "2");
  EXPECT_EQ(call("round", {3.5}), "4");
  EXPECT_EQ(call("round", {2.675, 2}), "2.67");
  EXPECT_EQ(call("round", {1234.5, -2}), "1200.0");
  EXPECT_EQ(call("round", {1250, -2}), "1200");
  EXPECT_EQ(call("round", {1350, -2}), "1400");
  EXPECT_EQ(call("round", {-1250, -2}), "-1200");
  EXPECT_EQ(call("math::sqrt", {9.0}), "3.0");
  EXPECT_EQ(call("math::sqrt", {-1.0}), "math::sqrt(-1.0): the number is not in the function's domain");
  EXPECT_EQ(call("math::floor", {-1.5}), "-2");
  EXPECT_EQ(call("math::ceil", {1.2}), "2");
}

TEST(Builtins, Sequences) {
  EXPECT_EQ(call("len", {"text"}), "4");
  EXPECT_EQ(call("range", {3}), "[0, 1, 2]");
  EXPECT_EQ(call("range", {3, 0, -1}), "[3, 2, 1]");
  EXPECT_EQ(call("range", {0, 3, 0}), "range() arg 3 must not be zero");
  EXPECT_EQ(call("range", {int64_t{1} << 40}),
            "a range of 1099511627776 ints is too long for a list; iterate over it with `for`");
  EXPECT_EQ(call("sorted", {List<int64_t>{3, 1, 2}, false}), "[1, 2, 3]");
  EXPECT_EQ(call("sorted", {"bca", true}), "['c', 'b', 'a']");
  EXPECT_EQ(call("zip", {List<int64_t>{1, 2}, "ab"}), "[(1, 'a'), (2, 'b')]");
  EXPECT_EQ(call("enumerate", {"ab", 1}), "[(1, 'a'), (2, 'b')]");
  EXPECT_EQ(call("list", {"ab"}), "['a', 'b']");
  EXPECT_EQ(call("list", {}), "[]");
  EXPECT_EQ(call("any", {List<int64_t>{0, 1}}), "True");
  EXPECT_EQ(call("all", {List<int64_t>{0, 1}}), "False");
}

TEST(Builtins, MethodsOfStrings) {
  EXPECT_EQ(call("str.split", {"  a b  c ", IValue(), -1}), "['a', 'b', 'c']");
  EXPECT_EQ(call("str.split", {" a b  c ", IValue(), 1}), "['a', 'b  c ']");
  EXPECT_EQ(call("str.split", {"a,b,,c", ",", -1}), "['a', 'b', '', 'c']");
  EXPECT_EQ(call("str.split", {"a,b,c", ",", 1}), "['a', 'b,c']");
  EXPECT_EQ(call("str.split", {"", ",", -1}), "['']");
  EXPECT_EQ(call("str.split", {"abc", "", -1}), "the separator of split() must not be empty");
  EXPECT_EQ(call("str.join", {", ", strings({"a", "b"})}), "'a, b'");
  EXPECT_EQ(call("str.join", {", ", List<int64_t>{1}}), "join() takes strs, but element 0 is int");
  EXPECT_EQ(call("str.strip", {" \ta b\n", IValue()}), "'a b'");
  EXPECT_EQ(call("str.strip", {"éxaé", "é"}), "'xa'");
  EXPECT_EQ(call("str.strip", {"  ", IValue()}), "''");
  EXPECT_EQ(call("str.startswith", {"abc", "ab", 0, IValue()}), "True");
  EXPECT_EQ(call("str.endswith", {"abc", "ab", 0, IValue()}), "False");
  EXPECT_EQ(call("str.replace", {"aaa", "aa", "b", -1}), "'ba'");
  EXPECT_EQ(call("str.replace", {"aaa", "a", "b", 2}), "'bba'");
  EXPECT_EQ(call("str.replace", {"ñb", "", "-", -1}), "'-ñ-b-'");
  EXPECT_EQ(call("str.replace", {"ñb", "", "-", 2}), "'-ñ-b'");
  EXPECT_EQ(call("str.lower", {"AÉ€"}), "'aé€'");
  EXPECT_EQ(call("str.upper", {"aéя"}), "'AÉЯ'");
  EXPECT_EQ(call("str.find", {"añb", "b", 0, IValue()}), "2");
  EXPECT_EQ(call("str.find", {"abc", "z", 0, IValue()}), "-1");
}

TEST(Builtins, StringsArePartedFromBothEnds) {
  EXPECT_EQ(call("str.rsplit", {" a b  c ", IValue(), 1}), "[' a b', 'c']");
  EXPECT_EQ(call("str.rsplit", {" a b  c ", IValue(), 0}), "[' a b  c']");
  EXPECT_EQ(call("str.rsplit", {" a b  c ", IValue(), -1}), "['a', 'b', 'c']");
  EXPECT_EQ(call("str.rsplit", {"  ", IValue(), 1}), "[]");
  EXPECT_EQ(call("str.rsplit", {"a,b,c", ",", 1}), "['a,b', 'c']");
  EXPECT_EQ(call("str.rsplit", {"abc", "", 1}), "the separator of rsplit() must not be empty");
  EXPECT_EQ(call("str.splitlines", {"a\nb\r\n\nc", false}), "['a', 'b', '', 'c']");
  EXPECT_EQ(call("str.splitlines", {"a\r\nb\n", true}), "['a\\r\\n', 'b\\n']");
  EXPECT_EQ(call("str.splitlines", {"a\u2028b", false}), "['a', 'b']");
  EXPECT_EQ(call("str.splitlines", {"", false}), "[]");
  EXPECT_EQ(call("str.partition", {"a-b-c", "-"}), "('a', '-', 'b-c')");
  EXPECT_EQ(call("str.partition", {"abc", "-"}), "('abc', '', '')");
  EXPECT_EQ(call("str.rpartition", {"a-b-c", "-"}), "('a-b', '-', 'c')");
  EXPECT_EQ(call("str.rpartition", {"abc", "-"}), "('', '', 'abc')");
  EXPECT_EQ(call("str.lstrip", {" a ", IValue()}), "'a '");
  EXPECT_EQ(call("str.rstrip", {" a ", IValue()}), "' a'");
  EXPECT_EQ(call("str.rstrip", {"  ", IValue()}), "''");
  EXPECT_EQ(call("str.lstrip", {"éxé", "é"}), "'xé'");
  EXPECT_EQ(call("str.rstrip", {"éxé", "é"}), "'éx'");
}

TEST(Builtins, StringsAreSearchedBetweenTwoCharacters) {
  EXPECT_EQ(call("str.find", {"bñb", "b", 1, IValue()}), "2");
  EXPECT_EQ(call("str.find", {"bñb", "b", 1, 2}), "-1");
  EXPECT_EQ(call("str.find", {"bñb", "b", -1, IValue()}), "2");
  EXPECT_EQ(call("str.find", {"abc", "", 3, IValue()}), "3");
  EXPECT_EQ(call("str.find", {"abc", "", 4, IValue()}), "-1");
  EXPECT_EQ(call("str.find", {"abc", "", 2, 1}), "-1");
  EXPECT_EQ(call("str.rfind", {"bñb", "b", 0, IValue()}), "2");
  EXPECT_EQ(call("str.rfind", {"bñb", "b", 0, -1}), "0");
  EXPECT_EQ(call("str.index", {"abc", "c", 0, IValue()}), "2");
  EXPECT_EQ(call("str.index", {"abc", "z", 0, IValue()}), "'z' is not in the str 'abc'");
  EXPECT_EQ(call("str.rindex", {"aba", "a", 0, IValue()}), "2");
  EXPECT_EQ(call("str.count", {"aaañ", "aa", 0, IValue()}), "1");
  EXPECT_EQ(call("str.count", {"añ", "", 0, IValue()}), "3");
  EXPECT_EQ(call("str.count", {"aaa", "a", 1, 2}), "1");
  EXPECT_EQ(call("str.startswith", {"ñab", "a", 1, IValue()}), "True");
  EXPECT_EQ(call("str.endswith", {"abñ", "b", 0, 2}), "True");
}

TEST(Builtins, CasesAndKindsOfCharacters) {
  EXPECT_EQ(call("str.title", {"éa bC x1y"}), "'Éa Bc X1Y'");
  EXPECT_EQ(call("str.capitalize", {"éAb Cd"}), "'Éab cd'");
  EXPECT_EQ(call("str.swapcase", {"aBÉ1"}), "'Abé1'");
  EXPECT_EQ(call("str.isalpha", {"aé"}), "True");
  EXPECT_EQ(call("str.isalpha", {"a1"}), "False");
  EXPECT_EQ(call("str.isalpha", {""}), "False");
  EXPECT_EQ(call("str.isdigit", {"012"}), "True");
  EXPECT_EQ(call("str.isdigit", {"1.2"}), "False");
  EXPECT_EQ(call("str.isalnum", {"aé1"}), "True");
  EXPECT_EQ(call("str.isalnum", {"a_"}), "False");
  EXPECT_EQ(call("str.isspace", {" \t\u2003"}), "True");
  EXPECT_EQ(call("str.islower", {"a1é"}), "True");
  EXPECT_EQ(call("str.islower", {"1"}), "False");
  EXPECT_EQ(call("str.isupper", {"AÉ 1"}), "True");
  EXPECT_EQ(call("str.isupper", {"Ab"}), "False");
  EXPECT_EQ(call("str.istitle", {"Ab 1C"}), "True");
  EXPECT_EQ(call("str.istitle", {"AB"}), "False");
  EXPECT_EQ(call("str.istitle", {"1"}), "False");
  EXPECT_EQ(call("str.isidentifier", {"_a1"}), "True");
  EXPECT_EQ(call("str.isidentifier", {"1a"}), "False");
  EXPECT_EQ(call("str.isprintable", {"a é"}), "True");
  EXPECT_EQ(call("str.isprintable", {"a\n"}), "False");
  EXPECT_EQ(call("str.isprintable", {""}), "True");
}

TEST(Builtins, StringsAreFilledToAWidth) {
  EXPECT_EQ(call("str.ljust", {"ñ", 3, "-"}), "'ñ--'");
  EXPECT_EQ(call("str.rjust", {"ñ", 3, "é"}), "'ééñ'");
  EXPECT_EQ(call("str.center", {"abc", 8, " "}), "'  abc   '");
  EXPECT_EQ(call("str.center", {"abcd", 7, " "}), "'  abcd '");
  EXPECT_EQ(call("str.center", {"abcd", 2, " "}), "'abcd'");
  EXPECT_EQ(call("str.center", {"a", 2, "ab"}), "center() fills with a single character, not 'ab'");
  EXPECT_EQ(call("str.ljust", {"a", int64_t{1} << 40, " "}),
            "ljust() makes no str of more than 1073741824 characters, as a width of 1099511627776 would be");
  EXPECT_EQ(call("str.zfill", {"-42", 6}), "'-00042'");
  EXPECT_EQ(call("str.expandtabs", {"a\tbc\n\td", 4}), "'a   bc\\n    d'");
  EXPECT_EQ(call("str.expandtabs", {"a\tb", 0}), "'ab'");
  EXPECT_EQ(call("hex", {-255}), "'-0xff'");
  EXPECT_EQ(call("oct", {8}), "'0o10'");
  EXPECT_EQ(call("bin", {0}), "'0b0'");
  EXPECT_EQ(call("hex", {std::numeric_limits<int64_t>::min()}), "'-0x8000000000000000'");
}

TEST(Builtins, FunctionsOfMath) {
  EXPECT_EQ(call("math::atan2", {1.0, -1.0}), "2.356194490192345");
  EXPECT_EQ(call("math::log1p", {-1.0}), "math::log1p(-1.0): the number is not in the function's domain");
  EXPECT_EQ(call("math::gamma", {5.0}), "24.0");
  EXPECT_EQ(call("math::lgamma", {0.5}), "0.5723649429247001");
  EXPECT_EQ(call("math::gamma", {200.0}), "math::gamma(200.0) is too large for a float");
  EXPECT_EQ(call("math::fmod", {-7.5, 2.0}), "-1.5");
  EXPECT_EQ(call("math::fmod", {1.0, 0.0}), "math::fmod(1.0, 0.0): the numbers are not in the function's domain");
  EXPECT_EQ(call("math::hypot", {1e308, 1e308}), "1.4142135623730951e+308");
  EXPECT_EQ(call("math::hypot", {1.7e308, 1.7e308}), "math::hypot(1.7e+308, 1.7e+308) is too large for a float");
  EXPECT_EQ(call("math::remainder", {7.5, 2.0}), "-0.5");
  EXPECT_EQ(call("math::copysign", {3.0, -0.0}), "-3.0");
  EXPECT_EQ(call("math::degrees", {3.141592653589793}), "180.0");
  EXPECT_EQ(call("math::ldexp", {0.5, 4}), "8.0");
  EXPECT_EQ(call("math::ldexp", {1.0, 5000}), "math::ldexp(1.0, 5000) is too large for a float");
  EXPECT_EQ(call("math::frexp", {12.0}), "(0.75, 4)");
  EXPECT_EQ(call("math::modf", {-1.25}), "(-0.25, -1.0)");
  EXPECT_EQ(call("math::trunc", {-1.7}), "-1");
  EXPECT_EQ(call("math::isnan", {1.0}), "False");
  EXPECT_EQ(call("math::isinf", {-std::numeric_limits<double>::infinity()}), "True");
  EXPECT_EQ(call("math::isfinite", {1.0}), "True");
  EXPECT_EQ(call("math::gcd", {-12, 18}), "6");
  EXPECT_EQ(call("math::gcd", {0, 0}), "0");
  EXPECT_EQ(call("math::factorial", {20}), "2432902008176640000");
  EXPECT_EQ(call("math::factorial", {21}), "math::factorial(21) does not fit an int of 64 bits");
  EXPECT_EQ(call("math::factorial", {-1}), "math::factorial(-1): the number must not be negative");
  EXPECT_EQ(call("divmod", {-7, 2}), "(-4, 1)");
  EXPECT_EQ(call("divmod", {7.5, 2}), "(3.0, 1.5)");
}

TEST(Builtins, TensorsOfOneElementAreOrdered) {
  const GenericList tensors;
  for (const double number : {3.0, 1.0, 2.0}) tensors.push_back(full({}, number));
  EXPECT_EQ(call("sorted", {tensors, false}), "[tensor(1.), tensor(2.), tensor(3.)]");
  EXPECT_EQ(call("max", {tensors}), "tensor(3.)");
  tensors.push_back(full({2}, 1.0));
  EXPECT_EQ(call("sorted", {tensors, false}), "the truth of a Tensor with 2 elements is ambiguous; use any() or all()");
}

TEST(Builtins, MethodsOfLists) {
  const List<int64_t> list{3, 1};
  EXPECT_EQ(call("list.append", {list, 2}), "None");
  EXPECT_EQ(repr(IValue(list)), "[3, 1, 2]");
  EXPECT_EQ(call("list.append", {list, "a"}), "expected int, found str");
  call("list.extend", {list, list});
  EXPECT_EQ(repr(IValue(list)), "[3, 1, 2, 3, 1, 2]");
  call("list.insert", {list, -100, 9});
  call("list.insert", {list, 100, 8});
  EXPECT_EQ(repr(IValue(list)), "[9, 3, 1, 2, 3, 1, 2, 8]");
  EXPECT_EQ(call("list.pop", {list, -1}), "8");
  EXPECT_EQ(call("list.pop", {list, 0}), "9");
  EXPECT_EQ(call("list.index", {list, 2}), "2");
  EXPECT_EQ(call("list.index", {list, 7}), "7 is not in the list");
  EXPECT_EQ(call("list.count", {list, 3}), "2");
  call("list.sort", {list, true});
  EXPECT_EQ(repr(IValue(list)), "[3, 3, 2, 2, 1, 1]");
  call("list.reverse", {list});
  EXPECT_EQ(repr(IValue(list)), "[1, 1, 2, 2, 3, 3]");
  EXPECT_EQ(call("list.copy", {list}), "[1, 1, 2, 2, 3, 3]");
  EXPECT_EQ(call("list.pop", {List<int64_t>(), -1}), "pop() from an empty list");
  call("list.remove", {list, 2});
  EXPECT_EQ(repr(IValue(list)), "[1, 1, 2, 3, 3]");
  EXPECT_EQ(call("list.remove", {list, 7}), "7 is not in the list");
  call("list.clear", {list});
  EXPECT_EQ(repr(IValue(list)), "[]");
}

TEST(Builtins, MethodsOfDicts) {
  GenericDict dict;
  dict.insert_or_assign("a", 1);
  dict.insert_or_assign("b", 2);
  EXPECT_EQ(call("dict.keys", {dict}), "['a', 'b']");
  EXPECT_EQ(call("dict.values", {dict}), "[1, 2]");
  EXPECT_EQ(call("dict.items", {dict}), "[('a', 1), ('b', 2)]");
  EXPECT_EQ(call("dict.get", {dict, "a", IValue()}), "1");
  EXPECT_EQ(call("dict.get", {dict, "z", 0}), "0");
  EXPECT_EQ(call("dict.pop", {dict, "a"}), "1");
  EXPECT_EQ(call("dict.pop", {dict, "a", "gone"}), "'gone'");
  EXPECT_EQ(call("dict.pop", {dict, "a"}), "the dict has no key 'a'");
  EXPECT_EQ(call("dict.setdefault", {dict, "b", 7}), "2");
  EXPECT_EQ(call("dict.setdefault", {dict, "c", 7}), "7");
  EXPECT_EQ(call("dict.popitem", {dict}), "('c', 7)");
  GenericDict cleared;
  cleared.insert_or_assign("a", 1);
  call("dict.clear", {cleared});
  EXPECT_EQ(repr(IValue(cleared)), "{}");
  EXPECT_EQ(call("dict.popitem", {cleared}), "popitem() from an empty dict");
  call("dict.update", {dict, dict});
  GenericDict more;
  more.insert_or_assign("c", 3);
  call("dict.update", {dict, more});
  EXPECT_EQ(repr(IValue(dict)), "{'b': 2, 'c': 3}");
  EXPECT_EQ(call("dict.copy", {dict}), "{'b': 2, 'c': 3}");
}

TEST(Builtins, TensorsFromData) {
  EXPECT_EQ(call("tensor", {List<int64_t>{1, 2}, IValue(), IValue(), IValue()}), "tensor([1, 2])");
  EXPECT_EQ(call("tensor", {1.5, IValue(), IValue(), IValue()}), "tensor(1.5000)");
  EXPECT_EQ(call("tensor", {true, IValue(), IValue(), IValue()}), "tensor(True)");
  EXPECT_EQ(call("tensor", {List<double>{1}, ScalarType::Double, IValue(), IValue()}),
            "tensor([1.], dtype=torch.float64)");
  EXPECT_EQ(call("tensor", {GenericList{IValue(1), IValue(2.5)}, IValue(), IValue(), IValue()}),
            "tensor([1.0000, 2.5000])");
  EXPECT_EQ(call("tensor", {GenericList(), IValue(), IValue(), IValue()}), "tensor([])");
  EXPECT_EQ(call("tensor",
                 {GenericList{IValue(List<int64_t>{1, 2}), IValue(List<int64_t>{3})}, IValue(), IValue(), IValue()}),
            "tensor(): lists in one dimension must be equally long, but dimension 1 has lists of length 2 and 1");
  EXPECT_EQ(call("tensor", {GenericList{IValue(1), IValue(List<int64_t>{3})}, IValue(), IValue(), IValue()}),
            "tensor(): there is a list where a number should be");
  EXPECT_EQ(call("tensor", {GenericList{IValue(List<int64_t>{3}), IValue(1)}, IValue(), IValue(), IValue()}),
            "tensor(): there is a number where a list of 1 should be");
  EXPECT_EQ(call("tensor", {"a", IValue(), IValue(), IValue()}), "tensor() takes numbers and lists of them, not str");
}

TEST(Builtins, AttributesOfTensors) {
  const int64_t sizes[] = {2, 3};
  const IValue tensor = Tensor::allocate(sizes, ScalarType::Float);
  EXPECT_EQ(call("tensor.shape", {tensor}), "[2, 3]");
  EXPECT_EQ(call("tensor.size", {tensor, -1}), "3");
  EXPECT_EQ(call("tensor.size", {tensor}), "[2, 3]");
  EXPECT_EQ(call("tensor.ndim", {tensor}), "2");
  EXPECT_EQ(call("tensor.numel", {tensor}), "6");
  EXPECT_EQ(call("tensor.device", {tensor}), "device(type='cpu')");
  EXPECT_EQ(call("dtype_name", {ScalarType::Float}), "'torch.float32'");
}

TEST(Builtins, RulesOfTypes) {
  const TypePtr ints = Type::listOf(Type::integer());
  const TypePtr dict = Type::dictOf(Type::string(), Type::tensor());
  EXPECT_EQ(typeGiven("sorted", {ints, Type::boolean()}), "int[]");
  EXPECT_EQ(typeGiven("sorted", {Type::integer(), Type::boolean()}), "none fits");
  EXPECT_EQ(typeGiven("zip", {ints, Type::string()}), "(int, str)[]");
  EXPECT_EQ(typeGiven("enumerate", {dict, Type::integer()}), "(int, str)[]");
  EXPECT_EQ(typeGiven("min", {Type::integer(), Type::integer()}), "int");
  EXPECT_EQ(typeGiven("min", {Type::integer(), Type::floating()}), "Scalar");
  EXPECT_EQ(typeGiven("max", {ints}), "int");
  EXPECT_EQ(typeGiven("sum", {Type::listOf(Type::boolean())}), "int");
  EXPECT_EQ(typeGiven("abs", {Type::boolean()}), "int");
  EXPECT_EQ(typeGiven("abs", {Type::string()}), "none fits");
  EXPECT_EQ(typeGiven("round", {Type::floating()}), "int");
  EXPECT_EQ(typeGiven("round", {Type::floating(), Type::integer()}), "float");
  EXPECT_EQ(typeGiven("len", {Type::optionalOf(ints)}), "none fits");
  EXPECT_EQ(typeGiven("any", {Type::any()}), "Any");
  EXPECT_EQ(typeGiven("list.extend", {ints, Type::listOf(Type::boolean())}), "NoneType");
  EXPECT_EQ(typeGiven("list.extend", {ints, Type::string()}), "none fits");
  EXPECT_EQ(typeGiven("dict.keys", {dict}), "str[]");
  EXPECT_EQ(typeGiven("dict.items", {dict}), "(str, Tensor)[]");
  EXPECT_EQ(typeGiven("dict.get", {dict, Type::string(), Type::none()}), "Tensor?");
  EXPECT_EQ(typeGiven("dict.get", {dict, Type::string(), Type::tensor()}), "Tensor");
  EXPECT_EQ(typeGiven("dict.get", {dict, Type::string(), Type::integer()}), "Any");
  EXPECT_EQ(typeGiven("dict.pop", {dict, Type::string()}), "Tensor");
  EXPECT_EQ(typeGiven("tensor.size", {Type::tensor(), Type::integer()}), "int");
}

}  // namespace
}  // namespace boxcar::interp
