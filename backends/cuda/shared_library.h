#pragma once

#include <boxcar/ivalue/macros.h>

#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cuda {

// An NVIDIA library that is opened when an operator first needs it, so that boxcar runs where it is not installed.
class BOXCAR_API SharedLibrary final {
 public:
  // [name] is for messages, "cuBLAS"; [files] are tried in order, "libcublasLt.so.13" first.
  SharedLibrary(std::string_view name, std::initializer_list<const char*> files);

  // Returns the function [symbol]. Throws Error that names [op], the operator that needs it, if the library or the
  // function is missing.
  template <class Function>
  Function* function(const char* symbol, std::string_view op) {
    return reinterpret_cast<Function*>(find(symbol, op));
  }

  // Returns the dlopen handle, for code that looks up functions itself. Throws Error that names [op] if the library is
  // missing.
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
