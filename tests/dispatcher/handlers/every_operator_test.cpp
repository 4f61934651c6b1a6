#include <boxcar/dispatcher/handlers/check/meta_checker.h>
#include <boxcar/dispatcher/handlers/check/nan_checker.h>
#include <boxcar/dispatcher/handlers/check/schema_checker.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/dispatcher/values/tensor_range.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sample_arguments.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// Whether [name] takes tensors that this build cannot make, as it has no oneDNN.
bool lacksItsLayout(const OperatorName& name) {
  static const bool has_layout =
      Dispatcher::singleton().findSchemaOrThrow("aten::to_mkldnn", "").hasKernelForDispatchKey(DispatchKey::MkldnnCPU);
  return !has_layout && (name.name.find("mkldnn") != std::string::npos || name.name == "aten::_to_dense");
}

// Returns the operators of the backends, without those that tests define and one that needs a CUDA device.
std::vector<OperatorHandle> everyOperator() {
  std::vector<OperatorHandle> operators;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    const std::string ns(name.getNamespace().value_or(""));
    // The second one takes logarithms of probabilities that are 0, and no sample may be infinite.
    if (name.name == "aten::pin_memory" || name.name == "aten::_ctc_loss_backward") continue;
    if ((ns != "aten" && ns != "io") || lacksItsLayout(name)) continue;
    const OperatorHandle op = *Dispatcher::singleton().findSchema(name);
    if (!needsHistory(op)) operators.push_back(op);
  }
  return operators;
}

// Returns a text such as "aten::neg" with a line for each sample that fails under [handler].
std::string failuresUnder(Handler& handler, const OperatorHandle& op) {
  std::string failures;
  for (Stack& sample : sampleArguments(op)) {
    const HandlerGuard guard(handler);
    const std::string error = errorOf([&] { op.callBoxed(sample); });
    if (error != "no error") failures += error + "\n";
  }
  return failures;
}

TEST(EveryOperator, HasSampleArgumentsThatRun) {
  EXPECT_GT(everyOperator().size(), 250u);
  for (const OperatorHandle& op : everyOperator()) EXPECT_FALSE(sampleArguments(op).empty()) << op.schema();
}

TEST(EveryOperator, KeepsItsSchemasPromises) {
  SchemaChecker checker;
  for (const OperatorHandle& op : everyOperator()) EXPECT_EQ(failuresUnder(checker, op), "");
}

TEST(EveryOperator, MayWriteStatisticsThatItsSchemaDoesNotDeclareWhereItTrains) {
  SchemaChecker checker;
  const HandlerGuard guard(checker);
  const Tensor x = boxcar::ones({2, 3});
  const Tensor mean = boxcar::zeros({3});
  const Tensor var = boxcar::ones({3});
  EXPECT_EQ(errorOf([&] { boxcar::batch_norm(x, {}, {}, mean, var, /*training=*/true, 0.1, 1e-5, false); }),
            "no error");
  EXPECT_NE(mean.data_ptr<float>()[1], 0);
}

bool runsOnMeta(const OperatorHandle& op) {
  for (const Stack& sample : sampleArguments(op)) {
    ValueCopier copier(ValueCopier::Target::kMeta);
    Stack copies;
    for (const IValue& value : sample) copies.push_back(copier.copy(value));
    if (errorOf([&] { op.callBoxed(copies); }) == "no error") return true;
  }
  return false;
}

TEST(EveryOperator, SaysOnMetaWhatItComputes) {
  MetaChecker checker;
  size_t compared = 0;
  for (const OperatorHandle& op : everyOperator()) {
    EXPECT_EQ(failuresUnder(checker, op), "");
    if (runsOnMeta(op)) ++compared;
  }
  EXPECT_GT(compared, 20u);  // views and other composites; the others have no Meta kernel yet
}

// Samples are finite, so a value that is not comes from the operator, such as the mean of an empty tensor.
TEST(EveryOperator, IsStoppedExactlyWhereItMakesANaN) {
  NanChecker checker;
  size_t stopped = 0;
  for (const OperatorHandle& op : everyOperator()) {
    if (op.hasTag(Tag::nondeterministic_bitwise)) continue;
    if (op.schema().name() == "aten::cumprod_backward") continue;  // it divides by zeros, and uses the other quotients
    for (const Stack& sample : sampleArguments(op)) {
      Stack plain = copyValues(last(sample, sample.size()));
      op.callBoxed(plain);
      bool is_clean = true;
      for (const PlacedTensor& result : tensorsOfResults(op.schema(), last(plain, plain.size())))
        is_clean = is_clean && rangeOf(result.tensor).isClean();
      Stack watched = copyValues(last(sample, sample.size()));
      const HandlerGuard guard(checker);
      const std::string error = errorOf([&] { op.callBoxed(watched); });
      EXPECT_EQ(error == "no error", is_clean) << op << ": " << error;
      stopped += is_clean ? 0 : 1;
    }
  }
  EXPECT_GT(stopped, 0u);
}

// Tensors without dimensions may be used with tensors on another device, as in x + 1.
bool givesNumber(const OperatorHandle& op, const Stack& sample) {
  Stack plain = copyValues(last(sample, sample.size()));
  op.callBoxed(plain);
  return plain.back().isTensor() && plain.back().toTensor().dim() == 0;
}

// If some tensors have no memory, nothing on the other device may be read or written.
TEST(EveryOperator, RefusesInputsAndOutOnTwoDevices) {
  size_t refused = 0;
  for (const OperatorHandle& op : everyOperator()) {
    const std::vector<Argument>& arguments = op.schema().arguments();
    for (const Stack& sample : sampleArguments(op)) {
      for (const bool is_out_on_meta : {false, true}) {
        ValueCopier copier(ValueCopier::Target::kMeta);
        ValueCopier same;
        Stack mixed;
        size_t inputs = 0;
        size_t outputs = 0;
        for (size_t i = 0; i < sample.size(); ++i) {
          mixed.push_back((arguments[i].is_out() == is_out_on_meta ? copier : same).copy(sample[i]));
          if (arguments[i].is_out()) {
            ++outputs;
          } else if (sample[i].isTensor() && sample[i].toTensor().defined() && sample[i].toTensor().dim() > 0) {
            ++inputs;
          }
        }
        if (inputs == 0 || outputs == 0 || (is_out_on_meta && givesNumber(op, sample))) continue;
        EXPECT_NE(errorOf([&] { op.callBoxed(mixed); }), "no error") << op.schema() << is_out_on_meta;
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace boxcar
