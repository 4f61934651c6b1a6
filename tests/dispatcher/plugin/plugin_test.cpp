#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/boxcar.h>
#include <boxcar/ops.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/test_support.h"

// The plugins are in plugins/. This program links libboxcar.so, like a user's program.

namespace boxcar {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::canonical(BOXCAR_TEST_PLUGINS);

std::string pathOf(const std::string& name) { return kFolder / ("lib" + name + ".so"); }

Dispatcher& dispatcher() { return Dispatcher::singleton(); }

bool isDefined(const char* name) { return dispatcher().findSchema({name, ""}).has_value(); }

EntryCause causeAt(const char* name, DispatchKey key) {
  return dispatcher().computeTableEntry(dispatcher().findSchemaOrThrow(name, ""), key).cause;
}

std::vector<std::string> loadedNames() {
  std::vector<std::string> names;
  for (const PluginInfo& plugin : dispatcher().plugins()) names.push_back(plugin.name);
  return names;
}

// A temporary file of one test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name) : path_(kFolder / name) { fs::remove(path_); }
  ~TemporaryFile() { fs::remove(path_); }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

std::string bytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Unloads plugins after each test.
class PluginTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const PluginInfo& plugin : dispatcher().plugins()) dispatcher().unloadPlugin(plugin.name);
  }
};

TEST_F(PluginTest, LoadingRegistersAllThatItsBlocksDo) {
  EXPECT_FALSE(isDefined("test_plugin::twice"));
  const PluginInfo info = dispatcher().loadPlugin(pathOf("good"));
  EXPECT_EQ(info.name, "good");
  EXPECT_EQ(info.version, "1.2");
  EXPECT_EQ(info.path, pathOf("good"));
  EXPECT_EQ(loadedNames(), std::vector<std::string>{"good"});

  const OperatorHandle twice = dispatcher().findSchemaOrThrow("test_plugin::twice", "");
  EXPECT_EQ(toString(twice.typed<Tensor(const Tensor&)>().call(arange(3))), "tensor([0, 2, 4])");
  EXPECT_EQ(toString(twice.entry().schemaSite()), "tests/dispatcher/plugin/plugins/good.cpp:35");
  EXPECT_EQ(causeAt("aten::neg", DispatchKey::IPU), EntryCause::Exact);
  EXPECT_EQ(causeAt("aten::abs", DispatchKey::TESTING_ONLY_GenericMode), EntryCause::Fallback);
  const IncludeDispatchKeyGuard guard(DispatchKey::TESTING_ONLY_GenericMode);
  EXPECT_EQ(toString(abs(arange(2))), "tensor([0, 1])");
}

TEST_F(PluginTest, BlocksAreNotReadBeforeThePluginIsCheckedThoughItsConstructorsUseTheDispatcher) {
  dispatcher().loadPlugin(pathOf("good"));
  EXPECT_STREQ(std::getenv("BOXCAR_TEST_GOOD_WAS_READ_EARLY"), "no");
}

TEST_F(PluginTest, UnloadingTakesBackAllOfIt) {
  dispatcher().loadPlugin(pathOf("good"));
  const OperatorHandle twice = dispatcher().findSchemaOrThrow("test_plugin::twice", "");
  dispatcher().unloadPlugin("good");
  EXPECT_EQ(loadedNames(), std::vector<std::string>());
  EXPECT_FALSE(isDefined("test_plugin::twice"));
  EXPECT_FALSE(isDefined("test_plugin::count"));
  EXPECT_NE(causeAt("aten::neg", DispatchKey::IPU), EntryCause::Exact);
  EXPECT_NE(causeAt("aten::abs", DispatchKey::TESTING_ONLY_GenericMode), EntryCause::Fallback);
  // The namespace is free again.
  EXPECT_NO_THROW(Library(Library::DEF, "test_plugin", std::nullopt, "mine.cpp", 1));
  const std::string error = errorOf([&] { twice.typed<Tensor(const Tensor&)>().call(arange(3)); });
  EXPECT_NE(error.find("tests/dispatcher/plugin/plugins/good.cpp:35"), std::string::npos) << error;
}

TEST_F(PluginTest, AnUnloadedOneLoadsAgainAndBeginsAfresh) {
  const auto count = [] {
    return dispatcher().findSchemaOrThrow("test_plugin::count", "").typed<int64_t(const Tensor&)>().call(arange(3));
  };
  for (int round = 0; round < 3; ++round) {
    dispatcher().loadPlugin(pathOf("good"));
    EXPECT_EQ(count(), 1);
    EXPECT_EQ(count(), 2);
    dispatcher().unloadPlugin(pathOf("good"));
    EXPECT_FALSE(isDefined("test_plugin::count"));
  }
}

TEST_F(PluginTest, TheAllocatorItSetStaysForTensorsThatDo) {
  dispatcher().loadPlugin(pathOf("good"));
  const std::vector<int64_t> sizes{1000};
  Tensor tensor = Tensor::allocate(sizes, ScalarType::Float, Device(DeviceType::PrivateUse1));
  dispatcher().unloadPlugin("good");
  static_cast<float*>(tensor.data_ptr())[999] = 1;
  EXPECT_NO_THROW(Tensor::allocate(sizes, ScalarType::Float, Device(DeviceType::PrivateUse1)));
}

TEST_F(PluginTest, LoadingALoadedOneIsAnError) {
  dispatcher().loadPlugin(pathOf("good"));
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin(pathOf("good")); }),
            "plugin 'good' (" + pathOf("good") + ") is already loaded; unload it first to load it again");
  const TemporaryFile link("another_name.so");
  fs::create_symlink(pathOf("good"), link.path());
  EXPECT_EQ(errorOf([&] { dispatcher().loadPlugin(link.path()); }),
            "plugin 'good' (" + link.path() + ") is already loaded; unload it first to load it again");
  EXPECT_TRUE(isDefined("test_plugin::twice"));
}

TEST_F(PluginTest, ANameIsLoadedOnce) {
  dispatcher().loadPlugin(pathOf("good"));
  const TemporaryFile copy("copy_of_good.so");
  fs::copy_file(pathOf("good"), copy.path());
  EXPECT_EQ(errorOf([&] { dispatcher().loadPlugin(copy.path()); }),
            "plugin 'good' (" + copy.path() + ") is not loaded, because another plugin of that name is, from " +
                pathOf("good") + "; unload that one first");
}

TEST_F(PluginTest, ABadSchemaIsAnErrorWithItsPlaceAndNothingIsRegistered) {
  const std::string expected =
      "plugin 'bad_schema' (" + pathOf("bad_schema") +
      ") is not loaded, and nothing of it is registered, because one of its registrations failed:\n"
      "tests/dispatcher/plugin/plugins/bad_schema.cpp:9: ";
  // The second time, its constructors do not run, but its blocks are known.
  for (int round = 0; round < 2; ++round) {
    const std::string error = errorOf([] { dispatcher().loadPlugin(pathOf("bad_schema")); });
    EXPECT_EQ(error.substr(0, expected.size()), expected);
    EXPECT_NE(error.find("wrong(Tensor x, int n=) -> Tensor\n"), std::string::npos) << error;
    EXPECT_FALSE(dispatcher().findOp({"test_bad_schema::right", ""}).has_value());
    EXPECT_EQ(loadedNames(), std::vector<std::string>());
    EXPECT_EQ(dispatcher().registrationErrors(), std::vector<std::string>());
  }
}

TEST_F(PluginTest, AClashWithWhatIsRegisteredTakesBackWhatTheOtherBlocksDid) {
  dispatcher().loadPlugin(pathOf("good"));
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin(pathOf("clash")); }),
            "plugin 'clash' (" + pathOf("clash") +
                ") is not loaded, and nothing of it is registered, because one of its registrations failed:\n"
                "tests/dispatcher/plugin/plugins/clash.cpp:12: only one BOXCAR_LIBRARY can claim namespace "
                "test_plugin: it is "
                "claimed at tests/dispatcher/plugin/plugins/good.cpp:34, and again at "
                "tests/dispatcher/plugin/plugins/clash.cpp:12. "
                "Use BOXCAR_LIBRARY_FRAGMENT to add to it");
  EXPECT_FALSE(isDefined("test_clash::mine"));
  EXPECT_NE(causeAt("aten::relu", DispatchKey::IPU), EntryCause::Exact);
  EXPECT_EQ(loadedNames(), std::vector<std::string>{"good"});

  // After the conflict is removed, it loads.
  dispatcher().unloadPlugin("good");
  dispatcher().loadPlugin(pathOf("clash"));
  EXPECT_TRUE(isDefined("test_clash::mine"));
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin(pathOf("good")); }).substr(0, 13), "plugin 'good'");
  EXPECT_FALSE(isDefined("test_plugin::twice"));
}

TEST_F(PluginTest, OneOfAnotherBoxcarNeverRuns) {
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin(pathOf("other_version")); }),
            "plugin " + pathOf("other_version") +
                " was built for boxcar 99.1.0, but this is boxcar " BOXCAR_VERSION
                "; build it with this one's headers");
  EXPECT_EQ(std::getenv("BOXCAR_TEST_OTHER_VERSION_HAS_RUN"), nullptr);
  const std::string error = errorOf([] { dispatcher().loadPlugin(pathOf("other_abi")); });
  const std::string expected =
      "plugin " + pathOf("other_abi") + " was compiled for libnothing, sizes 1 2 3, but this boxcar for lib";
  EXPECT_EQ(error.substr(0, expected.size()), expected);
  const std::string remedy = "; build the plugin with the compiler flags and libraries that boxcar was built with";
  EXPECT_EQ(error.substr(error.size() - remedy.size()), remedy);
}

TEST_F(PluginTest, ALibraryWithoutStampNeverRuns) {
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin(pathOf("unstamped")); }),
            "plugin " + pathOf("unstamped") +
                " has no stamp with the version of boxcar that it was built for; write BOXCAR_PLUGIN(\"name\", "
                "\"version\"); in "
                "one of its source files");
  EXPECT_EQ(std::getenv("BOXCAR_TEST_UNSTAMPED_HAS_RUN"), nullptr);
}

TEST_F(PluginTest, WhatIsNoSharedLibraryIsNamed) {
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin("absent.so"); }),
            "plugin absent.so cannot be opened: No such file or directory; give the path of the file, relative to the "
            "current directory");
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin("/"); }),
            "plugin / is a directory; give the path of the shared library in it");
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin(""); }),
            "the path of a plugin is empty; give that of a shared library");
  const TemporaryFile text("text.so");
  text.write("This is no library, whatever it is called; it is long enough to have the header of one.\n");
  EXPECT_EQ(errorOf([&] { dispatcher().loadPlugin(text.path()); }),
            "plugin " + text.path() +
                " is not a shared library for this machine; build one with boxcar_add_plugin(), a function of boxcar's "
                "CMake package");
}

TEST_F(PluginTest, APathWithoutASlashIsAFileOfTheCurrentDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(kFolder);
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin("libgood.so"); }), "no error");
  EXPECT_EQ(errorOf([] { dispatcher().unloadPlugin("libgood.so"); }), "no error");
  fs::current_path(before);
}

TEST_F(PluginTest, AFileThatIsCutOffIsRefused) {
  const std::string whole = bytesOf(pathOf("good"));
  const TemporaryFile file("cut.so");
  for (size_t bytes = 0; bytes < whole.size(); bytes += bytes < 8192 ? 37 : 5003) {
    file.write(whole.substr(0, bytes));
    EXPECT_NE(errorOf([&] { dispatcher().loadPlugin(file.path()); }), "no error") << bytes;
  }
}

// Damages the path to the stamp: the end of the ELF header, and the section headers at the end of the file. A plugin
// may still load, because the system loader reads neither.
TEST_F(PluginTest, DamageOnTheWayToTheStampIsHarmless) {
  const std::string whole = bytesOf(pathOf("good"));
  std::vector<size_t> places;
  for (const size_t begin : {size_t{40}, size_t{58}}) {
    for (size_t i = 0; i < 6; ++i) places.push_back(begin + i);
  }
  for (size_t i = 1; i < size_t{38} * 64; i += 29) places.push_back(whole.size() - i);
  size_t refused = 0;
  for (const size_t place : places) {
    const TemporaryFile file("damaged_" + std::to_string(place) + ".so");
    std::string damaged = whole;
    damaged[place] = static_cast<char>(~damaged[place]);
    file.write(damaged);
    const std::string error = errorOf([&] { dispatcher().loadPlugin(file.path()); });
    if (error == "no error") {
      dispatcher().unloadPlugin("good");
    } else {
      EXPECT_NE(error.find("has no stamp"), std::string::npos) << error;
      ++refused;
    }
  }
  EXPECT_GT(refused, 5U);
}

TEST_F(PluginTest, AMissingSymbolIsNamed) {
  const std::string error = errorOf([] { dispatcher().loadPlugin(pathOf("undefined_symbol")); });
  const std::string expected = "plugin 'undefined_symbol' (" + pathOf("undefined_symbol") + ") cannot be loaded: ";
  EXPECT_EQ(error.substr(0, expected.size()), expected);
  EXPECT_NE(error.find("isNowhere"), std::string::npos) << error;
  const std::string remedy = "; check with `ldd` whether its libraries are there";
  EXPECT_EQ(error.substr(error.size() - remedy.size()), remedy);
}

TEST_F(PluginTest, UnloadingWhatIsNotLoadedIsAnError) {
  EXPECT_EQ(errorOf([] { dispatcher().unloadPlugin("nothing"); }),
            "plugin 'nothing' cannot be unloaded, because it is not loaded; no plugin is");
  dispatcher().loadPlugin(pathOf("good"));
  EXPECT_EQ(errorOf([] { dispatcher().unloadPlugin("goood"); }),
            "plugin 'goood' cannot be unloaded, because it is not loaded; loaded are: good. Did you mean 'good'?");
}

TEST_F(PluginTest, OneThatTheProgramOpenedItselfIsThereAlready) {
  ASSERT_NE(dlopen(pathOf("opened").c_str(), RTLD_NOW), nullptr) << dlerror();
  EXPECT_TRUE(isDefined("test_opened::mine"));
  EXPECT_EQ(errorOf([] { dispatcher().loadPlugin(pathOf("opened")); }),
            "plugin 'opened' (" + pathOf("opened") +
                ") is already part of the program, which was linked with it or opened it; its operators are there "
                "without loading");
}

TEST_F(PluginTest, ThatAFileHasChangedSinceIsSaid) {
  const TemporaryFile copy("changing.so");
  fs::copy_file(pathOf("good"), copy.path());
  dispatcher().loadPlugin(copy.path());
  dispatcher().unloadPlugin("good");
  fs::remove(copy.path());
  fs::copy_file(pathOf("good"), copy.path());
  EXPECT_EQ(errorOf([&] { dispatcher().loadPlugin(copy.path()); }),
            "plugin 'good' (" + copy.path() +
                ") has changed since it was first loaded, but the code of an unloaded plugin stays in memory; restart "
                "the program to load the new one");
}

TEST_F(PluginTest, CallsInOtherThreadsGoOnWhileItComesAndGoes) {
  std::atomic<bool> done{false};
  std::thread caller([&] {
    while (!done.load()) {
      const auto twice = dispatcher().findSchema({"test_plugin::twice", ""});
      if (!twice.has_value()) continue;
      // Either the plugin's kernel answers, or an Error says that it is gone.
      const std::string error = errorOf([&] { twice->typed<Tensor(const Tensor&)>().call(arange(3)); });
      EXPECT_TRUE(error == "no error" || error.find("test_plugin::twice") != std::string::npos) << error;
    }
  });
  for (int i = 0; i < 200; ++i) {
    dispatcher().loadPlugin(pathOf("good"));
    dispatcher().unloadPlugin("good");
  }
  done.store(true);
  caller.join();
}

// ---- Imported by scripts ----

class ScriptWithPluginTest : public ::testing::Test {
 protected:
  ~ScriptWithPluginTest() override {
    for (const PluginInfo& plugin : dispatcher().plugins()) dispatcher().unloadPlugin(plugin.name);
  }
  Program compile(const std::string& text) const { return Program::compile(text, kFolder / "script.ops"); }
};

TEST_F(ScriptWithPluginTest, AScriptImportsAPluginBesideIt) {
  const Program program = compile("import \"libgood.so\"\nassert test_plugin::twice(ones(1)).item() == 2\n");
  EXPECT_EQ(loadedNames(), std::vector<std::string>{"good"});
  program.run();
  // It stays loaded for later scripts.
  compile("import \"./libgood.so\"\nassert test_plugin::twice(ones(1)).item() == 2\n").run();
}

TEST_F(ScriptWithPluginTest, APluginThatIsRefusedIsAnErrorAtTheImport) {
  const std::string error = errorOf([&] { compile("x = 1\nimport \"libunstamped.so\"\n"); });
  EXPECT_NE(error.find("script.ops:2:8: error: "), std::string::npos) << error;
  EXPECT_EQ(loadedNames(), std::vector<std::string>());
}

TEST_F(ScriptWithPluginTest, ASandboxImportsNone) {
  const FileAccessGuard guard(FileAccess::sandboxed(kFolder));
  const std::string error = errorOf([&] { compile("import \"libgood.so\"\n"); });
  EXPECT_NE(error.find("libgood.so is a plugin, which a sandbox cannot restrict: load it with --plugin"),
            std::string::npos)
      << error;
  EXPECT_EQ(loadedNames(), std::vector<std::string>());
}

TEST_F(PluginTest, ItsOperatorsTakePartInAutocastOnceTheyAreRegistered) {
  const auto dtype = [] {
    const OperatorHandle twice = dispatcher().findSchemaOrThrow("test_plugin::twice", "");
    return twice.typed<Tensor(const Tensor&)>().call(arange(3, ScalarType::Float)).scalar_type();
  };
  const auto registered = [] {
    return autocast::register_autocast("test_plugin::twice", DeviceType::CPU, ScalarType::Half);
  };
  EXPECT_EQ(errorOf([&] { static_cast<void>(registered()); }),
            "register_autocast: there is no operator test_plugin::twice; define it, or load its plugin, before");
  dispatcher().loadPlugin(pathOf("good"));
  const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16);
  EXPECT_EQ(dtype(), ScalarType::Float);
  std::optional<RegistrationHandleRAII> casts = registered();
  EXPECT_EQ(dtype(), ScalarType::Half);
  {
    const autocast::AutocastGuard off(DeviceType::CPU, std::nullopt, false);
    EXPECT_EQ(dtype(), ScalarType::Float);
  }
  // The registration is not the plugin's, and stays.
  dispatcher().unloadPlugin("good");
  EXPECT_FALSE(isDefined("test_plugin::twice"));
  dispatcher().loadPlugin(pathOf("good"));
  EXPECT_EQ(dtype(), ScalarType::Half);
  casts.reset();
  EXPECT_EQ(dtype(), ScalarType::Float);
}

}  // namespace
}  // namespace boxcar
