#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/stack.h>

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::numerics {

// The arguments of one call: the values, and the tensors among them, new ones each time they are made.
struct CaseArguments {
  Stack values;
  std::vector<Tensor> tensors;
  std::vector<Tensor> storages;             // all elements of each storage, as one row
  std::vector<Tensor> initial;              // the same as it is before the call
  std::vector<std::vector<int64_t>> sizes;  // of the tensors, before the call
};

// What a tensor must be: its elements, contiguous, and how they must lie.
struct ExpectedTensor {
  Tensor elements;
  std::optional<std::vector<int64_t>> strides;  // nothing where they do not count
  int64_t storage = -1;                         // the argument's that it shares; -1: one of its own
};

// One call and its outcome, as a file of cases has it (generator/store.py writes them).
class Case final {
 public:
  Case(const nlohmann::json* json, const std::map<std::string, Tensor>* elements, std::string family, size_t number)
      : json_(json), elements_(elements), family_(std::move(family)), number_(number) {}

  // "aten::add.Tensor".
  std::string op() const;
  // The dtype that it was made for, "float32".
  std::string dtype() const;
  const std::string& family() const noexcept { return family_; }
  // Its place in the file.
  size_t number() const noexcept { return number_; }

  bool isError() const;
  // What PyTorch says where it refuses the call.
  std::string error() const;
  // (rtol, atol) where they are not the dtype's.
  std::optional<std::pair<double, double>> tolerance() const;
  // Whether strides of results count.
  bool comparesStrides() const;
  // Whether values are compared without their signs, complex ones without their angles.
  bool comparesMagnitudes() const;

  // An Error where the case does not fit [schema].
  CaseArguments makeArguments(const FunctionSchema& schema) const;

  // The expected results: expectedTensor() and number() read what is in them.
  const nlohmann::json& results() const;
  // The expected state of tensor [index] of the arguments after the call; nothing where it must not change.
  std::optional<ExpectedTensor> after(size_t index) const;
  ExpectedTensor expectedTensor(const nlohmann::json& expectation) const;
  // A number, a truth value, a string, a list of these or None. [type] is a schema's.
  static IValue constant(const nlohmann::json& value, TypePtr type);

 private:
  Tensor elementsAt(std::string_view dtype, int64_t first, const std::vector<int64_t>& sizes) const;
  IValue value(const nlohmann::json& value, TypePtr type, const CaseArguments& arguments) const;

  const nlohmann::json* json_;
  const std::map<std::string, Tensor>* elements_;
  std::string family_;
  size_t number_;
};

// A file of cases. The cases refer to it.
class CaseFile final {
 public:
  // Throws Error where [path] cannot be read.
  explicit CaseFile(const std::string& path);
  ~CaseFile();
  CaseFile(const CaseFile&) = delete;
  CaseFile& operator=(const CaseFile&) = delete;

  // The file's name without its ending, "pointwise".
  const std::string& family() const noexcept { return family_; }
  const std::vector<Case>& cases() const noexcept { return cases_; }

 private:
  std::string family_;
  std::unique_ptr<nlohmann::json> json_;
  std::map<std::string, Tensor> elements_;
  std::vector<Case> cases_;
};

// The files in [folder], by name; only [families] where these are given.
std::vector<std::unique_ptr<CaseFile>> readCaseFiles(const std::string& folder,
                                                     const std::vector<std::string>& families = {});

}  // namespace boxcar::numerics
