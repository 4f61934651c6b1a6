#pragma once

#include <boxcar/ivalue/error.h>

#include <string>

namespace boxcar {

// Returns the text of the Error that [body] throws; "no error" if it throws none.
std::string errorOf(auto&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace boxcar
