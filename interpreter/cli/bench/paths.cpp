#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/cli/bench/paths.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace boxcar::cli {
namespace {

// Functionalities that usually no operator has a kernel for. Tracer is not among them, because handlers may have a
// fallback there.
constexpr DispatchKey kRareKeys[] = {DispatchKey::Named,
                                     DispatchKey::TESTING_ONLY_GenericWrapper,
                                     DispatchKey::FuncTorchDynamicLayerFrontMode,
                                     DispatchKey::PythonTLSSnapshot,
                                     DispatchKey::DeferredInit,
                                     DispatchKey::FuncTorchGradWrapper,
                                     DispatchKey::Batched,
                                     DispatchKey::FuncTorchVmapMode,
                                     DispatchKey::FuncTorchBatched,
                                     DispatchKey::VmapMode,
                                     DispatchKey::ZeroTensor,
                                     DispatchKey::Negative,
                                     DispatchKey::Conjugate,
                                     DispatchKey::Functionalize,
                                     DispatchKey::FuncTorchDynamicLayerBackMode,
                                     DispatchKey::Fake};
static_assert(std::size(kRareKeys) == 16);

// Another such key, for the fallback. It has no state, because what is written in a program has none.
constexpr DispatchKey kFallbackKey = DispatchKey::TESTING_ONLY_GenericMode;

void redispatch(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  op.redispatchBoxed(keys.remove(kFallbackKey), stack);
}

Library libraryForAll(DispatchKey key) { return Library(Library::IMPL, "_", key, __FILE__, __LINE__); }

// More calls would fill the memory with what handlers write down.
constexpr long kMostCallsOfHandler = 2000;

// Returns arguments with which a handler of this kind lets all calls pass; nullopt if none are known.
std::optional<std::vector<IValue>> makeHandlerArguments(const FunctionSchema& schema, const std::string& folder) {
  std::vector<IValue> values;
  for (const Argument& argument : schema.arguments()) {
    const bool is_path = argument.name().find("path") != std::string::npos ||
                         argument.name().find("file") != std::string::npos ||
                         argument.name().find("folder") != std::string::npos;
    if (argument.default_value().has_value()) {
      values.push_back(*argument.default_value());
    } else if (argument.type()->kind() == TypeKind::Int) {
      values.emplace_back(int64_t{1});
    } else if (argument.type()->kind() == TypeKind::Float) {
      values.emplace_back(1.0);
    } else if (argument.type()->kind() == TypeKind::Bool) {
      values.emplace_back(false);
    } else if (argument.type()->kind() == TypeKind::String) {
      values.emplace_back(is_path ? folder + "/written" : std::string("bench::never_called"));
    } else {
      return std::nullopt;
    }
  }
  return values;
}

// Adds two loops of a script, one that calls the operator and one that does not.
void addScript(BenchGroup& group) {
  const BenchCall& call = group.call;
  std::string takes = "int n", passes;
  bool by_keyword = false;  // after an argument that is left out
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.is_written[i]) {
      by_keyword = true;
      continue;
    }
    const Argument& parameter = call.op.schema().arguments()[i];
    by_keyword = by_keyword || parameter.kwarg_only();
    takes += fmt::format(", {} a{}", *parameter.type(), i);
    passes += passes.empty() ? "" : ", ";
    passes += by_keyword ? fmt::format("{}=a{}", parameter.name(), i) : fmt::format("a{}", i);
  }
  const std::string text = fmt::format(
      "fn calls({0}) -> () {{ for i in range(n) {{ {1}({2}) }} }}\n"
      "fn nothing({0}) -> () {{ for i in range(n) {{ }} }}\n",
      takes, call.op, passes);
  try {
    const auto program = std::make_shared<Program>(Program::compile(text, "bench.ops"));
    const auto loop = [&](const char* name) -> CallLoop {
      Stack arguments;
      for (size_t i = 0; i < call.arguments.size(); ++i) {
        if (call.is_written[i]) arguments.push_back(call.arguments[i]);
      }
      return [function = program->function(name), program, arguments](long count) {
        Stack stack = arguments;
        stack.insert(stack.begin(), IValue(int64_t{count}));
        function.call(stack);
      };
    };
    group.paths.push_back({"call in a script", loop("calls"), loop("nothing")});
  } catch (const Error& error) {
    group.skipped.push_back({"call in a script", error.message()});
  }
}

}  // namespace

BenchPaths::BenchPaths(std::string folder) : folder_(std::move(folder)) {
  const auto add = [this](DispatchKey key, CppFunction function) {
    if (Dispatcher::singleton().hasBackendFallbackForDispatchKey(key)) return false;
    libraries_.push_back(libraryForAll(key));
    libraries_.back().fallback(std::move(function));
    return true;
  };
  for (const DispatchKey key : kRareKeys) {
    if (add(key, CppFunction::makeFallthrough())) fallthrough_keys_.push_back(key);
  }
  has_fallback_ = add(kFallbackKey, CppFunction::makeFromBoxedFunction<&redispatch>());
}

BenchGroup BenchPaths::noOp() {
  Library library(Library::FRAGMENT, "bench", std::nullopt, __FILE__, __LINE__);
  library.def("no_op(Tensor(a) a, Tensor b) -> Tensor(a)");
  library.impl("no_op", dispatch(DispatchKey::CompositeExplicitAutograd, noOpKernel()));
  libraries_.push_back(std::move(library));
  const auto tensor = [] { return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float); };
  const Tensor a = tensor(), b = tensor();
  BenchGroup group = plain({findOperatorToCall("bench::no_op"), {a, b}, {true, true}});
  for (BenchPath& path : group.paths) {
    if (path.name == "kernel alone") path = {"C++ function", directNoOpLoop(a, b)};
  }
  return group;
}

BenchGroup BenchPaths::plain(BenchCall call) const {
  BenchGroup group{toString(call.op) + "(" + describeArguments(call) + ")", std::move(call), {}, {}};
  TypedLoops loops = typedLoops(group.call.op, group.call.arguments);
  if (loops.direct) group.paths.push_back({"kernel alone", std::move(loops.direct)});
  if (loops.typed) {
    group.paths.push_back({kTypedCall, std::move(loops.typed)});
  } else {
    group.skipped.push_back({kTypedCall, "its C++ type is none of those that this program has loops for"});
  }
  group.paths.push_back({kBoxedCall, boxedLoop(group.call.op, group.call.arguments)});
  addScript(group);
  return group;
}

void BenchPaths::addDetours(BenchGroup& group) {
  addFallthroughs(group);
  addFallback(group);
  BenchPath mode{"boxed call, a mode that redispatches", boxedLoop(group.call.op, group.call.arguments)};
  mode.within = [](const std::function<void()>& body) {
    const ModeGuard guard(
        [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) { op.redispatchBoxed(keys, stack); });
    body();
  };
  group.paths.push_back(std::move(mode));
  addHandlers(group);
}

void BenchPaths::addFallthroughs(BenchGroup& group) {
  std::vector<DispatchKey> free_keys;
  for (const DispatchKey key : fallthrough_keys_) {
    // An alias key's kernel would take precedence over the fallthrough.
    const TableEntry cell = Dispatcher::singleton().computeTableEntry(group.call.op, key);
    if (cell.kernel != nullptr && cell.kernel->isFallthrough()) free_keys.push_back(key);
  }
  const CallLoop typed = typedLoops(group.call.op, group.call.arguments).typed;
  for (const size_t count : {size_t{1}, size_t{4}, std::size(kRareKeys)}) {
    const std::string name = fmt::format("{} call, {}", typed ? "typed" : "boxed", plural(count, "fallthrough key"));
    if (count > free_keys.size()) {
      group.skipped.push_back({name, fmt::format("only {} keys are free of kernels and fallbacks", free_keys.size())});
      continue;
    }
    DispatchKeySet keys;
    for (size_t i = 0; i < count; ++i) keys = keys.add(free_keys[i]);
    BenchPath path{name, typed ? typed : boxedLoop(group.call.op, group.call.arguments)};
    path.within = [keys](const std::function<void()>& body) {
      const IncludeDispatchKeyGuard guard(keys);
      body();
    };
    group.paths.push_back(std::move(path));
  }
}

void BenchPaths::addFallback(BenchGroup& group) {
  const OperatorHandle op = group.call.op;
  const auto add = [&](const std::string& name, CallLoop run) {
    if (!has_fallback_ || op.hasKernelForDispatchKey(kFallbackKey)) {
      group.skipped.push_back({name, fmt::format("there is another kernel at {}", kFallbackKey)});
      return;
    }
    BenchPath path{name, std::move(run)};
    path.within = [](const std::function<void()>& body) {
      const IncludeDispatchKeyGuard guard(kFallbackKey);
      body();
    };
    group.paths.push_back(std::move(path));
  };
  if (CallLoop typed = typedLoops(op, group.call.arguments).typed) {
    add("typed call, a fallback that redispatches", std::move(typed));
  }
  add("boxed call, a fallback that redispatches", boxedLoop(op, group.call.arguments));
}

void BenchPaths::addHandlers(BenchGroup& group) const {
  for (const HandlerKind* kind : handlerKinds()) {
    const std::string name = fmt::format("boxed call, {}", kind->name());
    const auto arguments = makeHandlerArguments(kind->parsedSchema(), folder_);
    if (!arguments.has_value()) {
      group.skipped.push_back({name, fmt::format("no arguments are known for {}", kind->schema)});
      continue;
    }
    BenchPath path{name, boxedLoop(group.call.op, group.call.arguments)};
    // The handler is gone when other paths are timed, because what it observes may slow them down. It is never
    // finished: its files and its report are not wanted, and making them may take long.
    path.within = [kind, arguments = *arguments](const std::function<void()>& body) {
      const std::unique_ptr<Handler> handler = kind->make(arguments);
      const HandlerGuard guard(*handler);
      body();
    };
    path.most_calls = kMostCallsOfHandler;
    group.paths.push_back(std::move(path));
  }
}

}  // namespace boxcar::cli
