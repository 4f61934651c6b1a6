#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/handlers/script_kernel.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/storage_observer.h>
#include <boxcar/ops.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/captured_output.h"
#include "tests/dispatcher/dispatcher_helpers.h"
#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

Tensor floats(std::initializer_list<float> values) {
  Tensor tensor = Tensor::allocate(std::array{static_cast<int64_t>(values.size())}, ScalarType::Float);
  std::ranges::copy(values, tensor.mutable_data_ptr<float>());
  return tensor;
}

void print(const Tensor& tensor) { boxcar::_print(toString(tensor) + "\n"); }

// The result of each call, bit for bit. Covers the calls that an outer tracer sees, except those with script kernels
// and those that read files.
class Results final {
 public:
  Results()
      : mode_([this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { run(op, keys, stack); },
              {.key = DispatchKey::Python}) {}

  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  void run(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    const size_t base = stack.size() - op.schema().arguments().size();
    if (op.entry().schemaSite().is_script || runsScriptKernel(op, keys)) {
      const ModeSeesCallsBelow sees(DispatchKey::Python);
      return op.redispatchBoxed(keys, stack);
    }
    op.redispatchBoxed(keys, stack);
    if (op.hasTag(Tag::io) || op.hasTag(Tag::nondeterministic_bitwise)) return;
    std::string text = toString(op.operator_name());
    for (size_t i = base; i < stack.size(); ++i) add(stack[i], text);
    texts_.push_back(std::move(text));
  }
  static void add(const IValue& value, std::string& text) {
    if (value.isTensorList()) {
      for (size_t i = 0; i < value.length(); ++i) add(value.elementAt(i), text);
    } else if (!value.isTensor() || value.toTensor().is_meta()) {
      text += " " + repr(value);
    } else {
      const ExcludeDispatchKeyGuard unseen(
          DispatchKeySet({DispatchKey::PreDispatch, DispatchKey::Python, DispatchKey::Tracer}));
      const Tensor on_host = boxcar::to(value.toTensor(), std::nullopt, std::nullopt, Device(DeviceType::CPU));
      const Tensor elements = boxcar::contiguous(on_host);
      text += fmt::format(" {} {} {} ", dtypeName(elements.scalar_type()), fmt::join(value.toTensor().sizes(), ","),
                          fmt::join(value.toTensor().strides(), ","));
      if (elements.numel() > 0) text.append(static_cast<const char*>(elements.data_ptr()), elements.nbytes());
    }
  }

  std::vector<std::string> texts_;
  ModeGuard mode_;
};

// Returns whether [found] has the [wanted] texts in order, perhaps among others: a trace makes more calls for values
// from outside.
bool areAmong(const std::vector<std::string>& wanted, const std::vector<std::string>& found) {
  auto next = found.begin();
  for (const std::string& text : wanted) {
    next = std::find(next, found.end(), text);
    if (next == found.end()) return false;
    ++next;
  }
  return true;
}

// Returns what [body] prints. An Error becomes a test failure, so that the output capture always ends.
std::string printedBy(auto&& body) {
  return outputOf([&] {
    try {
      body();
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  });
}

class TracerTest : public testing::Test {
 protected:
  // Returns the trace of [body], without its head comments and with `FILE` for the tensor file. Checks that running it
  // gives the results and the output of [body], and that its own trace is the same text.
  std::string traceOf(auto&& body) {
    std::optional<Results> results(std::in_place);
    const std::string printed = printedBy([&] {
      Tracer tracer(folder_ / "trace.ops");
      {
        const HandlerGuard on(tracer);
        body();
      }
      EXPECT_EQ(tracer.finish(false), "");
    });
    const std::string text = folder_.read("trace.ops");
    const std::vector<std::string> wanted = results->texts();
    results.emplace();
    const std::string again = printedBy([&] {
      Tracer tracer(folder_ / "other/again.ops");
      const Program program = Program::compile(text, folder_ / "trace.ops");
      {
        const HandlerGuard on(tracer);
        program.run();
      }
      tracer.finish(false);
    });
    EXPECT_TRUE(areAmong(wanted, results->texts())) << text;
    EXPECT_EQ(again, printed);
    EXPECT_EQ(folder_.read("other/again.ops"), text);
    return withoutHead(text);
  }

  static std::string withoutHead(std::string text) {
    while (text.starts_with('#')) text.erase(0, text.find('\n') + 1);
    constexpr std::string_view kLoad = "tensors = io::load('tensors-";
    if (text.starts_with(kLoad)) text.replace(kLoad.size(), 16, "FILE");
    return text;
  }

  void SetUp() override { folder_.write("other/empty.txt", ""); }

  TemporaryFolder folder_;
};

TEST_F(TracerTest, NamesResultsAndWritesOtherValuesDown) {
  EXPECT_EQ(traceOf([] {
              const Tensor x = boxcar::ones(std::array<int64_t, 2>{2, 3});
              const Tensor y = boxcar::add(x, x, 0.5);
              print(boxcar::sum(y));
            }),
            "t0 = aten::ones.default([2, 3])\n"
            "t1 = aten::add.Tensor(t0, t0, alpha=0.5)\n"
            "t2 = aten::sum.default(t1)\n"
            "aten::_print('tensor(9.)\\n')\n");
}

TEST_F(TracerTest, LeavesOutWhatKernelsCall) {
  const Tensor x = boxcar::ones(std::array<int64_t, 2>{2, 2});
  EXPECT_EQ(traceOf([&] { boxcar::linear(x, x, x); }),
            "tensors = io::load('tensors-FILE.safetensors')\n"
            "t0 = tensors[\"t0\"]\n"
            "t1 = aten::linear.default(t0, t0, t0)\n");
}

TEST_F(TracerTest, CallsInPlaceHaveNoAssignment) {
  EXPECT_EQ(traceOf([] {
              Tensor x = boxcar::zeros(std::array<int64_t, 1>{3});
              Tensor first = boxcar::select(x, 0, 0);
              boxcar::fill_(first, 7);
              boxcar::add_(x, 1);
              boxcar::add_out(x, x, x);
              print(x);
            }),
            "t0 = aten::zeros.default([3])\n"
            "t1 = aten::select.int(t0, 0, 0)\n"
            "aten::fill_.Scalar(t1, 7)\n"
            "aten::add_.Scalar(t0, 1)\n"
            "aten::add.out(t0, t0, out=t0)\n"
            "aten::_print('tensor([16.,  2.,  2.])\\n')\n");
}

TEST_F(TracerTest, KeepsATensorFromOutsideAsItWasWhenItWasFirstSeen) {
  Tensor x = floats({1, 2});
  EXPECT_EQ(traceOf([&] {
              boxcar::mul_(x, 10);
              print(boxcar::neg(x));
            }),
            "tensors = io::load('tensors-FILE.safetensors')\n"
            "t0 = tensors[\"t0\"]\n"
            "aten::mul_.Scalar(t0, 10)\n"
            "t1 = aten::neg.default(t0)\n"
            "aten::_print('tensor([-10., -20.])\\n')\n");
}

TEST_F(TracerTest, ViewsFromOutsideShareTheirStorageAgain) {
  const Tensor x = floats({1, 2, 3, 4});
  Tensor even = boxcar::slice(x, 0, 0, 4, 2);
  EXPECT_EQ(traceOf([&] {
              boxcar::fill_(even, 0);
              print(boxcar::add(x, 1));
            }),
            "tensors = io::load('tensors-FILE.safetensors')\n"
            "t0 = tensors[\"t0\"]\n"
            "t1 = aten::as_strided(t0, [2], [2], 0)\n"
            "aten::fill_.Scalar(t1, 0)\n"
            "t2 = aten::as_strided(t0, [4], [1], 0)\n"
            "t3 = aten::add.Scalar(t2, 1)\n"
            "aten::_print('tensor([1., 3., 1., 5.])\\n')\n");
}

TEST_F(TracerTest, AViewThatNoOperatorMadeIsMadeByOne) {
  EXPECT_EQ(traceOf([&] {
              const Tensor x = boxcar::zeros(std::array<int64_t, 1>{4});
              Tensor last = x.view(std::array<int64_t, 1>{1}, std::array<int64_t, 1>{1}, 3);
              boxcar::fill_(last, 5);
              print(x);
            }),
            "t0 = aten::zeros.default([4])\n"
            "t1 = aten::as_strided(t0, [1], [1], 3)\n"
            "aten::fill_.Scalar(t1, 5)\n"
            "aten::_print('tensor([0., 0., 0., 5.])\\n')\n");
}

TEST_F(TracerTest, WritesDownWhatWasWrittenBehindItsBack) {
  EXPECT_EQ(traceOf([&] {
              Tensor x = boxcar::zeros(std::array<int64_t, 2>{2, 2});
              const Tensor row = boxcar::select(x, 0, 1);
              {
                const ExcludeDispatchKeyGuard untraced(DispatchKeySet({DispatchKey::Tracer, DispatchKey::Python}));
                boxcar::fill_(x, 3);
              }
              print(boxcar::add(row, 1));
            }),
            "tensors = io::load('tensors-FILE.safetensors')\n"
            "t0 = aten::zeros.default([2, 2])\n"
            "t1 = aten::select.int(t0, 0, 1)\n"
            "t2 = aten::as_strided(t0, [4], [1], 0)\n"
            "t3 = tensors[\"t3\"]\n"
            "aten::copy_(t2, t3)\n"
            "t4 = aten::add.Scalar(t1, 1)\n"
            "aten::_print('tensor([4., 4.])\\n')\n");
}

TEST_F(TracerTest, TensorsOfEveryDtypeComeBack) {
  std::vector<Tensor> tensors;
  for (const ScalarType dtype :
       {ScalarType::Bool, ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long,
        ScalarType::Half, ScalarType::BFloat16, ScalarType::Float, ScalarType::Double, ScalarType::ComplexFloat,
        ScalarType::ComplexDouble}) {
    tensors.push_back(boxcar::full(std::array<int64_t, 2>{1, 2}, 1, dtype));
  }
  const std::string text = traceOf([&] {
    for (const Tensor& tensor : tensors) print(boxcar::clone(tensor));
  });
  EXPECT_NE(text.find("t22 = tensor([[(1.0 + 0.0j), (1.0 + 0.0j)]], dtype=complex128)\nt23 = aten::clone(t22)\n"),
            std::string::npos)
      << text;
}

TEST_F(TracerTest, ATensorWithoutElementsKeepsItsSizes) {
  for (const ScalarType dtype : {ScalarType::Float, ScalarType::Bool, ScalarType::ComplexDouble}) {
    const Tensor empty = Tensor::allocate(std::array<int64_t, 2>{0, 3}, dtype);
    const Tensor column = boxcar::select(empty, 1, 1);
    traceOf([&] { print(boxcar::cat(std::vector<Tensor>{boxcar::t(empty), boxcar::t(empty)})); });
    traceOf([&] { print(boxcar::cat(std::vector<Tensor>{column, column})); });
  }
}

TEST_F(TracerTest, AMetaTensorFromOutsideHasNoElements) {
  auto library = definitions();
  library.def("takes(Tensor x) -> ()", [](const Tensor&) {});
  Tracer tracer(folder_ / "trace.ops");
  {
    const HandlerGuard on(tracer);
    callOp(find("test::takes"), metaTensor());
  }
  tracer.finish(false);
  EXPECT_EQ(withoutHead(folder_.read("trace.ops")),
            "t0 = aten::empty_strided([2], [1], dtype=float32, device='meta')\n"
            "test::takes(t0)\n");
}

TEST_F(TracerTest, ANumberThatStandsForATensorIsWrittenAsTheNumber) {
  const Tensor x = floats({1, 2});
  Tensor number = boxcar::scalar_tensor(2.5, ScalarType::Double);
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  EXPECT_EQ(traceOf([&] { print(boxcar::mul(x, number)); }),
            "tensors = io::load('tensors-FILE.safetensors')\n"
            "t0 = tensors[\"t0\"]\n"
            "t1 = aten::mul.Tensor(t0, 2.5)\n"
            "aten::_print('tensor([2.5000, 5.0000])\\n')\n");
  Tracer tracer(folder_ / "trace.ops");
  const HandlerGuard on(tracer);
  EXPECT_EQ(errorOf([&] { boxcar::neg(number); }),
            "the tracer cannot write down argument 'self' of aten::neg, a number instead of a tensor without a tensor "
            "next to it: call the operator outside of the trace");
}

TEST_F(TracerTest, TensorsInResultsAreFoundInThem) {
  auto library = definitions();
  library.def("parts(Tensor x) -> (Tensor[], Dict(str, Tensor), (Tensor, int), Tensor, int)", [](const Tensor& x) {
    Dict<std::string, Tensor> dict;
    dict.insert_or_assign("it's", boxcar::add(x, 1));
    dict.insert_or_assign("x", x);
    return std::make_tuple(std::vector<Tensor>{x, boxcar::add(x, 2)}, dict,
                           std::make_tuple(boxcar::add(x, 3), int64_t{4}), x, int64_t{5});
  });
  EXPECT_EQ(traceOf([&] {
              const Tensor x = boxcar::zeros(std::array<int64_t, 1>{1});
              Stack results = callOp(find("test::parts"), x);
              print(boxcar::cat(std::vector<Tensor>{results[0].toTensorList()[0], results[0].toTensorList()[1]}));
              print(boxcar::add(results[1].toGenericDict().at("it's").toTensor(), results[2].elementAt(0).toTensor()));
              print(boxcar::add(results[3].toTensor(), results[4].toInt()));
            }),
            "t0 = aten::zeros.default([1])\n"
            "l1, l2, l3, _, _ = test::parts(t0)\n"
            "t4 = aten::cat.default([t0, l1[1]])\n"
            "aten::_print('tensor([0., 2.])\\n')\n"
            "t5 = aten::add.Tensor(l2[\"it's\"], l3[0])\n"
            "aten::_print('tensor([4.])\\n')\n"
            "t6 = aten::add.Scalar(t0, 5)\n"
            "aten::_print('tensor([5.])\\n')\n");
}

TEST_F(TracerTest, OptionalTensorsInResultsGoOnAsTensors) {
  auto library = definitions();
  library.def("maybe(Tensor x) -> (Tensor?, Tensor?, Tensor?[], Tensor[]?)", [](const Tensor& x) {
    return std::make_tuple(std::optional<Tensor>(boxcar::add(x, 1)), std::optional<Tensor>(),
                           List<std::optional<Tensor>>({std::nullopt, boxcar::add(x, 2)}),
                           std::optional<std::vector<Tensor>>({boxcar::add(x, 3)}));
  });
  EXPECT_EQ(traceOf([&] {
              const Tensor x = boxcar::zeros(std::array<int64_t, 1>{1});
              const Stack results = callOp(find("test::maybe"), x);
              print(boxcar::add(results[0].toTensor(), results[2].elementAt(1).toTensor()));
              print(boxcar::neg(results[3].elementAt(0).toTensor()));
            }),
            "t0 = aten::zeros.default([1])\n"
            "t1, _, l2, l4 = test::maybe(t0)\n"
            "assert t1 is not None\n"
            "t3 = l2[1]\n"
            "assert t3 is not None\n"
            "assert l4 is not None\n"
            "t5 = aten::add.Tensor(t1, t3)\n"
            "aten::_print('tensor([3.])\\n')\n"
            "t6 = aten::neg.default(l4[0])\n"
            "aten::_print('tensor([-3.])\\n')\n");
}

TEST_F(TracerTest, ArgumentsOfEveryKindAreWrittenAsScriptsWriteThem) {
  auto library = definitions();
  library.def(
      "takes(Tensor?[] xs, Dict(str, Tensor) d, (int, float) t, str? s=None, *, float[] fs, MemoryFormat mode, "
      "Layout? layout=strided, Device? device=None, int[2] pair=1) -> ()",
      [](const List<std::optional<Tensor>>&, const Dict<std::string, Tensor>&, const std::tuple<int64_t, double>&,
         std::optional<std::string_view>, std::span<const double>, MemoryFormat, std::optional<Layout>,
         std::optional<Device>, std::span<const int64_t>) {});
  EXPECT_EQ(traceOf([&] {
              const Tensor x = boxcar::zeros(std::array<int64_t, 1>{1});
              Dict<std::string, Tensor> dict;
              dict.insert_or_assign("a\n", x);
              callOp(find("test::takes"), List<std::optional<Tensor>>({std::nullopt, x}), dict,
                     std::make_tuple(int64_t{-3}, 1e-9), "", std::vector<double>{}, MemoryFormat::ChannelsLast,
                     Layout::Strided, Device("cpu"), std::vector<int64_t>{1, 1});
            }),
            "t0 = aten::zeros.default([1])\n"
            "test::takes([None, t0], {'a\\n': t0}, (-3, 1e-09), '', fs=[], mode=channels_last, device='cpu')\n");
}

TEST_F(TracerTest, WhatOperatorsReadFromFilesIsFromOutside) {
  boxcar::io::save(
      [] {
        Dict<std::string, Tensor> dict;
        dict.insert_or_assign("w", floats({1, 2}));
        return dict;
      }(),
      folder_ / "weights.safetensors");
  EXPECT_EQ(traceOf([&] { print(boxcar::neg(boxcar::io::load(folder_ / "weights.safetensors").at("w"))); }),
            "tensors = io::load('tensors-FILE.safetensors')\n"
            "w = tensors[\"w\"]\n"
            "t0 = aten::neg.default(w)\n"
            "aten::_print('tensor([-1., -2.])\\n')\n");
}

TEST_F(TracerTest, TensorsFromFilesHaveTheirKeysAsNames) {
  Dict<std::string, Tensor> dict;
  const std::vector<std::string> keys = {"layer1.0.bn1.weight",
                                         "a_b",
                                         "a.b",
                                         "0.bias",
                                         "in",
                                         "float32",
                                         "tensor",
                                         "t7",
                                         "é",
                                         "_",
                                         "a \"b\"",
                                         "t_0_bias",
                                         "not",
                                         "tensors",
                                         "channels_last"};
  for (const std::string& key : keys) dict.insert_or_assign(key, floats({1, 2}));
  boxcar::io::save(dict, folder_ / "weights.safetensors");
  boxcar::io::save_npy(floats({3, 4}), folder_ / "mean.npy");
  const auto negate = [](Tensor tensor) { boxcar::neg_(tensor); };
  const std::string text = traceOf([&] {
    const Dict<std::string, Tensor> loaded = boxcar::io::load(folder_ / "weights.safetensors");
    for (const std::string& key : keys) negate(loaded.at(key));
    // Another file may have the same keys.
    negate(boxcar::io::load(folder_ / "weights.safetensors").at("a.b"));
    print(boxcar::io::load_npy(folder_ / "mean.npy"));
    negate(boxcar::io::load_npy(folder_ / "mean.npy"));
  });
  for (const char* line : {"layer1_0_bn1_weight = tensors[\"layer1.0.bn1.weight\"]\n", "a_b = tensors[\"a_b\"]\n",
                           "a_b_2 = tensors[\"a.b\"]\n", "t_0_bias = tensors[\"0.bias\"]\n", "in_ = tensors[\"in\"]\n",
                           "float32_ = tensors[\"float32\"]\n", "tensor_ = tensors[\"tensor\"]\n",
                           "t0 = tensors[\"t0\"]\n", "t___ = tensors['é']\n", "t__ = tensors[\"_\"]\n",
                           "a__b_ = tensors['a \"b\"']\n", "t_0_bias_2 = tensors[\"t_0_bias\"]\n",
                           "a_b_2_2 = tensors[\"a.b_2\"]\n", "mean = tensors[\"mean\"]\n", "aten::neg_(mean)\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "is not in\n" << text;
}

// ---- Random numbers ----

TEST_F(TracerTest, SeedsOnlyWhereTheSequenceIsNotWhereTheTraceWouldHaveIt) {
  EXPECT_EQ(traceOf([] {
              manualSeed(4);
              print(boxcar::rand(std::array<int64_t, 1>{2}));
              print(boxcar::rand(std::array<int64_t, 1>{2}));
              {
                const ExcludeDispatchKeyGuard untraced(DispatchKeySet({DispatchKey::Tracer, DispatchKey::Python}));
                boxcar::rand(std::array<int64_t, 1>{1});
              }
              boxcar::rand(std::array<int64_t, 1>{1});
            }).substr(0, 48),
            "manual_seed(4)\n"
            "t0 = aten::rand.default([2])\naten");
  EXPECT_NE(folder_.read("trace.ops").find("\nmanual_seed(4, drawn=5)\nt2 = aten::rand.default([1])\n"),
            std::string::npos)
      << folder_.read("trace.ops");
}

TEST_F(TracerTest, AGeneratorOfAProgramsOwnIsTheDefaultOneOfTheTrace) {
  const Generator generator = makeCpuGenerator(9);
  EXPECT_EQ(traceOf([&] {
              Tensor x = boxcar::zeros(std::array<int64_t, 1>{1});
              boxcar::uniform_(x, 0, 1, generator);
              boxcar::uniform_(x, 0, 1, generator);
              print(x);
            }).substr(0, 79),
            "t0 = aten::zeros.default([1])\n"
            "manual_seed(9)\n"
            "aten::uniform_(t0)\n"
            "aten::uniform_(");
}

TEST_F(TracerTest, SeedsForOperatorsWhoseKernelsDrawThoughNoTagTells) {
  auto library = definitions();
  library.def("noise(Tensor x) -> Tensor",
              [](const Tensor& x) { return boxcar::add(x, boxcar::rand(std::array<int64_t, 1>{1})); });
  EXPECT_EQ(traceOf([&] {
              const Tensor x = boxcar::zeros(std::array<int64_t, 1>{1});
              defaultCpuGenerator().set_current_seed(5);
              print(callOp(find("test::noise"), callOp(find("test::noise"), x)[0])[0].toTensor());
            }),
            "t0 = aten::zeros.default([1])\n"
            "manual_seed(5)\n"
            "t1 = test::noise(t0)\n"
            "manual_seed(5, drawn=1)\n"
            "t2 = test::noise(t1)\n"
            "aten::_print('tensor([0.9564])\\n')\n");
}

TEST_F(TracerTest, AGeneratorWithKernelsOfItsOwnIsRefused) {
  auto library = definitions();
  library.def("draws(Generator generator) -> ()", [](const Generator&) {}, {Tag::nondeterministic_seeded});
  Tracer tracer(folder_ / "trace.ops");
  const HandlerGuard on(tracer);
  EXPECT_EQ(
      errorOf([] { callOp(find("test::draws"), makeGenerator(DispatchKeySet(DispatchKey::CUDA))); }),
      "the tracer cannot write down test::draws, which draws from a generator of device 'cpu' with kernels of its "
      "own: draw from one that makeGenerator() gives, or call the operator outside of the trace");
  EXPECT_EQ(errorOf([] { callOp(find("test::draws"), makeGenerator(defaultCpuGenerator().key_set())); }),
            "the generator of device 'cpu' cannot tell its position: its class does not override state()\n"
            "the tracer needs it to write down test::draws: call the operator outside of the trace, or draw from a "
            "generator that can tell");
}

// ---- Scopes ----

TEST_F(TracerTest, NestedTracersBothWriteDown) {
  Tracer outer(folder_ / "outer.ops");
  Tracer inner(folder_ / "inner.ops");
  {
    const HandlerGuard outer_on(outer);
    const Tensor x = boxcar::ones(std::array<int64_t, 1>{1});
    {
      const HandlerGuard inner_on(inner);
      const HandlerGuard twice(outer);
      boxcar::add(x, 1);
    }
    boxcar::add(x, 2);
  }
  outer.finish(false);
  inner.finish(false);
  EXPECT_EQ(withoutHead(folder_.read("outer.ops")),
            "t0 = aten::ones.default([1])\nt1 = aten::add.Scalar(t0, 1)\nt2 = aten::add.Scalar(t0, 2)\n");
  EXPECT_EQ(withoutHead(folder_.read("inner.ops")),
            "tensors = io::load('tensors-FILE.safetensors')\nt0 = tensors[\"t0\"]\nt1 = aten::add.Scalar(t0, 1)\n");
}

TEST_F(TracerTest, ACallThatFailsLeavesNoMark) {
  EXPECT_EQ(traceOf([] {
              const Tensor x = floats({1, 2});
              EXPECT_THROW(boxcar::mm(x, floats({1})), Error);
              boxcar::neg(boxcar::ones(std::array<int64_t, 1>{1}));
            }),
            "t0 = aten::ones.default([1])\nt1 = aten::neg.default(t0)\n");
  EXPECT_FALSE(Dispatcher::singleton().hasBackendFallbackForDispatchKey(DispatchKey::Tracer));
  EXPECT_FALSE(tls_is_dispatch_key_included(DispatchKey::Tracer));
}

TEST_F(TracerTest, SeesWhatModesAboveItCall) {
  const Tensor x = floats({1});
  EXPECT_EQ(traceOf([&] {
              const ModeGuard doubles([](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
                op.redispatchBoxed(keys, stack);
                if (op.operator_name().name == "aten::neg") stack.back() = boxcar::mul(stack.back().toTensor(), 2);
              });
              boxcar::neg(x);
            }).substr(66),
            "t1 = aten::neg.default(t0)\nt2 = aten::mul.Scalar(t1, 2)\n");
}

TEST_F(TracerTest, AnotherFallbackAtItsKeyIsAnError) {
  auto library = fallbacks(DispatchKey::Tracer);
  library.fallback(CppFunction::makeFallthrough());
  Tracer tracer(folder_ / "trace.ops");
  EXPECT_EQ(errorOf([&] { const HandlerGuard on(tracer); }),
            "the tracer cannot be switched on, because there is another fallback at the dispatch key Tracer: remove "
            "that one first");
  EXPECT_FALSE(tls_is_dispatch_key_included(DispatchKey::Tracer));
}

TEST_F(TracerTest, WritesNothingWhereARunFailedBeforeItBegan) {
  folder_.write("trace.ops", "old");
  Tracer tracer(folder_ / "trace.ops");
  EXPECT_EQ(tracer.finish(true), "");
  EXPECT_EQ(folder_.read("trace.ops"), "old");
}

TEST_F(TracerTest, ACallOfAFunctionIsWrittenAsThatFunction) {
  const Tensor weight = floats({3, 4});
  const FunctionPtr function =
      makeFunction(parseSchema("scale(Tensor x, int by, *, Tensor? mask=None) -> (Tensor, int)"), [&](Stack& stack) {
        std::vector<IValue> arguments = pop(stack, 3);
        const Tensor scaled = boxcar::mul(arguments[0].toTensor(), weight);
        push(stack, boxcar::add(scaled, arguments[0].toTensor(), arguments[1].toInt()), arguments[1]);
      });
  Tracer tracer(folder_ / "scale.ops", {.keeps_calls = true});
  const Tensor x = floats({1, 2});
  Stack stack{x, 5, IValue()};
  tracer.callFunction(*function, stack);
  EXPECT_EQ(tracer.finish(false), "");
  EXPECT_EQ(stack.size(), 2U);
  const std::string text = folder_.read("scale.ops");
  EXPECT_EQ(text.substr(text.find("fn ")),
            "fn scale(Tensor x, int by=5, *, Tensor? mask=None) -> (Tensor, int) {\n"
            "    assert by == 5, 'this trace of scale is for by=5'\n"
            "    assert mask is None, 'this trace of scale is for mask=None'\n"
            "    w0 = tensors[\"w0\"]\n"
            "    t0 = aten::mul.Tensor(x, w0)\n"
            "    t1 = aten::add.Tensor(t0, x, alpha=5)\n"
            "    return (t1, 5)\n"
            "}\n");

  const TracedFunction& traced = tracer.tracedFunction();
  EXPECT_TRUE(traced.arguments[0].toTensor().is_same(x));
  ASSERT_EQ(traced.weights.size(), 1U);
  EXPECT_TRUE(traced.weights[0].tensor.is_same(weight));
  EXPECT_FALSE(traced.weights[0].elements.is_same(weight)) << "they are those before the call";
  ASSERT_EQ(traced.calls.size(), 2U);
  EXPECT_EQ(toString(traced.calls[1].op.operator_name()), "aten::add.Tensor");
  EXPECT_TRUE(traced.calls[1].arguments[0].toTensor().is_same(traced.calls[0].results[0].toTensor()));
  EXPECT_TRUE(traced.results[0].toTensor().is_same(traced.calls[1].results[0].toTensor()));
  EXPECT_EQ(traced.results[1], IValue(5));
  EXPECT_TRUE(traced.rewritten_before.empty());
}

TEST_F(TracerTest, SaysBeforeWhichCallSomethingElseWroteATensorOfAFunction) {
  const FunctionPtr function = makeFunction(parseSchema("f(Tensor x) -> Tensor"), [](Stack& stack) {
    const Tensor x = pop(stack).toTensor();
    Tensor y = boxcar::mul(x, 2);
    {
      const ExcludeDispatchKeyGuard untraced(DispatchKey::Tracer);
      boxcar::fill_(y, 7);
    }
    push(stack, boxcar::add(y, 1));
  });
  Tracer tracer("", {.keeps_calls = true});
  Stack stack{floats({1, 2})};
  tracer.callFunction(*function, stack);
  EXPECT_EQ(tracer.tracedFunction().rewritten_before, std::vector<size_t>{1});
  Tracer other("");
  EXPECT_EQ(errorOf([&] { other.tracedFunction(); }), "the tracer has kept no call of a function");
}

TEST_F(TracerTest, SeveralThreadsWriteOneProgram) {
  Tracer tracer(folder_ / "trace.ops");
  constexpr int kThreads = 4;
  constexpr int kCalls = 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&tracer, i] {
      const HandlerGuard on(tracer);
      Tensor x = boxcar::full(std::array<int64_t, 1>{1}, i);
      for (int k = 0; k < kCalls; ++k) x = boxcar::add(x, 1);
      print(x);
    });
  }
  outputOf([&] {  // captured, so that it is not shown
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(tracer.finish(false), "");
  const std::string text = folder_.read("trace.ops");
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_NE(text.find("aten::_print('tensor([" + std::to_string(i + kCalls) + "])"), std::string::npos);
  }
  EXPECT_EQ(std::ranges::count(withoutHead(text), '\n'), kThreads * (kCalls + 2));
  Program::compile(text, folder_ / "trace.ops");
}

// ---- What it cannot write ----

TEST_F(TracerTest, NamesTheArgumentThatItCannotWrite) {
  auto library = definitions();
  library.def("text(str s) -> ()", [](std::string_view) {});
  library.def("tensor(Tensor x) -> ()", [](const Tensor&) {});
  library.def("stream(Stream where) -> ()", [](Stream) {});
  library.def("any(str format, ...) -> ()");
  Tracer tracer(folder_ / "trace.ops");
  const HandlerGuard on(tracer);
  EXPECT_EQ(
      errorOf([] { callOp(find("test::text"), "\xff"); }),
      "the tracer cannot write down argument 's' of test::text, a text that is not UTF-8: call the operator outside "
      "of the trace");
  EXPECT_EQ(
      errorOf([] { callOp(find("test::tensor"), Tensor()); }),
      "the tracer cannot write down argument 'x' of test::tensor, an undefined tensor: call the operator outside of "
      "the trace");
  EXPECT_EQ(errorOf([] { callOp(find("test::stream"), Stream(Device("cpu"), 0)); }),
            "the tracer cannot write down argument 'where' of test::stream, a value of kind Stream: call the operator "
            "outside of the trace");
  EXPECT_EQ(
      errorOf([] { callOp(find("test::any"), "x", 1); }),
      "the tracer cannot write down test::any, which takes any number of arguments: call it outside of the trace");
}

// ---- Scripts ----

// Each script in a folder of tests/scripts gives the same results when it is traced and its trace runs.
class TracerOfScripts : public TracerTest, public testing::WithParamInterface<const char*> {};

TEST_P(TracerOfScripts, GivesTheSameResultsToTheLastBit) {
  const std::filesystem::path folder = std::filesystem::path(BOXCAR_TEST_DATA) / "../scripts" / GetParam();
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("train_") || name.starts_with("finetune")) continue;  // its trace would be long
    if (name.starts_with("fake_")) continue;  // its trace is a program for the real device
    if (entry.path().extension() != ".ops") continue;
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // The trace of a region has what the operators in it are made of, with their casts. cli_trace compares what is
    // printed.
    if (text.find("autocast") != std::string::npos) continue;
    try {
      traceOf([&] {
        try {
          Program::compile(text, entry.path().string()).run();
        } catch (const Error&) {
          // The calls before the error are traced nevertheless.
        }
      });
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    ++count;
  }
  EXPECT_GT(count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Folders, TracerOfScripts,
                         testing::Values("../../scripts", "builtin", "expression", "fallback", "impl", "io", "loop",
                                         "mode", "operator", "overload", "scope", "slice", "tensor", "type"));

// ---- Memory ----

TEST_F(TracerTest, LetsGoOfTensorsThatNobodyElseHolds) {
  std::atomic<int64_t> live = 0;
  const StorageObserver observer = {
      [](void* context, const StorageImpl&, size_t) { ++*static_cast<std::atomic<int64_t>*>(context); },
      [](void* context, const StorageImpl&, size_t) { --*static_cast<std::atomic<int64_t>*>(context); }, &live};
  Tracer tracer(folder_ / "trace.ops");
  int64_t most = 0;
  const StorageObserver* const before = setStorageObserver(&observer);
  {
    const HandlerGuard on(tracer);
    Tensor x = boxcar::zeros(std::array<int64_t, 1>{1});
    for (int i = 0; i < 5000; ++i) {
      x = boxcar::add(x, 1);
      most = std::max(most, live.load());
    }
    EXPECT_LT(most, 1000);
    // Large tensors are released sooner; each has a megabyte.
    most = live = 0;
    Tensor large = boxcar::zeros(std::array<int64_t, 1>{1 << 18});
    for (int i = 0; i < 100; ++i) {
      large = boxcar::add(large, 1);
      most = std::max(most, live.load());
    }
  }
  setStorageObserver(before);
  EXPECT_LT(most, 50);
}

}  // namespace
}  // namespace boxcar
