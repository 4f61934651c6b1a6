#include <boxcar/backends/io/json_header.h>
#include <boxcar/backends/io/sharded.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>

#include <map>

namespace boxcar::io {
namespace {

// Names of files beside the index; a name never leads elsewhere.
void checkShardName(const JsonValue& entry, const std::string& index) {
  BOXCAR_CHECK(entry.isString(), "'{}' is not a valid index: the file of the tensor {} is {}, not a string", index,
               pythonStringRepr(entry.key), describe(entry));
  const std::string& name = entry.text;
  const bool is_name = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
                       name.find('\\') == std::string::npos && name.find('\0') == std::string::npos;
  BOXCAR_CHECK(is_name,
               "'{}' cannot be loaded: it says that the tensor {} is in {}, and only names of files in its own folder "
               "are followed",
               index, pythonStringRepr(entry.key), shown(entry));
}

}  // namespace

Dict<std::string, Tensor> loadSharded(std::span<const std::byte> index, std::string_view path,
                                      const std::string& resolved,
                                      const std::function<Dict<std::string, Tensor>(const std::string& path)>& load) {
  const JsonHeader json = readJsonHeader({reinterpret_cast<const char*>(index.data()), index.size()});
  BOXCAR_CHECK(json.problem.empty(), "'{}' is not a valid index of a model in several files: it {}", resolved,
               json.problem);
  const JsonValue* const map = json.root.find("weight_map");
  BOXCAR_CHECK(map != nullptr && map->isObject(),
               "'{}' is not a valid index of a model in several files: its \"weight_map\" is not an object", resolved);
  for (const JsonValue& entry : map->values) checkShardName(entry, resolved);

  const size_t slash = path.rfind('/');
  const std::string folder(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1));
  std::map<std::string, Dict<std::string, Tensor>> files;
  Dict<std::string, Tensor> tensors;
  for (const JsonValue& entry : map->values) {
    const auto [file, is_new] = files.try_emplace(entry.text);
    if (is_new) file->second = load(folder + entry.text);
    const std::optional<Tensor> tensor = file->second.get(entry.key);
    BOXCAR_CHECK(tensor.has_value(),
                 "'{}' cannot be loaded: it says that the tensor {} is in '{}', which does not have it", resolved,
                 pythonStringRepr(entry.key), entry.text);
    tensors.insert_or_assign(entry.key, *tensor);
  }
  return tensors;
}

}  // namespace boxcar::io
