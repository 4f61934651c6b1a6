// Proposals in strings: files to import, devices.

#include <boxcar/interpreter/service/calls.h>
#include <boxcar/interpreter/service/completer.h>
#include <boxcar/interpreter/service/files.h>

#include <algorithm>
#include <filesystem>

namespace boxcar::service {

namespace {

// The file endings that `import` and the readers of tensors take.
constexpr std::string_view kScripts[] = {".ops", ".pt2", ".so"};
constexpr std::string_view kTensors[] = {".safetensors", ".npz"};
constexpr std::string_view kArrays[] = {".npy"};

}  // namespace

void Completer::addInString() {
  const size_t before = cursor_.before();
  list_.replaced = *cursor_.string();
  if (cursor_.kindBefore(before) == Kind::KwImport) {
    addFiles(kScripts);
  } else if (cursor_.kindBefore(before) == Kind::LeftBracket) {
    addKeys();
  } else if (const auto call = cursor_.openCall(); call && call->paren == cursor_.openBrackets().back()) {
    const std::vector<const Argument*> arguments = argumentsAt(*call);
    if (mayBeDevice(*call, arguments)) {
      addDevices();
    } else if (std::ranges::any_of(arguments, [](const Argument* argument) { return argument->name() == "path"; })) {
      const bool is_io = call->space == "io";
      addFiles(is_io && call->name == "load"       ? std::span<const std::string_view>(kTensors)
               : is_io && call->name == "load_npy" ? std::span<const std::string_view>(kArrays)
                                                   : std::span<const std::string_view>());
    }
  }
}

// Adds the completions of the path written so far.
void Completer::addFiles(std::span<const std::string_view> endings) {
  namespace fs = std::filesystem;
  const std::string_view written = source_->text(list_.replaced);
  list_.replaced.begin += static_cast<uint32_t>(lastPart(written));
  for (std::string& name : filesThatBegin(written, fs::path(name_).parent_path().string(), endings)) {
    if (fs::path(name_).filename() == name && lastPart(written) == 0) continue;  // the text itself
    list_.items.push_back({std::move(name), CompletionKind::File, {}, {}});
  }
}

// Adds the keys of a dict that was set before the text: `d["`.
void Completer::addKeys() {
  const size_t name = cursor_.before() - 2;
  if (cursor_.kindBefore(cursor_.before(), 2) != Kind::Name || cursor_.kindBefore(name) == Kind::Dot) return;
  const auto known = std::ranges::find(known_, cursor_.text(name), &KnownVariable::name);
  if (known == known_.end()) return;
  const std::string_view begun = source_->text(list_.replaced);
  for (const std::string& key : known->keys) {
    if (key.starts_with(begun)) list_.items.push_back({key, CompletionKind::Key, {}, {}});
  }
}

// Returns the arguments that the value at the cursor may be passed for.
std::vector<const Argument*> Completer::argumentsAt(const Cursor::OpenCall& call) {
  std::vector<const Argument*> found;
  for (const CallCandidate& candidate : candidatesOf(analysis(), cursor_, call)) {
    const auto& arguments = candidate.schema->arguments();
    if (!call.keyword.empty()) {
      const auto index = candidate.schema->argumentIndexWithName(call.keyword);
      if (index) found.push_back(&arguments[static_cast<size_t>(*index)]);
      continue;
    }
    const size_t index = candidate.skipped + call.argument;
    if (index < arguments.size() && !arguments[index].kwarg_only()) found.push_back(&arguments[index]);
  }
  return found;
}

bool Completer::isOf(TypeKind kind, const std::vector<const Argument*>& arguments) {
  return std::ranges::any_of(arguments, [kind](const Argument* argument) {
    const TypePtr type = argument->type();
    return (type->isOptional() ? type->element() : type)->kind() == kind;
  });
}

bool Completer::mayBeDevice(const Cursor::OpenCall& call, const std::vector<const Argument*>& arguments) {
  // `x.to("cpu")` is accepted in addition to what the schemas say.
  return (call.method == "to" && call.argument == 0) || isOf(TypeKind::Device, arguments);
}

void Completer::addDevices() {
  // Adds quotes unless the cursor is in a string.
  const bool is_string = cursor_.string().has_value();
  const std::string_view begun = source_->text(list_.replaced);
  for (const std::string_view device : {"cpu", "cuda", "cuda:0", "meta"}) {
    std::string text = is_string ? std::string(device) : fmt::format("\"{}\"", device);
    if (text.starts_with(begun)) list_.items.push_back({std::move(text), CompletionKind::Device, {}, {}});
  }
}

}  // namespace boxcar::service
