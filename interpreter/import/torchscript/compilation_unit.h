#pragma once

#include <boxcar/interpreter/import/torchscript/syntax.h>
#include <boxcar/schema/type.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// The classes and functions of a TorchScript archive, by their qualified names, "__torch__.torch.nn.Linear".

namespace boxcar::interp::torchscript {

struct ClassInfo {
  enum class Kind : uint8_t { Object, NamedTuple, Enum, Interface };

  std::string qualified_name;
  const Class* definition = nullptr;
  Kind kind = Kind::Object;
  size_t number = 0;
  TypePtr type = nullptr;  // stands for the class in types
  std::string file;        // "code/__torch__/net.py"

  const Function* findMethod(std::string_view name) const;
  const Field* findField(std::string_view name) const;
};

// Which line of Python a part of a file of the archive comes from.
struct SourceLine {
  size_t begin = 0;  // the byte of the archive's file
  std::string file;
  int64_t line = 0;
};

struct FunctionInfo {
  std::string qualified_name;
  const Function* definition = nullptr;
  size_t number = 0;
  std::string file;
};

class CompilationUnit final {
 public:
  // Returns the text of a file of the archive, "code/__torch__/net.py"; nothing if there is none.
  using ReadFile = std::function<std::optional<std::string_view>(const std::string& name)>;
  // Returns what io::torchscript_lines makes of the member that says where a file comes from; empty if there is none.
  using ReadLines = std::function<std::vector<SourceLine>(const std::string& name)>;
  CompilationUnit(ReadFile read, std::string archive, ReadLines read_lines = nullptr)
      : read_(std::move(read)), read_lines_(std::move(read_lines)), archive_(std::move(archive)) {}

  // Each returns null if there is none. A file is read when it is first needed.
  const ClassInfo* findClass(const std::string& qualified_name);
  const FunctionInfo* findFunction(const std::string& qualified_name);
  // Returns the class that a type stands for; null if it stands for none.
  const ClassInfo* classOf(TypePtr type) const;
  const ClassInfo& classNumber(size_t number) const { return classes_.at(number); }

  // Returns the type that an annotation stands for, in which classes are types of their own; Any for what the language
  // has no type for.
  TypePtr typeOf(const Expr& annotation);
  TypePtr resultOf(const Function& function);
  TypePtr typeOfField(const ClassInfo& its_class, std::string_view name);
  // Of a NamedTuple, the tuple of its fields; other types are unchanged.
  TypePtr withoutNames(TypePtr type);

  // Returns the version of the archive's format, which says what operators mean; the newest if the archive has none.
  int64_t formatVersion();

  // Returns a place for errors: "code/__torch__/net.py, line 9", and the line of Python it is from, if that is known.
  std::string placeOf(const std::string& file, uint32_t line);

 private:
  struct File {
    std::string name;
    Unit unit;
  };
  const File* fileOf(std::string_view qualified_name);

  const ReadFile read_;
  const ReadLines read_lines_;
  std::optional<int64_t> format_version_;
  std::map<std::string, std::vector<SourceLine>, std::less<>> lines_;
  const std::string archive_;
  std::map<std::string, std::unique_ptr<File>, std::less<>> files_;  // null if there is none
  std::deque<ClassInfo> classes_;
  std::deque<FunctionInfo> functions_;
  std::unordered_map<std::string, ClassInfo*> class_by_name_;
  std::unordered_map<std::string, FunctionInfo*> function_by_name_;
  std::unordered_map<TypePtr, const ClassInfo*> class_by_type_;
};

}  // namespace boxcar::interp::torchscript
