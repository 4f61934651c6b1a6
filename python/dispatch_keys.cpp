#include <boxcar/ivalue/error.h>
#include <boxcar/python/dispatch_keys.h>
#include <boxcar/python/error.h>

namespace boxcar::python {

DispatchKey keyNamed(const std::string& name) {
  try {
    return parseDispatchKey(name);
  } catch (const Error& error) {
    throwPython(PyExc_ValueError, error.message());
  }
}

}  // namespace boxcar::python
