#pragma once

#include <boxcar/interpreter/import/expression.h>
#include <boxcar/interpreter/import/torchscript/compilation_unit.h>
#include <boxcar/ivalue/ivalue.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp::torchscript {

// A method of a class, or a function.
struct Callable {
  const ClassInfo* its_class = nullptr;    // null for a function
  const FunctionInfo* function = nullptr;  // null for a method
  const Function* definition = nullptr;
  std::string file;
};

// What the functions of a program have in common: what is reached from the model, and what is known about its classes.
class Translation final {
 public:
  explicit Translation(CompilationUnit& its_unit) : unit(its_unit) {}

  CompilationUnit& unit;

  // Notes that a method or function is called.
  void reach(const ClassInfo& its_class, const Function& method);
  void reach(const FunctionInfo& function);
  // The methods and functions that are reached and not translated yet.
  std::deque<Callable> waiting;

  // Classes and functions are known by these texts until their names are chosen.
  static std::string placeholder(const ClassInfo& its_class) {
    return "\x01"
           "c" +
           std::to_string(its_class.number) + "\x02";
  }
  static std::string placeholder(const FunctionInfo& function) {
    return "\x01"
           "f" +
           std::to_string(function.number) + "\x02";
  }

  // Returns a type as a signature has it.
  std::string typeText(TypePtr type);
  // Returns an expression for a value of [type] that nobody reads.
  std::string unsetValue(TypePtr type);
  // Returns the name of a field in the script.
  static std::string fieldName(std::string_view name);
  // Returns the name of a method: "__init__" is init, because names with two underscores are the language's.
  static std::string methodName(const ClassInfo& its_class, std::string_view name);
  // Returns a member of an Enum: "Color.RED" is the constant Color_RED.
  static std::string memberName(const ClassInfo& its_enum, std::string_view member);

  void noteRead(const ClassInfo& its_class, std::string_view field) { read_.emplace(its_class.number, field); }
  void noteWritten(const ClassInfo& its_class, std::string_view field) { written_.emplace(its_class.number, field); }
  void noteMade(const ClassInfo& its_class) { made_.insert(its_class.number); }
  void noteClass(const ClassInfo& its_class) { classes_.insert(its_class.number); }
  bool isWritten(const ClassInfo& its_class, std::string_view field) const {
    return written_.contains({its_class.number, std::string(field)});
  }
  bool isUsed(const ClassInfo& its_class, std::string_view field) const {
    return read_.contains({its_class.number, std::string(field)}) || isWritten(its_class, field);
  }
  // Whether the code makes objects of the class.
  bool isMade(const ClassInfo& its_class) const { return made_.contains(its_class.number); }
  const std::set<size_t>& classes() const { return classes_; }

  // What the script cannot have, and where: a call there is an error. [may_run]: it stands in a branch, which may never
  // run.
  void miss(std::string what, bool may_run) { (may_run ? perhaps_missing_ : missing_).insert(std::move(what)); }
  const std::set<std::string>& missing() const { return missing_; }
  const std::set<std::string>& perhapsMissing() const { return perhaps_missing_; }

  // What the archive holds as CONSTANTS.c0 and so on.
  std::vector<IValue> constants;
  // The classes of the model's objects.
  std::vector<const ClassInfo*> held;

  bool needs_library = false;  // torchscript.ops

  // How much is known about classes; it only grows.
  size_t factCount() const { return read_.size() + written_.size() + made_.size(); }
  // Translates everything anew, with what is known by now.
  void restart();

 private:
  std::set<std::pair<size_t, std::string>> read_;
  std::set<std::pair<size_t, std::string>> written_;
  std::set<size_t> made_;
  std::set<size_t> classes_;
  std::set<std::string> missing_;
  std::set<std::string> perhaps_missing_;
  std::set<const Function*> reached_;
};

// A function or method of the script.
struct TranslatedFunction {
  Callable callable;
  std::string signature;                // "(Tensor x) -> Tensor"
  std::vector<std::string> parameters;  // their names
  std::vector<std::string> lines;
};

TranslatedFunction translateFunction(Translation& translation, const Callable& callable);

}  // namespace boxcar::interp::torchscript
