#pragma once

#include <boxcar/ivalue/intrusive_ptr.h>

namespace boxcar {

// Its destructor reads what the holders of references have written.
class Written final : public Object {
 public:
  explicit Written(int* sum) : sum_(sum) {}
  ~Written() override { *sum_ = numbers[0] + numbers[1]; }

  int numbers[2] = {};

 private:
  int* const sum_;
};

}  // namespace boxcar
