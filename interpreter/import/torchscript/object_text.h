#pragma once

#include <boxcar/interpreter/import/torchscript/translation.h>
#include <boxcar/ivalue/ivalue.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include <vector>

namespace boxcar::interp::torchscript {

// Returns the name of the class of an object; empty if [value] is no object.
std::string classNameOf(const IValue& value);

// Returns the names of the classes of all objects in [value].
std::set<std::string> classNamesIn(const IValue& value);

// Writes the objects of an archive as expressions that make them.
class ObjectText final {
 public:
  ObjectText(Translation& translation, const IValue& root) : translation_(translation) { countUses(root); }

  // Returns the expression for [value], of [type], which is at [path] in the model, "layer1.0". [is_inside]: it is in a
  // list, a dict or a tuple, where an empty one would have no type.
  std::string expression(const IValue& value, TypePtr type, const std::string& path, bool is_inside = false);
  // Constants for the objects that several others hold, in the order in which they are made.
  const std::vector<std::string>& shared() const { return shared_; }
  // Functions that return an empty list or dict, by its type.
  const std::map<std::string, std::string>& empties() const { return empties_; }

 private:
  void countUses(const IValue& value);
  std::string object(const GenericDict& value, const std::string& path);
  std::string tensor(const Tensor& value, const std::string& path);

  Translation& translation_;
  std::unordered_map<const void*, size_t> uses_;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_map<std::string, std::string> tensor_keys_;  // by what makes two tensors one
  std::vector<std::string> shared_;
  std::map<std::string, std::string> empties_;
};

}  // namespace boxcar::interp::torchscript
