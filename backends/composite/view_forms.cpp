#include <boxcar/backends/composite/view_forms.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace boxcar::composite {
namespace {

// Calls the view, whose arguments are the last values of the stack.
void callView(const DerivedFromView& form, Stack& stack) {
  // view_copy also takes sizes that view refuses.
  const bool is_view = form.overload[0] == '\0' && std::string_view(form.view) == "aten::view";
  const OperatorHandle view =
      Dispatcher::singleton().findSchemaOrThrow(is_view ? "aten::reshape" : form.view, form.overload);
  view.callBoxed(stack);
}

Tensor scattered(const DerivedFromView& form, const OperatorHandle& op, Stack& stack, size_t count) {
  const size_t self = stack.size() - count;
  meta::checkDefined(stack[self + 1].toTensor());
  const Tensor result = cloneWithStrides(stack[self].toTensor());
  const Tensor source = stack[self + 1].toTensor();
  stack[self] = result;
  stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(self) + 1);
  callView(form, stack);
  Tensor written = pop(stack).toTensor();
  BOXCAR_CHECK(std::ranges::equal(written.sizes(), source.sizes()),
               "{}: src must have the sizes of the part of self that is written, [{}], but has [{}]",
               op.operator_name().name, fmt::join(written.sizes(), ", "), fmt::join(source.sizes(), ", "));
  boxcar::copy_(written, source);
  return result;
}

// Writes [results] to [outs] and leaves what the operator returns on the stack.
void writeOut(const std::vector<Tensor>& results, std::vector<Tensor> outs, const OperatorHandle& op) {
  BOXCAR_CHECK(results.size() == outs.size(), "{}: out must have {} tensors, one for each result, but has {}",
               op.operator_name(), results.size(), outs.size());
  std::vector<Written> written;
  written.reserve(outs.size());
  for (size_t i = 0; i < outs.size(); ++i) written.push_back({outs[i], results[i]});
  writeAll(written);
}

void run(const DerivedFromView& form, const OperatorHandle& op, Stack& stack) {
  const size_t count = op.schema().arguments().size();
  const bool is_list = op.schema().arguments().back().is_out() ? op.schema().returns().empty()
                                                               : op.schema().returns()[0].type()->isList();
  const IValue out = form.is_out ? pop(stack) : IValue();
  const size_t inputs = count - (form.is_out ? 1 : 0);
  const IValue self = stack[stack.size() - inputs];
  meta::checkDefined(self.toTensor());
  std::vector<Tensor> results;
  if (form.form == ViewForm::kScatter) {
    results.push_back(scattered(form, op, stack, inputs));
  } else {
    callView(form, stack);
    const IValue viewed = pop(stack);
    results = is_list ? viewed.to<std::vector<Tensor>>() : std::vector<Tensor>{viewed.toTensor()};
  }
  if (form.is_out) {
    writeOut(results, is_list ? out.to<std::vector<Tensor>>() : std::vector<Tensor>{out.toTensor()}, op);
    if (!is_list) stack.push_back(out);
    return;
  }
  if (form.form == ViewForm::kCopy) {
    for (Tensor& result : results) {
      if (result.storage() == self.toTensor().storage()) result = boxcar::clone(result, MemoryFormat::Contiguous);
    }
  }
  if (is_list) {
    stack.push_back(IValue(std::move(results)));
  } else {
    stack.push_back(IValue(std::move(results[0])));
  }
}

}  // namespace

// A copy of the whole storage keeps the strides and the offset, which as_strided counts in.
Tensor cloneWithStrides(const Tensor& self) {
  if (meta::overlapsItself(self)) return boxcar::clone(self);
  const auto elements = static_cast<int64_t>(self.storage()->nbytes() / self.itemsize());
  const Tensor copy = boxcar::clone(boxcar::as_strided(self, {elements}, {1}, 0));
  return boxcar::as_strided(copy, self.sizes(), self.strides(), self.storage_offset());
}

void implViewForms(Library& library, std::span<const DerivedFromView> forms) {
  for (const DerivedFromView& form : forms) {
    library.impl(form.name, CppFunction::makeFromBoxedFunctor(
                                [&form](const OperatorHandle& op, Stack& stack) { run(form, op, stack); }));
  }
}

}  // namespace boxcar::composite
