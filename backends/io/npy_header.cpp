#include <boxcar/backends/io/npy_header.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace boxcar::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// The header is preceded by the magic, two version bytes, and its length in two bytes, or four from version 2 on.
constexpr size_t kVersionAt = kMagic.size();
constexpr size_t kLengthAt = kVersionAt + 2;

struct Dtype {
  std::string_view code;  // without the byte order
  ScalarType type;
};
constexpr Dtype kNpyDtypes[] = {
    {"b1", ScalarType::Bool},
    {"u1", ScalarType::Byte},
    {"i1", ScalarType::Char},
    {"i2", ScalarType::Short},
    {"i4", ScalarType::Int},
    {"i8", ScalarType::Long},
    {"f2", ScalarType::Half},
    {"f4", ScalarType::Float},
    {"f8", ScalarType::Double},
    {"c8", ScalarType::ComplexFloat},
    {"c16", ScalarType::ComplexDouble},
};

// Returns a text from the file, escaped, and truncated if it is long.
std::string shown(std::string_view text) {
  return pythonStringRepr(text.substr(0, 40)) + (text.size() > 40 ? "…" : "");
}

// Parses the header's text: a Python dict of three entries, in any order, whose values are a string, a bool and a tuple
// of integers.
class NpyParser {
 public:
  // [begin] is the position of [text] in the file.
  NpyParser(std::string_view text, size_t begin, const std::string& what) : text_(text), begin_(begin), what_(what) {}

  NpyHeader parse() {
    NpyHeader header;
    std::optional<size_t> descr;
    std::optional<size_t> order;
    std::optional<size_t> shape;
    const auto once = [this](std::optional<size_t>& seen, size_t at, std::string_view key) {
      if (seen.has_value()) failAt(at, "the header has '{}' twice", key);
      seen = at;
    };
    expect('{', "the header to be a dict");
    while (!accept('}')) {
      const size_t at = next();
      const std::string_view key = readString("a key");
      expect(':', "a colon after the key");
      if (key == "descr") {
        once(descr, at, key);
        readDtype(header);
      } else if (key == "fortran_order") {
        once(order, at, key);
        header.is_fortran_order = readBool();
      } else if (key == "shape") {
        once(shape, at, key);
        header.shape = readShape();
      } else {
        failAt(at, "the header has an entry {}, where 'descr', 'fortran_order' and 'shape' can be", shown(key));
      }
      if (accept(',')) continue;
      expect('}', "a comma or the end of the dict");
      break;
    }
    const size_t end = next();
    if (end != text_.size()) failAt(end, "something follows the dict of the header");
    for (const auto& [seen, key] : {std::pair(descr, "descr"), {order, "fortran_order"}, {shape, "shape"}}) {
      if (!seen.has_value()) failAt(0, "the header has no '{}'", key);
    }
    return header;
  }

 private:
  template <class... Args>
  [[noreturn]] void failAt(size_t at, fmt::format_string<Args...> format, Args&&... args) const {
    BOXCAR_FAIL("{} is not a valid .npy file: at byte {}, {}", what_, begin_ + at,
                fmt::format(format, std::forward<Args>(args)...));
  }

  // Returns the position of the next character that is not white space.
  size_t next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_;
  }
  bool accept(char wanted) {
    if (next() == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted, std::string_view what) {
    if (accept(wanted)) return;
    if (at_ == text_.size()) failAt(at_, "the header ends where it needs {}", what);
    failAt(at_, "the header has {} where it needs {}", shown(text_.substr(at_, 1)), what);
  }
  bool acceptWord(std::string_view word) {
    next();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view readString(std::string_view what) {
    const size_t from = next();
    const char quote = from < text_.size() ? text_[from] : '\0';
    if (quote != '\'' && quote != '"') failAt(from, "the header has no string where it needs {}", what);
    const size_t end = text_.find(quote, from + 1);
    if (end == std::string_view::npos) failAt(from, "a string of the header does not end");
    const std::string_view string = text_.substr(from + 1, end - from - 1);
    if (const size_t escape = string.find('\\'); escape != std::string_view::npos)
      failAt(from + 1 + escape, "a string of the header has a backslash, which no entry needs");
    at_ = end + 1;
    return string;
  }

  bool readBool() {
    const size_t from = next();
    if (acceptWord("True")) return true;
    if (acceptWord("False")) return false;
    failAt(from, "'fortran_order' is neither True nor False");
  }

  std::vector<int64_t> readShape() {
    std::vector<int64_t> shape;
    expect('(', "'shape' to be a tuple");
    bool has_comma = false;
    while (!accept(')')) {
      if (!shape.empty() && !has_comma) failAt(at_, "the sizes in 'shape' need commas between them");
      if (shape.size() == kNpyMostDims) failAt(at_, "'shape' has more than {} dimensions", kNpyMostDims);
      shape.push_back(readSize());
      has_comma = accept(',');
    }
    if (shape.size() == 1 && !has_comma) failAt(at_, "'shape' is a number, and has to be a tuple: (n,)");
    return shape;
  }

  int64_t readSize() {
    const size_t from = next();
    int64_t size = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(size, int64_t{10}, &size) ||
          __builtin_add_overflow(size, int64_t{text_[at_] - '0'}, &size))
        failAt(from, "a size in 'shape' is larger than {}", std::numeric_limits<int64_t>::max());
    }
    if (at_ == from) failAt(from, "'shape' needs a whole number from 0 on for each dimension");
    // Python 2 appended it to long numbers.
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return size;
  }

  void readDtype(NpyHeader& header) {
    const size_t from = next();
    if (from < text_.size() && text_[from] == '[')
      BOXCAR_FAIL(
          "{} cannot be loaded: at byte {}, its elements are records of several fields; save each field as an "
          "array of its own",
          what_, begin_ + from);
    const std::string_view text = readString("the dtype");
    const char order = text.empty() ? '\0' : text[0];
    const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
    const std::string_view code = text.substr(has_order ? 1 : 0);
    const auto* found = std::ranges::find(kNpyDtypes, code, &Dtype::code);
    if (found == std::end(kNpyDtypes)) failDtype(from, text, code);
    header.dtype = found->type;
    header.is_big_endian = order == '>' && elementSize(found->type) > 1;
  }

  [[noreturn]] void failDtype(size_t from, std::string_view text, std::string_view code) const {
    const std::string_view remedy = code == "V2"            ? "; bfloat16 arrays are written so: save them as float32"
                                    : code.starts_with('O') ? "; Python objects are not read: save numbers"
                                    : code.starts_with('u')
                                        ? "; convert it with astype('int64') or another dtype that holds its numbers"
                                        : "; convert it with astype() before saving it";
    std::vector<std::string_view> known;
    for (const Dtype& dtype : kNpyDtypes) known.push_back(dtype.code);
    BOXCAR_FAIL("{} cannot be loaded: at byte {}, its dtype is {}, which boxcar does not have (it has {}){}", what_,
                begin_ + from, shown(text), fmt::join(known, ", "), remedy);
  }

  const std::string_view text_;
  const size_t begin_;
  const std::string& what_;
  size_t at_ = 0;
};

// Returns the little-endian number in [bytes].
size_t readLength(std::span<const std::byte> bytes) {
  size_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<size_t>(bytes[i]);
  return value;
}

}  // namespace

NpyHeaderPlace findNpyHeader(std::span<const std::byte> start, uint64_t size, const std::string& what) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  BOXCAR_CHECK(!text.starts_with("PK\x03\x04"), "{} is not a .npy file, but an archive: io::load reads .npz files",
               what);
  BOXCAR_CHECK(text.starts_with(kMagic), "{} is not a .npy file: it has {} bytes and does not begin with '\\x93NUMPY'",
               what, size);
  BOXCAR_CHECK(start.size() >= kLengthAt, "{} is not a valid .npy file: it ends at byte {}, before its version", what,
               size);
  const int major = std::to_integer<int>(start[kVersionAt]);
  const int minor = std::to_integer<int>(start[kVersionAt + 1]);
  BOXCAR_CHECK(major >= 1 && major <= 3 && minor == 0,
               "{} cannot be loaded: at byte {}, it has the format version {}.{}, and 1.0, 2.0 and 3.0 are known", what,
               kVersionAt, major, minor);
  const size_t begin = kLengthAt + (major == 1 ? 2 : 4);
  BOXCAR_CHECK(start.size() >= begin, "{} is not a valid .npy file: it ends at byte {}, in the length of its header",
               what, size);
  const size_t length = readLength(start.subspan(kLengthAt, begin - kLengthAt));
  BOXCAR_CHECK(length <= size - begin,
               "{} is not a valid .npy file: at byte {}, its header should have {} bytes, but only {} follow", what,
               kLengthAt, length, size - begin);
  return {begin, begin + length};
}

NpyHeader parseNpyHeader(std::span<const std::byte> file, const std::string& what) {
  const auto [begin, end] = findNpyHeader(file, file.size(), what);
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  NpyHeader header = NpyParser(text.substr(begin, end - begin), begin, what).parse();
  header.data_begin = end;
  return header;
}

std::string npyDtype(ScalarType dtype) {
  const auto* found = std::ranges::find(kNpyDtypes, dtype, &Dtype::type);
  if (found == std::end(kNpyDtypes)) return {};
  return fmt::format("{}{}", elementSize(dtype) == 1 ? '|' : '<', found->code);
}

std::string formatNpyHeader(const NpyHeader& header) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", npyDtype(header.dtype),
                                 pythonBool(header.is_fortran_order), fmt::join(std::span(header.shape), ", "),
                                 header.shape.size() == 1 ? "," : "");
  // The elements begin at a multiple of 64, after a newline.
  const size_t begin = kLengthAt + 2;
  dict.resize((begin + dict.size() + 1 + 63) / 64 * 64 - begin - 1, ' ');
  dict += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return bytes + dict;
}

}  // namespace boxcar::io
