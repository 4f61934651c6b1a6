#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace boxcar::detail {

// The names that files and a script's dicts give to the tensors that a trace gets from outside: "layer1.0.bn1.weight".
class TraceKeys final {
 public:
  // Notes what an operator read from outside: the tensors of a dict get its keys, a single tensor the name of the file
  // at [path].
  void note(const IValue& read, std::string_view path);
  // Returns the key of [tensor], or of a tensor on the same storage, or its key in the running script; "" if there is
  // none that can serve as a name.
  std::string find(const Tensor& tensor);

  struct Name {
    std::string variable;  // "layer1_0_bn1_weight"
    std::string key;       // in the trace's tensor file
  };
  // Returns a unique name for a tensor called [key]. It never looks like a letter with a number.
  Name take(const std::string& key);
  // take() gives no such variable from now on.
  void reserve(const std::string& variable) { variables_.taken.insert(variable); }
  // Returns a name for a view or a conversion of [variable] by the operator [op], "layer1_0_bn1_weight_to"; "" if
  // [variable] is not from take().
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
  // Held so that their addresses are not reused; those that nothing else holds are released now and then.
  std::unordered_map<const TensorImpl*, Held> tensors_;
  std::unordered_map<const StorageImpl*, const TensorImpl*> on_storage_;  // the first tensor on it
  size_t finds_ = 0;
  struct Words {
    // Returns [wanted], or the first of wanted_2, wanted_3 … that is not taken.
    std::string take(const std::string& wanted);

    std::set<std::string> taken;
    std::unordered_map<std::string, int> last_number;
  };
  Words variables_;
  Words keys_;
  std::set<std::string> derived_;  // the variables from derive()
};

}  // namespace boxcar::detail
