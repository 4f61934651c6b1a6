#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string>

namespace boxcar {

// Where something was registered. The file name must live as long as the program: it is a literal or interned.
struct RegistrationSite {
  const char* file = "unknown";
  uint32_t line = 0;
  // Whether it is a place in a script, whose code runs in the interpreter.
  bool is_script = false;

  BOXCAR_API bool operator==(const RegistrationSite& other) const noexcept;

  // Returns a place in a script.
  BOXCAR_API static RegistrationSite ofScript(const std::string& file, uint32_t line);
};

// "file:line".
BOXCAR_API std::string toString(const RegistrationSite& site);

}  // namespace boxcar
