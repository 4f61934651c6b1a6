// Proposals in strings: files to import, devices.

#include <boxcar/interpreter/service/calls.h>
#include <boxcar/interpreter/service/completer.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace boxcar::service {

void Completer::addInString() {
  const Span written = *cursor_.string();
  const size_t before = cursor_.before();
  list_.replaced = written;
  if (cursor_.kindBefore(before) == Kind::KwImport) {
    addFiles(source_->text(written));
  } else if (const auto call = cursor_.openCall(); call && mayBeDevice(*call)) {
    addDevices();
  }
}

// The scripts, plugins and folders of the folder that the path leads to so far.
void Completer::addFiles(std::string_view written) {
  namespace fs = std::filesystem;
  const size_t slash = written.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? std::string_view() : written.substr(0, slash + 1);
  const std::string_view begun = written.substr(folder.size());
  list_.replaced.begin += static_cast<uint32_t>(folder.size());
  fs::path place = fs::path(name_).parent_path() / folder;
  if (place.empty()) place = ".";
  std::error_code error;
  fs::directory_iterator entry(place, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with('.') || !name.starts_with(begun)) continue;
    std::error_code status;
    const bool is_folder = entry->is_directory(status);
    if (!is_folder && !name.ends_with(".ops") && !name.ends_with(".so")) continue;
    if (is_folder) name += '/';
    if (fs::path(name_).filename() == name && folder.empty()) continue;  // the text itself
    list_.items.push_back({std::move(name), CompletionKind::File, {}, {}});
  }
}

bool Completer::mayBeDevice(const Cursor::OpenCall& call) {
  if (cursor_.openBrackets().back() != call.paren) return false;
  // `x.to("cpu")` is accepted beside what the schemas say.
  if (call.method == "to" && call.argument == 0) return true;
  const auto isDevice = [](const Argument& argument) {
    const TypePtr type = argument.type();
    return (type->isOptional() ? type->element() : type)->kind() == TypeKind::Device;
  };
  return std::ranges::any_of(candidatesOf(analysis(), cursor_, call), [&](const CallCandidate& candidate) {
    const auto& arguments = candidate.schema->arguments();
    if (!call.keyword.empty()) {
      const auto index = candidate.schema->argumentIndexWithName(call.keyword);
      return index && isDevice(arguments[static_cast<size_t>(*index)]);
    }
    const size_t index = candidate.skipped + call.argument;
    return index < arguments.size() && !arguments[index].kwarg_only() && isDevice(arguments[index]);
  });
}

void Completer::addDevices() {
  const std::string_view begun = source_->text(list_.replaced);
  for (const std::string_view device : {"cpu", "cuda", "cuda:0", "meta"}) {
    if (device.starts_with(begun)) list_.items.push_back({std::string(device), CompletionKind::Device, {}, {}});
  }
}

}  // namespace boxcar::service
