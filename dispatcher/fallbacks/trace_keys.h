#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace boxcar::detail {

// What files and a script's dicts call the tensors that a trace has from outside: "layer1.0.bn1.weight".
class TraceKeys final {
 public:
  // What an operator has read from outside: the tensors of a dict have its keys, a tensor by itself has the name of
  // the file at [path].
  void note(const IValue& read, std::string_view path);
  // The key of [tensor], of a tensor on the same storage, or the one that the running script has it under; "" where
  // there is none that can name it.
  std::string find(const Tensor& tensor);

  struct Name {
    std::string variable;  // "layer1_0_bn1_weight"
    std::string key;       // in the file of the trace
  };
  // A name for a tensor called [key], which no other has. It looks like none of those with a letter and a number.
  Name take(const std::string& key);
  // A name for a view or a conversion of [variable] by the operator [op], "layer1_0_bn1_weight_to"; "" where [variable]
  // is not from take().
  std::string derive(const std::string& variable, std::string_view op);
  size_t taken() const noexcept { return variables_.taken.size(); }

 private:
  void add(const Tensor& tensor, const std::string& key);
  void noteDict(const IValue& dict, const std::string& prefix, int depth);
  void sweep();

  struct Held {
    Tensor tensor;
    std::string key;
  };
  // They are held so that no other has their address; those that nobody else holds are let go now and then.
  std::unordered_map<const TensorImpl*, Held> tensors_;
  std::unordered_map<const StorageImpl*, const TensorImpl*> on_storage_;  // the first tensor on it
  size_t finds_ = 0;
  struct Words {
    // [wanted], or the first of wanted_2, wanted_3 … that was not taken.
    std::string take(const std::string& wanted);

    std::set<std::string> taken;
    std::unordered_map<std::string, int> last_number;
  };
  Words variables_;
  Words keys_;
  std::set<std::string> derived_;  // of the variables
};

}  // namespace boxcar::detail
