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

// The arguments of one call: the values and the tensors among them. Each construction makes new tensors.
struct CaseArguments {
  Stack values;
  std::vector<Tensor> tensors;
  std::vector<Tensor> storages;             // all elements of each storage, as a 1-D tensor
  std::vector<Tensor> initial;              // the storages before the call
  std::vector<std::vector<int64_t>> sizes;  // of the tensors, before the call
};

// An expected tensor: its elements, contiguous, and its memory layout.
struct ExpectedTensor {
  Tensor elements;
  std::optional<std::vector<int64_t>> strides;  // nullopt: not compared
  int64_t storage = -1;                         // the storage of an argument that it shares; -1: its own
};

// One call and its outcome, from a file of cases (generator/store.py writes them).
class Case final {
 public:
  Case(const nlohmann::json* json, const std::map<std::string, Tensor>* elements, std::string family, size_t number)
      : json_(json), elements_(elements), family_(std::move(family)), number_(number) {}

  // "aten::add.Tensor".
  std::string op() const;
  // The dtype of the case, "float32".
  std::string dtype() const;
  const std::string& family() const noexcept { return family_; }
  // The position in the file.
  size_t number() const noexcept { return number_; }

  bool isError() const;
  // PyTorch's error if it refuses the call.
  std::string error() const;
  // (rtol, atol) if they differ from the dtype's.
  std::optional<std::pair<double, double>> tolerance() const;
  // Whether strides of results are compared.
  bool comparesStrides() const;
  // Whether values are compared; not those of random operators.
  bool comparesValues() const;
  // Whether values are compared without their signs, and complex ones without their angles.
  bool comparesMagnitudes() const;

  // Throws Error if the case does not fit [schema].
  CaseArguments makeArguments(const FunctionSchema& schema) const;

  // The expected results, to be read with expectedTensor() and number().
  const nlohmann::json& results() const;
  // Returns the expected state of tensor [index] of the arguments after the call; nullopt if it must not change.
  std::optional<ExpectedTensor> after(size_t index) const;
  ExpectedTensor expectedTensor(const nlohmann::json& expectation) const;
  // What is expected of the call's gradients, as generator/gradients.py records it; null if nothing.
  const nlohmann::json* gradients() const;
  // Returns the expected gradient of tensor [index] of the arguments; nullopt if it has none.
  std::optional<Tensor> gradient(size_t index) const;
  // Converts a number, a bool, a string, a list of these or None. [type] is the type in a schema.
  static IValue constant(const nlohmann::json& value, TypePtr type);

 private:
  Tensor elementsAt(std::string_view dtype, int64_t first, const std::vector<int64_t>& sizes) const;
  IValue value(const nlohmann::json& value, TypePtr type, const CaseArguments& arguments) const;

  const nlohmann::json* json_;
  const std::map<std::string, Tensor>* elements_;
  std::string family_;
  size_t number_;
};

// A file of cases. The cases refer to it, so it must outlive them.
class CaseFile final {
 public:
  // Throws Error if [path] cannot be read.
  explicit CaseFile(const std::string& path);
  ~CaseFile();
  CaseFile(const CaseFile&) = delete;
  CaseFile& operator=(const CaseFile&) = delete;

  // The file name without its extension, "pointwise".
  const std::string& family() const noexcept { return family_; }
  const std::vector<Case>& cases() const noexcept { return cases_; }

 private:
  std::string family_;
  std::unique_ptr<nlohmann::json> json_;
  std::map<std::string, Tensor> elements_;
  std::vector<Case> cases_;
};

// Reads the files in [folder], sorted by name; only [families] if given.
std::vector<std::unique_ptr<CaseFile>> readCaseFiles(const std::string& folder,
                                                     const std::vector<std::string>& families = {});

}  // namespace boxcar::numerics
