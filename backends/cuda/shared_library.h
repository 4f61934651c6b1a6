#pragma once

#include <boxcar/ivalue/macros.h>

#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cuda {

// A library of NVIDIA's that is opened when an operator first needs it, so that boxcar runs where it is not installed.
class BOXCAR_API SharedLibrary final {
 public:
  // [name] for people, "cuBLAS"; [files] are tried in order, "libcublasLt.so.13" first.
  SharedLibrary(std::string_view name, std::initializer_list<const char*> files);

  // The function [symbol]. An Error that names [op], who wants it, when the library or the function is not there.
  template <class Function>
  Function* function(const char* symbol, std::string_view op) {
    return reinterpret_cast<Function*>(find(symbol, op));
  }

  // What dlopen gave, for those who look functions up themselves. An Error that names [op] when the library is not
  // there.
  void* handle(std::string_view op);

 private:
  void* find(const char* symbol, std::string_view op);
  void open(std::string_view op);

  const std::string name_;
  const std::vector<const char*> files_;
  std::mutex mutex_;
  void* handle_ = nullptr;
};

}  // namespace boxcar::cuda
