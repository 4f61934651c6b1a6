// The code of a TorchScript archive -> a script of its first class -> compiled.

#include <boxcar/interpreter/import/torchscript/program_text.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/syntax/formatter.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/fuzz/fuzz.h"

namespace boxcar::fuzz {
namespace {

using interp::torchscript::ClassInfo;
using interp::torchscript::CompilationUnit;
using interp::torchscript::Field;

constexpr int kMostObjects = 100;

Tensor oneElement() {
  const int64_t size[] = {1};
  const Storage storage = StorageImpl::allocate(sizeof(float), Device(DeviceType::CPU));
  *static_cast<float*>(storage->data()) = 1;
  return Tensor(makeIntrusive<TensorImpl>(storage, ScalarType::Float, size, size, int64_t{0}));
}

// Makes a value for each attribute of a class, as a pickle would bring it.
class Objects final {
 public:
  explicit Objects(CompilationUnit& unit) : unit_(unit) {}

  IValue object(const ClassInfo& info) {
    Dict<IValue, IValue> state;
    for (const Field& field : info.definition->fields) {
      state.insert_or_assign(field.name, value(unit_.typeOfField(info, field.name)));
    }
    Dict<IValue, IValue> object;
    object.insert_or_assign("__class__", info.qualified_name);
    object.insert_or_assign("state", state);
    return object;
  }

 private:
  IValue value(TypePtr type) {
    if (++count_ > kMostObjects) return IValue();
    if (const ClassInfo* const info = unit_.classOf(type); info != nullptr) return object(*info);
    switch (type->kind()) {
      case TypeKind::Tensor: return oneElement();
      case TypeKind::Int: return 1;
      case TypeKind::Float: return 0.5;
      case TypeKind::Bool: return true;
      case TypeKind::String: return "text";
      case TypeKind::Optional: return value(type->element());
      case TypeKind::List: {
        List<IValue> list;
        list.push_back(value(type->element()));
        return list;
      }
      case TypeKind::Dict: {
        Dict<IValue, IValue> dict;
        dict.insert_or_assign("key", value(type->contained()[1]));
        return dict;
      }
      default: return IValue();
    }
  }

  CompilationUnit& unit_;
  int count_ = 0;
};

}  // namespace
}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace boxcar;
  const std::string_view text = fuzz::textOf(data, size);
  fuzz::runHarmlessly([&] {
    try {
      const interp::torchscript::Unit first = interp::torchscript::parseUnit(text, "fuzz.pt");
      if (first.classes.empty()) return;
      interp::torchscript::CompilationUnit unit(
          [text](const std::string& name) -> std::optional<std::string_view> {
            if (name == "code/__torch__.py") return text;
            return std::nullopt;
          },
          "fuzz.pt");
      const interp::torchscript::ClassInfo* const root = unit.findClass("__torch__." + first.classes[0].name);
      if (root == nullptr || root->kind != interp::torchscript::ClassInfo::Kind::Object) return;
      const IValue module = fuzz::Objects(unit).object(*root);
      interp::torchscript::ProgramText program =
          interp::torchscript::programText(unit, module, {}, {.title = "fuzz.pt", .weights = "fuzz.pt"});
      Diagnostics diagnostics;
      std::string script = formatSource(Source::create("fuzz.ops", std::move(program.text)), diagnostics);
      Program::compile(std::move(script), "fuzz.ops");
    } catch (const std::bad_alloc&) {
      // Memory ran out.
    }
  });
  return 0;
}
