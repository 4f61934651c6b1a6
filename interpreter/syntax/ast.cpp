#include <boxcar/interpreter/syntax/ast.h>

#include <array>

namespace boxcar::syntax {
namespace {

constexpr std::array<std::string_view, 4> kUnary = {"-", "+", "~", "not"};
constexpr std::array<std::string_view, 13> kBinary = {"|", "^", "&",  "<<", ">>", "+", "-",
                                                      "*", "/", "//", "%",  "@",  "**"};
constexpr std::array<std::string_view, 10> kCompare = {"==", "!=", "<",      "<=", ">",
                                                       ">=", "in", "not in", "is", "is not"};
constexpr std::array<std::string_view, 2> kLogical = {"and", "or"};

}  // namespace

std::string_view toString(UnaryOp op) { return kUnary[static_cast<size_t>(op)]; }
std::string_view toString(BinaryOp op) { return kBinary[static_cast<size_t>(op)]; }
std::string_view toString(CompareOp op) { return kCompare[static_cast<size_t>(op)]; }
std::string_view toString(LogicalOp op) { return kLogical[static_cast<size_t>(op)]; }

}  // namespace boxcar::syntax
