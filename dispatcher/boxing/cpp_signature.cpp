#include <boxcar/dispatcher/boxing/cpp_signature.h>
#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

namespace boxcar {

std::string CppSignature::name() const {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(type_->name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? demangled.get() : type_->name();
}

const FunctionSchema& CppSignature::schema() const {
  static std::mutex mutex;
  static std::map<const CppSignature*, FunctionSchema> schemas;
  const std::lock_guard lock(mutex);
  const auto found = schemas.find(this);
  if (found != schemas.end()) return found->second;
  return schemas.emplace(this, detail::schemaOfTypes({"inferred", ""}, arguments_, returns_)).first->second;
}

}  // namespace boxcar
