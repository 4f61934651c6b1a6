// Two classes of tensors: one has a unit, with which calls compute, and one writes down the calls that it takes part
// in.

#include <boxcar/boxcar.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sample {
namespace {

using namespace boxcar;

// ---- Units ----

// The power of each base unit: metres per second are {{"m", 1}, {"s", -1}}. A plain number has none.
using Unit = std::map<std::string, int>;

std::string textOf(const Unit& unit) {
  std::string text;
  for (const auto& [name, power] : unit) {
    if (!text.empty()) text += ' ';
    text += power == 1 ? name : fmt::format("{}^{}", name, power);
  }
  return text.empty() ? "1" : text;
}

// Multiplies [unit] by [other] to the [power].
Unit timesPower(Unit unit, const Unit& other, int power) {
  for (const auto& [name, exponent] : other) {
    if ((unit[name] += power * exponent) == 0) unit.erase(name);
  }
  return unit;
}

class Quantity final : public TensorClass {
 public:
  explicit Quantity(Unit unit) : unit_(std::move(unit)) {}

  static Unit unitOf(const IValue& value) {
    const auto* const quantity =
        value.isTensor() ? dynamic_cast<const Quantity*>(tensorClassOf(value.toTensor())) : nullptr;
    return quantity == nullptr ? Unit() : quantity->unit_;
  }

  std::string nameOf(const Tensor&) const override { return "Quantity"; }

  bool answer(const OperatorHandle& op, DispatchKeySet below, Stack& stack) override {
    // In-place forms, such as mul_, have the rule of their operator.
    std::string_view name = op.operator_name().name;
    if (name.ends_with('_')) name.remove_suffix(1);
    const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
      return std::ranges::find(names, name) != names.end();
    };
    const size_t count = op.schema().arguments().size();
    const Unit first = unitOf(peek(stack, 0, count));
    const Unit second = count > 1 ? unitOf(peek(stack, 1, count)) : Unit();
    Unit unit = first;
    if (is_one_of({"aten::mul"})) {
      unit = timesPower(first, second, 1);
    } else if (is_one_of({"aten::div"})) {
      unit = timesPower(first, second, -1);
    } else if (is_one_of({"aten::add", "aten::sub", "aten::maximum", "aten::minimum"})) {
      BOXCAR_CHECK(first == second, "{}: the units differ, '{}' and '{}'; convert one of them", op.operator_name(),
                   textOf(first), textOf(second));
    } else if (!is_one_of({"aten::neg", "aten::abs", "aten::sum", "aten::mean"})) {
      return false;
    }
    op.redispatchBoxed(below, stack);
    setTensorClass(stack.back().toTensor(), makeIntrusive<Quantity>(std::move(unit)));
    return true;
  }

 private:
  Unit unit_;
};

Tensor withUnit(const Tensor& x, std::string_view unit) {
  Tensor quantity = x.shallowCopy();
  setTensorClass(quantity, makeIntrusive<Quantity>(Unit{{std::string(unit), 1}}));
  return quantity;
}

std::string unit(const Tensor& x) { return textOf(Quantity::unitOf(x)); }

// ---- A log ----

class Logged final : public TensorClass {
 public:
  explicit Logged(List<std::string> log) : log_(std::move(log)) {}

  std::string nameOf(const Tensor&) const override { return "Logged"; }

  bool answer(const OperatorHandle& op, DispatchKeySet below, Stack& stack) override {
    List<std::string> log = log_;
    log.push_back(toString(op.operator_name()));
    op.redispatchBoxed(below, stack);
    for (size_t i = 0; i < op.schema().returns().size(); ++i) {
      const IValue& result = peek(stack, i, op.schema().returns().size());
      if (result.isTensor()) setTensorClass(result.toTensor(), makeIntrusive<Logged>(log));
    }
    return true;
  }

 private:
  List<std::string> log_;
};

Tensor logged(const Tensor& x, List<std::string> log) {
  Tensor tensor = x.shallowCopy();
  setTensorClass(tensor, makeIntrusive<Logged>(std::move(log)));
  return tensor;
}

}  // namespace

BOXCAR_LIBRARY_FRAGMENT(sample, m) {
  m.def("with_unit(Tensor x, str unit) -> Tensor", BOXCAR_FN(withUnit));
  m.def("unit(Tensor x) -> str", BOXCAR_FN(unit));
  m.def("logged(Tensor x, str[] log) -> Tensor", BOXCAR_FN(logged));
}

// What asks a tensor about its class is not for the class to answer.
BOXCAR_LIBRARY_IMPL(sample, Python, m) { m.impl("unit", BOXCAR_FN(unit)); }

}  // namespace sample
