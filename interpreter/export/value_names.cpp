#include <boxcar/interpreter/export/value_names.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace boxcar::interp::exported {
namespace {

// Keywords and built-in functions of Python, and names that torch.fx keeps for itself.
constexpr auto kPythonWords = std::to_array<std::string_view>({
    "False",        "None",       "True",       "abs",        "aiter",      "all",     "and",       "anext",
    "any",          "as",         "ascii",      "assert",     "async",      "await",   "bin",       "bool",
    "break",        "breakpoint", "bytearray",  "bytes",      "callable",   "chr",     "class",     "classmethod",
    "compile",      "complex",    "continue",   "copyright",  "credits",    "def",     "del",       "delattr",
    "device",       "dict",       "dir",        "divmod",     "elif",       "else",    "enumerate", "eval",
    "except",       "exec",       "exit",       "filter",     "finally",    "float",   "for",       "format",
    "from",         "frozenset",  "fx_pytree",  "getattr",    "global",     "globals", "hasattr",   "hash",
    "help",         "hex",        "id",         "if",         "import",     "in",      "inf",       "input",
    "int",          "is",         "isinstance", "issubclass", "iter",       "lambda",  "len",       "license",
    "list",         "locals",     "map",        "max",        "memoryview", "min",     "nan",       "next",
    "nonlocal",     "not",        "object",     "oct",        "open",       "or",      "ord",       "pass",
    "pow",          "print",      "property",   "pytree",     "quit",       "raise",   "range",     "repr",
    "return",       "reversed",   "round",      "self",       "set",        "setattr", "slice",     "sorted",
    "staticmethod", "str",        "sum",        "super",      "torch",      "try",     "tuple",     "type",
    "vars",         "while",      "with",       "yield",      "zip",
});

bool isWordOfPython(std::string_view name) { return std::ranges::find(kPythonWords, name) != kPythonWords.end(); }

}  // namespace

std::string ValueNames::take(std::string_view wanted) {
  std::string base;
  for (const char c : wanted) base += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) != 0) base.insert(0, "_");
  std::string name = base;
  while (taken_.contains(name) || isWordOfPython(name)) name = fmt::format("{}_{}", base, ++last_number_[base]);
  taken_.insert(name);
  return name;
}

}  // namespace boxcar::interp::exported
