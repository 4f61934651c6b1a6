// Files that are read and written: the name of a file refers to the whole old or the whole new file, and no other file
// remains.

#include <boxcar/backends/io/safetensors.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/import/import_model.h>
#include <boxcar/ops.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "tests/exhaustion/cases.h"

namespace boxcar::exhaustion {
namespace {

using namespace std::string_literals;

// What torch.save writes of {'w': a tensor of two floats, 'l': [1, 2]} in the format without a zip archive.
const std::string kCheckpoint =
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}U\x0dlittle_endian\x88s."
    "\x80\x02}(U\x01wctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01"
    "0U\x03"
    "cpuK\x02tQK\x00(K\x02t(K\x01t\x89"
    "ccollections\nOrderedDict\n)RtRU\x01l](K\x01K\x02"
    "eu.\x80\x02]U\x01"
    "0a."
    "\x02\0\0\0\0\0\0\0"
    "\0\0\x80\x3f\0\0\0\x40"s;

void call(const char* name, std::initializer_list<IValue> arguments) {
  Stack stack;
  for (const IValue& argument : arguments) stack.push_back(argument);
  Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(stack);
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the case in which [write] writes the file at [path], in a folder of its own.
ExhaustedCase writing(const std::string& name, const std::string& path, std::function<void()> write) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  write();
  const std::string whole = contentsOf(path);
  const std::string old = "what was there before";
  const auto restore = [=] { std::ofstream(path, std::ios::binary) << old; };
  restore();
  return {"writing " + name, std::move(write), [=](bool ended) -> std::optional<std::string> {
            const std::string found = contentsOf(path);
            const auto folder = std::filesystem::directory_iterator(std::filesystem::path(path).parent_path());
            const auto files = std::distance(folder, {});
            restore();
            if (found != (ended ? whole : old) && found != whole) return "the file is neither the old one nor the new";
            if (files != 1) return "something lies beside the file";
            return std::nullopt;
          }};
}

}  // namespace

void addFileCases(std::vector<CaseMaker>& cases, const std::string& folder) {
  const Tensor x = reshape(arange(6), {2, 3});
  const Tensor strided = t(ones({40, 30}));
  Dict<std::string, Tensor> tensors;
  tensors.insert_or_assign("x", x);
  tensors.insert_or_assign("strided", strided);

  const std::string safetensors = folder + "/a/x.safetensors";
  cases.push_back(always(writing("safetensors", safetensors, [=] { call("io::save", {tensors, safetensors}); })));
  const std::string npy = folder + "/b/x.npy";
  cases.push_back(always(writing("npy", npy, [=] { call("io::save_npy", {strided, npy}); })));

  const std::string kept = folder + "/kept.safetensors";
  call("io::save", {tensors, kept});
  cases.push_back(always({"loading safetensors", [=] { call("io::load", {kept}); }}));
  cases.push_back(always({"the texts of safetensors", [=] { io::loadSafetensorsMetadata(kept); }}));
  const std::string kept_npy = folder + "/kept.npy";
  call("io::save_npy", {strided, kept_npy});
  cases.push_back(always({"loading npy", [=] { call("io::load_npy", {kept_npy}); }}));
  const std::string checkpoint = folder + "/kept.pt";
  std::ofstream(checkpoint, std::ios::binary) << kCheckpoint;
  cases.push_back(always({"loading a checkpoint", [=] { call("io::load_checkpoint", {checkpoint}); }}));
  const std::string npz = folder + "/c/x.npz";
  cases.push_back(always(writing("npz", npz, [=] { call("io::save_npz", {tensors, npz}); })));
  const std::string exported = BOXCAR_TEST_DATA "/pt2/several.pt2";
  cases.push_back(always({"loading a zip archive", [=] { call("io::load_zip", {exported}); }}));
  cases.push_back(always({"importing an exported program", [=] { interp::importModel(exported + ":double"); }}));
  const std::string scripted = BOXCAR_TEST_DATA "/torchscript/classes.pt";
  cases.push_back(always({"importing a TorchScript archive", [=] { interp::importModel(scripted); }}));
  const std::string damaged = folder + "/damaged.safetensors";
  std::ofstream(damaged, std::ios::binary) << contentsOf(kept).substr(0, 60);
  cases.push_back(always({"loading what is damaged", [=] {
                            try {
                              call("io::load", {damaged});
                            } catch (const Error& error) {
                              if (error.message().find("safetensors file") == std::string::npos) throw;
                              return;
                            }
                            throw RuntimeError("what is damaged was loaded");
                          }}));
}

}  // namespace boxcar::exhaustion
