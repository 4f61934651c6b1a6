#include <boxcar/backends/io/pickle.h>
#include <boxcar/backends/io/torchscript.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

// Where the code of a TorchScript archive comes from. PyTorch pickles ("FORMAT_WITH_STRING_TABLE", texts, records): a
// record is (byte of the code, (source, start, end), number), a source (lines of its text, its file, its first line),
// with texts by their numbers in the table.

namespace boxcar::io {
namespace {

class ListNames final : public PickleNames {
 public:
  IValue find(std::string_view name, const PicklePlace& place) override {
    if (name != "torch.jit._pickle.build_intlist") place.refuse(name);
    return makeIntrusive<PickleFunction>(std::string(name),
                                         [](std::span<const IValue> arguments, const PicklePlace& at) -> IValue {
                                           if (arguments.size() != 1) at.fail("a list has several values");
                                           return arguments[0];
                                         });
  }
  IValue findPersistent(const IValue& /*id*/, const PicklePlace& place) override { place.fail("it has storages"); }
};

IValue partOf(const IValue& whole, size_t i) {
  BOXCAR_CHECK((whole.isTuple() || whole.isList()) && i < whole.length(), "it has no part {}", i);
  return whole.elementAt(i);
}

// A text of Python.
struct SourceText {
  std::string file;
  int64_t first_line = 0;
  std::vector<int64_t> ends;  // of its lines, in bytes from its beginning
};

// Sources may share their lists of lines, so that a small pickle could have many lines.
constexpr size_t kMostLines = 10'000'000;

class DebugPickle final {
 public:
  explicit DebugPickle(const IValue& pickled) : texts_(partOf(pickled, 1)), records_(partOf(pickled, 2)) {}

  List<IValue> lines() {
    List<IValue> result;
    BOXCAR_CHECK(records_.isTuple() || records_.isList(), "it has no records");
    for (size_t i = 0; i < records_.length(); ++i) {
      const IValue record = partOf(records_, i);
      const IValue range = partOf(record, 1);
      const SourceText& source = sourceOf(partOf(range, 0));
      // What PyTorch made itself comes from no file.
      if (source.file.empty()) continue;
      const auto line = std::ranges::upper_bound(source.ends, partOf(range, 1).toInt()) - source.ends.begin();
      result.push_back(Tuple(std::vector<IValue>{partOf(record, 0).toInt(), source.file, source.first_line + line}));
    }
    return result;
  }

 private:
  std::string textAt(const IValue& number) const {
    return partOf(texts_, static_cast<size_t>(number.toInt())).toStringRef();
  }

  const SourceText& sourceOf(const IValue& source) {
    BOXCAR_CHECK(source.isTuple(), "a source is no tuple");
    const auto [found, is_new] = sources_.try_emplace(source.object());
    if (!is_new) return found->second;
    SourceText& text = found->second;
    const IValue lines = partOf(source, 0);
    text.file = textAt(partOf(source, 1));
    text.first_line = partOf(source, 2).toInt();
    BOXCAR_CHECK(lines.isTuple() || lines.isList(), "a source has no lines");
    line_count_ += lines.length();
    constexpr int64_t kLastLine = int64_t{1} << 31;
    BOXCAR_CHECK(line_count_ <= kMostLines && text.first_line >= 0 && text.first_line <= kLastLine,
                 "it has too many lines");
    int64_t end = 0;
    for (size_t i = 0; i < lines.length(); ++i) {
      end += static_cast<int64_t>(textAt(partOf(lines, i)).size());
      text.ends.push_back(end);
    }
    return text;
  }

  const IValue texts_;
  const IValue records_;
  std::map<const void*, SourceText> sources_;
  size_t line_count_ = 0;
};

}  // namespace

List<IValue> linesOfDebugPickle(std::span<const std::byte> pickle) {
  ListNames names;
  try {
    return DebugPickle(unpickle(pickle, 0, "'debug_pkl'", names).value).lines();
  } catch (const Error&) {
    return {};  // a place in Python is a help that one can do without
  }
}

}  // namespace boxcar::io
