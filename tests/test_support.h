#pragma once

#include <boxcar/ivalue/error.h>

#include <string>

namespace boxcar {

// The text of the Error that [body] throws; "no error" when it throws none.
std::string errorOf(auto&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace boxcar
