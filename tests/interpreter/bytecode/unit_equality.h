#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

namespace boxcar::interp {

// Returns whether both have the same kinds and bits, recursively.
inline bool isSameConstant(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  const auto sameBits = [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); };
  if (a.isDouble()) return sameBits(a.toDouble(), b.toDouble());
  if (a.isComplexDouble()) {
    const auto x = a.toComplexDouble();
    const auto y = b.toComplexDouble();
    return sameBits(x.real(), y.real()) && sameBits(x.imag(), y.imag());
  }
  if (a.isList() || a.isTuple()) {
    if (a.length() != b.length()) return false;
    for (size_t i = 0; i < a.length(); ++i) {
      if (!isSameConstant(a.elementAt(i), b.elementAt(i))) return false;
    }
    return true;
  }
  if (a.isGenericDict()) {
    const DictObject& x = *a.toGenericDict().object();
    const DictObject& y = *b.toGenericDict().object();
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!isSameConstant(x.keyAt(i), y.keyAt(i)) || !isSameConstant(x.valueAt(i), y.valueAt(i))) return false;
    }
    return true;
  }
  return a == b;
}

inline bool isSameSource(const SourcePtr& a, const SourcePtr& b) {
  return a->name() == b->name() && a->text() == b->text();
}

// Returns the first field in which two functions differ; "" if they are equal.
inline std::string differenceOf(const CodeFunction& a, const CodeFunction& b) {
  const auto sameName = [](const SlotName& x, const SlotName& y) { return x.name == y.name && x.slot == y.slot; };
  if (a.name != b.name) return "name";
  if (!isSameSource(a.source, b.source)) return "source";
  if (a.span != b.span) return "span";
  if (a.slots != b.slots) return "slots";
  if (a.argument_count != b.argument_count) return "argument_count";
  if (a.result != b.result) return "result";
  if (a.code != b.code) return "code";
  if (a.spans != b.spans) return "spans";
  if (!std::ranges::equal(a.slot_names, b.slot_names, sameName)) return "slot_names";
  return "";
}

// Returns the first field in which two units differ; "" if they are equal.
inline std::string differenceOf(const CodeUnit& a, const CodeUnit& b) {
  const auto sameSite = [](const OperatorSite& x, const OperatorSite& y) {
    return x.name == y.name && x.arguments == y.arguments && x.results == y.results;
  };
  const auto sameDynamicSite = [](const DynamicSite& x, const DynamicSite& y) {
    return x.name == y.name && x.overload == y.overload && x.positional == y.positional && x.keywords == y.keywords;
  };
  const auto sameGlobal = [](const CodeGlobal& x, const CodeGlobal& y) { return x.name == y.name && x.type == y.type; };
  const auto sameOperator = [](const CodeOperator& x, const CodeOperator& y) {
    return x.schema == y.schema && x.function == y.function && x.span == y.span;
  };
  const auto sameExport = [](const CodeExport& x, const CodeExport& y) {
    return x.schema == y.schema && x.function == y.function && x.span == y.span;
  };
  const auto sameDefault = [](const std::optional<IValue>& x, const std::optional<IValue>& y) {
    return x.has_value() == y.has_value() && (!x || isSameConstant(*x, *y));
  };
  const auto sameStruct = [&](const CodeStruct& x, const CodeStruct& y) {
    return x.type == y.type && x.origin == y.origin && x.module == y.module && x.span == y.span &&
           std::ranges::equal(x.defaults, y.defaults, sameDefault);
  };
  const auto sameHandler = [](const CodeHandler& x, const CodeHandler& y) {
    return x.kind == y.kind && x.key == y.key && x.op == y.op && x.name == y.name && x.function == y.function &&
           x.exit == y.exit && x.span == y.span;
  };
  const auto sameScope = [](const CodeScope& x, const CodeScope& y) {
    return x.kind == y.kind && x.index == y.index && x.name == y.name && x.keys == y.keys;
  };
  const auto sameModule = [](const CodeModule& x, const CodeModule& y) { return x.path == y.path && x.span == y.span; };
  const auto sameImport = [](const CodeImport& x, const CodeImport& y) {
    return x.module == y.module && x.name == y.name && x.arguments == y.arguments && x.result == y.result;
  };
  if (!isSameSource(a.source, b.source)) return "source";
  if (a.functions.size() != b.functions.size()) return "the number of functions";
  for (size_t i = 0; i < a.functions.size(); ++i) {
    const std::string difference = differenceOf(a.functions[i], b.functions[i]);
    if (!difference.empty()) return fmt::format("{} of function {}", difference, i);
  }
  if (!std::ranges::equal(a.constants, b.constants, isSameConstant)) return "constants";
  if (a.types != b.types) return "types";
  if (!std::ranges::equal(a.operator_sites, b.operator_sites, sameSite)) return "operator_sites";
  if (!std::ranges::equal(a.dynamic_sites, b.dynamic_sites, sameDynamicSite)) return "dynamic_sites";
  if (!std::ranges::equal(a.globals, b.globals, sameGlobal)) return "globals";
  if (!std::ranges::equal(a.operators, b.operators, sameOperator)) return "operators";
  if (!std::ranges::equal(a.exports, b.exports, sameExport)) return "exports";
  if (!std::ranges::equal(a.structs, b.structs, sameStruct)) return "structs";
  if (a.fields != b.fields) return "fields";
  if (!std::ranges::equal(a.handlers, b.handlers, sameHandler)) return "handlers";
  if (!std::ranges::equal(a.scopes, b.scopes, sameScope)) return "scopes";
  if (!std::ranges::equal(a.modules, b.modules, sameModule)) return "modules";
  if (!std::ranges::equal(a.imports, b.imports, sameImport)) return "imports";
  return "";
}

}  // namespace boxcar::interp
