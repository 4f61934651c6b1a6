#include <boxcar/backends/io/pickle.h>
#include <boxcar/backends/io/pickle_nesting.h>
#include <boxcar/backends/io/pickle_text.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/stop_request.h>
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

namespace boxcar::io {
namespace {

// The opcodes of Python's pickletools, by their names there.
enum class PickleOp : uint8_t {
  Mark = '(',
  Stop = '.',
  Pop = '0',
  PopMark = '1',
  Dup = '2',
  Float = 'F',
  Int = 'I',
  BinInt = 'J',
  BinInt1 = 'K',
  Long = 'L',
  BinInt2 = 'M',
  None = 'N',
  PersId = 'P',
  BinPersId = 'Q',
  Reduce = 'R',
  String = 'S',
  BinString = 'T',
  ShortBinString = 'U',
  Unicode = 'V',
  BinUnicode = 'X',
  Append = 'a',
  Build = 'b',
  Global = 'c',
  Dict = 'd',
  EmptyDict = '}',
  Appends = 'e',
  Get = 'g',
  BinGet = 'h',
  Inst = 'i',
  LongBinGet = 'j',
  List = 'l',
  EmptyList = ']',
  Obj = 'o',
  Put = 'p',
  BinPut = 'q',
  LongBinPut = 'r',
  SetItem = 's',
  Tuple = 't',
  EmptyTuple = ')',
  SetItems = 'u',
  BinFloat = 'G',
  BinBytes = 'B',
  ShortBinBytes = 'C',
  Proto = 0x80,
  NewObj = 0x81,
  Ext1 = 0x82,
  Ext2 = 0x83,
  Ext4 = 0x84,
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  NewTrue = 0x88,
  NewFalse = 0x89,
  Long1 = 0x8a,
  Long4 = 0x8b,
  ShortBinUnicode = 0x8c,
  BinUnicode8 = 0x8d,
  BinBytes8 = 0x8e,
  EmptySet = 0x8f,
  AddItems = 0x90,
  FrozenSet = 0x91,
  NewObjEx = 0x92,
  StackGlobal = 0x93,
  Memoize = 0x94,
  Frame = 0x95,
  ByteArray8 = 0x96,
  NextBuffer = 0x97,
  ReadOnlyBuffer = 0x98,
};

std::string_view textOfBytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Unpickler final {
 public:
  Unpickler(std::span<const std::byte> file, size_t begin, const std::string& what, PickleNames& names)
      : file_(textOfBytes(file)), begin_(begin), at_(begin), next_(begin), what_(what), names_(names) {}
  Unpickler(const Unpickler&) = delete;
  Unpickler& operator=(const Unpickler&) = delete;
  // Values that contain themselves would never be freed.
  ~Unpickler() {
    if (!is_done_) takeApart();
  }

  Unpickled run() {
    for (size_t count = 1;; ++count) {
      if (count % 65536 == 0) checkStop();
      at_ = next_;
      const auto op = static_cast<PickleOp>(take(1)[0]);
      if (op == PickleOp::Stop) break;
      step(op);
    }
    const IValue result = pop();
    checkPickledNesting(result, filled_, names_.keepsObjects(), place());
    is_done_ = true;
    return {result, next_};
  }

 private:
  PicklePlace place() const { return PicklePlace(what_, at_); }
  [[noreturn]] void fail(std::string_view problem) const { place().fail(problem); }

  // ---- The file ----

  std::string_view take(uint64_t count) {
    const size_t left = file_.size() - next_;
    if (count > left) fail(fmt::format("{} more bytes of its pickle should follow, and {} do", count, left));
    const std::string_view taken = file_.substr(next_, count);
    next_ += count;
    return taken;
  }
  std::string_view takeLine() {
    const size_t end = file_.find('\n', next_);
    if (end == std::string_view::npos) fail("a line of its pickle has no end");
    const std::string_view line = file_.substr(next_, end - next_);
    next_ = end + 1;
    return line;
  }
  template <class T>
  T takeNumber() {
    T number;
    std::memcpy(&number, take(sizeof(T)).data(), sizeof(T));
    return number;
  }
  template <class Length>
  std::string_view takeSized() {
    const auto length = takeNumber<Length>();
    if constexpr (std::is_signed_v<Length>) {
      if (length < 0) fail(fmt::format("a length in its pickle is {}", length));
    }
    return take(static_cast<uint64_t>(length));
  }
  double takeBigEndianDouble() { return std::bit_cast<double>(__builtin_bswap64(takeNumber<uint64_t>())); }
  double takeFloatLine() {
    const std::string_view line = takeLine();
    double value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || end != line.data() + line.size()) failText("float", line);
    return value;
  }
  IValue takeIntLine() {
    const std::string_view line = takeLine();
    if (line == "00") return false;
    if (line == "01") return true;
    return whole(parsePickledInt(line), line);
  }
  IValue whole(std::optional<int64_t> value, std::string_view line) const {
    if (!value) failText("int of 64 bits", line);
    return *value;
  }
  IValue longOf(std::string_view bytes) const {
    const auto value = littleEndianInt(bytes);
    if (!value) fail(fmt::format("an int of {} bytes does not fit the 64 bits that boxcar's ints have", bytes.size()));
    return *value;
  }
  IValue text(const std::optional<std::string>& decoded, std::string_view line) const {
    if (!decoded) failText("str", line);
    return *decoded;
  }
  [[noreturn]] void failText(std::string_view kind, std::string_view line) const {
    fail(fmt::format("{} is no {} of a pickle", pythonStringRepr(line.substr(0, 40)), kind));
  }

  // ---- The stack ----

  IValue& top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("its pickle takes a value from an empty stack");
    return stack_.back();
  }
  IValue pop() {
    IValue value = std::move(top());
    stack_.pop_back();
    return value;
  }
  void push(IValue value) { stack_.push_back(std::move(value)); }
  // Takes the values from the last mark on.
  std::vector<IValue> popToMark() {
    if (marks_.empty()) fail("its pickle takes what follows a mark, and there is none");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<IValue> values(std::make_move_iterator(begin), std::make_move_iterator(stack_.end()));
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return values;
  }
  void pushTuple(size_t count) {
    std::vector<IValue> elements(count);
    for (size_t i = count; i-- > 0;) elements[i] = pop();
    push(boxcar::Tuple(std::move(elements)));
  }
  void pushList(std::vector<IValue> values) {
    const bool is_nested = std::ranges::any_of(values, isPickleContainer);
    push(GenericList(makeIntrusive<GenericListObject>(std::move(values))));
    if (is_nested) filled_.push_back(stack_.back());
  }

  // ---- The memo ----

  void put(uint64_t index) {
    // Each index takes at least a byte, because picklers count them up.
    if (index > next_ - begin_)
      fail(fmt::format("its pickle remembers a value as number {}, which is too high", index));
    if (index >= memo_.size()) memo_.resize(index + 1);
    memo_[index] = top();
  }
  void get(uint64_t index) {
    if (index >= memo_.size() || !memo_[index])
      fail(fmt::format("its pickle recalls value {}, which it has not remembered", index));
    push(*memo_[index]);
  }
  uint64_t lineIndex() {
    const std::string_view line = takeLine();
    const auto index = parsePickledInt(line);
    if (!index || *index < 0) failText("number of a remembered value", line);
    return static_cast<uint64_t>(*index);
  }

  // ---- Containers ----

  // Notes that [container] holds [value], which may be what makes it contain itself.
  void noteFilled(const IValue& container, const IValue& value) {
    if (isPickleContainer(value) && (filled_.empty() || filled_.back().object() != container.object()))
      filled_.push_back(container);
  }
  void takeApart() noexcept {
    for (const IValue& container : filled_) {
      if (container.isGenericList()) {
        container.toList().clear();
      } else if (container.isGenericDict()) {
        container.toGenericDict().clear();
      } else if (auto* object = dynamic_cast<PickledObject*>(container.toObject().get())) {
        object->setState(IValue());
      }
    }
  }
  void append(std::vector<IValue> values) {
    const IValue& list = top();
    if (!list.isGenericList()) fail(fmt::format("its pickle appends to a value of type {}", pickledKind(list)));
    auto& elements = list.unsafeGet<IValue::Tag::GenericList>()->values;
    for (IValue& value : values) {
      noteFilled(list, value);
      elements.push_back(std::move(value));
    }
  }
  void setItems(GenericDict dict, std::vector<IValue> values) {  // NOLINT(performance-unnecessary-value-param)
    if (values.size() % 2 != 0) fail("a key of a dict in its pickle has no value");
    for (size_t i = 0; i < values.size(); i += 2) {
      checkKey(values[i]);
      noteFilled(dict, values[i + 1]);
      dict.insert_or_assign(std::move(values[i]), std::move(values[i + 1]));
    }
  }
  GenericDict topDict() {
    const IValue& dict = top();
    if (!dict.isGenericDict()) fail(fmt::format("its pickle sets items of a value of type {}", pickledKind(dict)));
    return dict.toGenericDict();
  }
  // What is copied or hashed may be something large that the pickle recalls in few bytes. Real pickles do so with small
  // things only.
  void charge(const IValue& value) {
    constexpr uint64_t kFree = uint64_t{1} << 16, kMostForOne = 32;
    if (value.isString()) spent_ += value.toStringView().size();
    if (value.isGenericList() || value.isTuple() || value.isGenericDict()) spent_ += value.length();
    if (spent_ / kMostForOne > next_ - begin_ + kFree)
      fail("its pickle makes much more of its values than it has bytes");
  }
  // Tuples as keys are flat, so that hashing them takes no longer than reading them.
  void checkKey(const IValue& key) {
    const auto is_plain = [](const IValue& value) {
      return value.isScalar() || value.isString() || value.isNone() || value.isTensor();
    };
    const bool fits = is_plain(key) ||
                      (key.isTuple() && std::ranges::all_of(key.unsafeGet<IValue::Tag::Tuple>()->elements(), is_plain));
    charge(key);
    if (!fits)
      fail(fmt::format("a key of a dict or set in its pickle is of type {}, and is or holds what cannot be a key",
                       pickledKind(key)));
  }
  std::vector<IValue> checkedKeys(std::vector<IValue> values) {
    for (const IValue& value : values) checkKey(value);
    return values;
  }

  // ---- Names ----

  void pushNamed(std::string_view module, std::string_view name) {
    push(names_.find(fmt::format("{}.{}", module, name), place()));
  }
  void pushNamedInLines() {
    const std::string_view module = takeLine();
    pushNamed(module, takeLine());
  }
  void pushNamedOnStack() {
    const IValue name = pop();
    const IValue module = pop();
    if (!name.isString() || !module.isString()) fail("its pickle names a class by values that are no strs");
    pushNamed(module.toStringView(), name.toStringView());
  }
  void call(const IValue& function, std::span<const IValue> arguments) {
    const PickleFunction* const known = asPickleFunction(function);
    if (known == nullptr) fail(fmt::format("its pickle calls a value of type {}", pickledKind(function)));
    if (!known->call()) place().refuse(known->name() + " with arguments");
    for (const IValue& argument : arguments) charge(argument);
    push(known->call()(arguments, place()));
  }
  void callWithTuple() {
    const IValue arguments = pop();
    const IValue function = pop();
    // Members of enums are pickled so by TorchScript.
    if (!arguments.isTuple() && names_.keepsObjects()) return call(function, {&arguments, 1});
    if (!arguments.isTuple()) fail(fmt::format("its pickle calls with arguments of type {}", pickledKind(arguments)));
    call(function, arguments.unsafeGet<IValue::Tag::Tuple>()->elements());
  }
  void callWithKeywords() {
    const IValue keywords = pop();
    if (!keywords.isGenericDict() || !keywords.toGenericDict().empty()) fail("its pickle calls with keyword arguments");
    callWithTuple();
  }
  // The first value after the mark is the class.
  void callAfterMark() {
    const std::vector<IValue> values = popToMark();
    if (values.empty()) fail("its pickle calls nothing");
    call(values[0], std::span(values).subspan(1));
  }
  void callNamedInLines() {
    pushNamedInLines();
    const IValue function = pop();
    call(function, popToMark());
  }
  void build() {
    IValue state = pop();
    const IValue& target = top();
    // The attributes of an OrderedDict, `_metadata` of a state_dict, are no entries.
    if (target.isGenericDict()) return;
    auto* const object = target.isObject() ? dynamic_cast<PickledObject*>(target.toObject().get()) : nullptr;
    if (object == nullptr) fail(fmt::format("its pickle sets attributes of a value of type {}", pickledKind(target)));
    noteFilled(target, state);
    object->setState(std::move(state));
  }

  void step(PickleOp op) {
    switch (op) {
      case PickleOp::Proto:
        if (const auto version = takeNumber<uint8_t>(); version > 5)
          fail(fmt::format("its pickle has protocol {}, and 0 to 5 are known", version));
        return;
      case PickleOp::Frame:
        if (const auto length = takeNumber<uint64_t>(); length > file_.size() - next_)
          fail(fmt::format("a frame of {} bytes should follow, and {} do", length, file_.size() - next_));
        return;

      case PickleOp::None: return push(IValue());
      case PickleOp::NewTrue: return push(true);
      case PickleOp::NewFalse: return push(false);
      case PickleOp::Int: return push(takeIntLine());
      case PickleOp::Long: {
        const std::string_view line = takeLine();
        return push(whole(parsePickledInt(line), line));
      }
      case PickleOp::BinInt: return push(takeNumber<int32_t>());
      case PickleOp::BinInt1: return push(takeNumber<uint8_t>());
      case PickleOp::BinInt2: return push(takeNumber<uint16_t>());
      case PickleOp::Long1: return push(longOf(takeSized<uint8_t>()));
      case PickleOp::Long4: return push(longOf(takeSized<int32_t>()));
      case PickleOp::Float: return push(takeFloatLine());
      case PickleOp::BinFloat: return push(takeBigEndianDouble());

      case PickleOp::String: {
        const std::string_view line = takeLine();
        return push(text(decodePythonString(line), line));
      }
      case PickleOp::Unicode: {
        const std::string_view line = takeLine();
        return push(text(decodeRawUnicode(line), line));
      }
      case PickleOp::ShortBinString:
      case PickleOp::ShortBinUnicode:
      case PickleOp::ShortBinBytes: return push(takeSized<uint8_t>());
      case PickleOp::BinString: return push(takeSized<int32_t>());
      case PickleOp::BinUnicode:
      case PickleOp::BinBytes: return push(takeSized<uint32_t>());
      case PickleOp::BinUnicode8:
      case PickleOp::BinBytes8:
      case PickleOp::ByteArray8: return push(takeSized<uint64_t>());

      case PickleOp::Mark: return marks_.push_back(stack_.size());
      case PickleOp::Pop:
        if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
        pop();
        return;
      case PickleOp::PopMark: popToMark(); return;
      case PickleOp::Dup: return push(IValue(top()));

      case PickleOp::EmptyTuple: return pushTuple(0);
      case PickleOp::Tuple1: return pushTuple(1);
      case PickleOp::Tuple2: return pushTuple(2);
      case PickleOp::Tuple3: return pushTuple(3);
      case PickleOp::Tuple: return push(boxcar::Tuple(popToMark()));
      case PickleOp::EmptyList:
      case PickleOp::EmptySet: return pushList({});
      case PickleOp::List: return pushList(popToMark());
      case PickleOp::FrozenSet: return pushList(checkedKeys(popToMark()));
      case PickleOp::EmptyDict: return push(GenericDict());
      case PickleOp::Dict: {
        std::vector<IValue> values = popToMark();
        push(GenericDict());
        return setItems(topDict(), std::move(values));
      }
      case PickleOp::Append: {
        IValue value = pop();
        return append({std::move(value)});
      }
      case PickleOp::Appends: return append(popToMark());
      case PickleOp::AddItems: return append(checkedKeys(popToMark()));
      case PickleOp::SetItem: {
        IValue value = pop();
        IValue key = pop();
        return setItems(topDict(), {std::move(key), std::move(value)});
      }
      case PickleOp::SetItems: {
        std::vector<IValue> values = popToMark();
        return setItems(topDict(), std::move(values));
      }

      case PickleOp::Put: return put(lineIndex());
      case PickleOp::BinPut: return put(takeNumber<uint8_t>());
      case PickleOp::LongBinPut: return put(takeNumber<uint32_t>());
      case PickleOp::Memoize: return put(memo_.size());
      case PickleOp::Get: return get(lineIndex());
      case PickleOp::BinGet: return get(takeNumber<uint8_t>());
      case PickleOp::LongBinGet: return get(takeNumber<uint32_t>());

      case PickleOp::Global: return pushNamedInLines();
      case PickleOp::StackGlobal: return pushNamedOnStack();
      case PickleOp::Reduce:
      case PickleOp::NewObj: return callWithTuple();
      case PickleOp::NewObjEx: return callWithKeywords();
      case PickleOp::Inst: return callNamedInLines();
      case PickleOp::Obj: return callAfterMark();
      case PickleOp::Build: return build();
      case PickleOp::PersId: return push(names_.findPersistent(takeLine(), place()));
      case PickleOp::BinPersId: {
        const IValue id = pop();
        return push(names_.findPersistent(id, place()));
      }

      case PickleOp::Ext1:
      case PickleOp::Ext2:
      case PickleOp::Ext4: place().refuse("something by a number of Python's copyreg");
      case PickleOp::NextBuffer:
      case PickleOp::ReadOnlyBuffer: fail("its pickle takes a buffer that lies outside of the file");
      case PickleOp::Stop: break;
    }
    fail(fmt::format("0x{:02x} is no opcode of a pickle of protocols 0 to 5", static_cast<int>(op)));
  }

  const std::string_view file_;
  const size_t begin_;
  size_t at_;    // of the opcode
  size_t next_;  // behind what was read
  const std::string& what_;
  PickleNames& names_;
  std::vector<IValue> stack_;
  std::vector<size_t> marks_;
  std::vector<std::optional<IValue>> memo_;
  std::vector<IValue> filled_;  // the lists, dicts and objects that were given containers
  uint64_t spent_ = 0;
  bool is_done_ = false;
};

}  // namespace

void PicklePlace::fail(std::string_view problem) const {
  BOXCAR_FAIL("{} cannot be loaded: at byte {}, {}", what_, byte_, problem);
}

void PicklePlace::refuse(std::string_view name) const {
  fail(
      fmt::format("its pickle asks for {}, and only tensors and plain values are loaded, because a file must not run "
                  "code: save a state_dict in Python, torch.save(model.state_dict(), …), or a safetensors file, and "
                  "load that",
                  name));
}

PickledObject::PickledObject(std::string name, std::span<const IValue> arguments)
    : name_(std::move(name)), values_(arguments.begin(), arguments.end()) {
  values_.emplace_back();
}
PickledObject::~PickledObject() { detail::destroyNested(std::move(values_)); }

const PickleFunction* asPickleFunction(const IValue& value) noexcept {
  return value.isObject() ? dynamic_cast<const PickleFunction*>(value.object()) : nullptr;
}

std::string_view pickledKind(const IValue& value) noexcept {
  if (value.isNone()) return "None";
  if (value.isBool()) return "bool";
  if (value.isInt()) return "int";
  if (value.isDouble()) return "float";
  if (value.isComplexDouble()) return "complex";
  if (value.isString()) return "str";
  if (value.isList()) return "list";
  if (value.isTuple()) return "tuple";
  if (value.isGenericDict()) return "dict";
  if (value.isTensor()) return "Tensor";
  if (value.isDevice()) return "device";
  return asPickleFunction(value) != nullptr ? "function or class" : "object";
}

Unpickled unpickle(std::span<const std::byte> file, size_t begin, const std::string& what, PickleNames& names) {
  return Unpickler(file, begin, what, names).run();
}

}  // namespace boxcar::io
