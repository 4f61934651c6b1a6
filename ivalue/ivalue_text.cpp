#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/stop_request.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar {
namespace {

using Tag = IValue::Tag;

// Writes values as Python's repr does. [open_] holds the containers being written, to detect those that contain
// themselves.
class Writer {
 public:
  void write(const IValue& value) {
    steps_.add(16);  // a value takes about this many times as long as a step of a loop
    switch (value.tag()) {
      case Tag::None: text_ += "None"; break;
      case Tag::Bool: text_ += value.toBool() ? "True" : "False"; break;
      case Tag::Int: text_ += std::to_string(value.toInt()); break;
      case Tag::Double: text_ += pythonFloat(value.toDouble()); break;
      case Tag::ComplexDouble: text_ += pythonComplex(value.toComplexDouble()); break;
      case Tag::Device: writeDevice(value.toDevice()); break;
      case Tag::Stream: text_ += toString(value.toStream()); break;
      case Tag::Tensor: text_ += toString(value.toTensor()); break;
      case Tag::String: text_ += pythonStringRepr(value.toStringRef()); break;
      case Tag::Generator: text_ += toString(value.toGenerator()); break;
      case Tag::Storage:
        text_ += fmt::format("<Storage of {} bytes on {}>", value.toStorage()->nbytes(), value.toStorage()->device());
        break;
      case Tag::Object: writeObject(value); break;
      case Tag::Future: writeFuture(*value.unsafeGet<Tag::Future>()); break;
      case Tag::Enum: writeEnum(*value.unsafeGet<Tag::Enum>()); break;
      case Tag::GenericDict: writeContainer(value, "{", "}"); break;
      case Tag::Tuple: writeContainer(value, "(", ")"); break;
      default: writeContainer(value, "[", "]"); break;
    }
  }

  std::string take() { return std::move(text_); }

 private:
  static constexpr size_t kMostNested = 500;

  void writeDevice(Device device) {
    text_ += fmt::format("device(type='{}'", device.type());
    if (device.has_index()) text_ += fmt::format(", index={}", device.index());
    text_ += ')';
  }

  void writeFuture(const Future& future) {
    text_ += future.hasError() ? "<Future with an error>" : future.completed() ? "<Future, complete>" : "<Future>";
  }

  void writeEnum(const EnumHolder& member) {
    text_ += fmt::format("<{}.{}: ", member.unqualifiedClassName(), member.name());
    write(member.value());
    text_ += '>';
  }

  void writeObject(const IValue& value) {
    const CustomClassHolder& object = *value.toObject();
    if (object.heldValues() == nullptr) {
      text_ += object.text();
    } else {
      text_ += object.className();
      writeContainer(value, "(", ")");
    }
  }

  void writeContainer(const IValue& value, const char* begin, const char* end) {
    const bool inside_itself =
        std::any_of(open_.begin(), open_.end(), [&](const IValue* other) { return other->is(value); });
    text_ += begin;
    if (inside_itself || open_.size() >= kMostNested) {
      text_ += "...";
    } else {
      open_.push_back(&value);
      if (value.isObject()) {
        writeHeld(*value.toObject());
      } else {
        value.isGenericDict() ? writeEntries(*value.unsafeGet<Tag::GenericDict>()) : writeElements(value);
      }
      open_.pop_back();
    }
    text_ += end;
  }

  void writeHeld(const CustomClassHolder& object) {
    const std::vector<IValue>& values = *object.heldValues();
    for (size_t i = 0; i < values.size(); ++i) {
      text_ += fmt::format("{}{}=", i == 0 ? "" : ", ", object.heldName(i));
      write(values[i]);
    }
  }

  void writeElements(const IValue& value) {
    for (size_t i = 0; i < value.length(); ++i) {
      if (i != 0) text_ += ", ";
      write(value.elementAt(i));
    }
    if (value.isTuple() && value.length() == 1) text_ += ',';
  }

  void writeEntries(const DictObject& dict) {
    for (size_t i = 0; i < dict.size(); ++i) {
      if (i != 0) text_ += ", ";
      write(dict.keyAt(i));
      text_ += ": ";
      write(dict.valueAt(i));
    }
  }

  std::string text_;
  std::vector<const IValue*> open_;
  StopCounter steps_;
};

}  // namespace

std::string repr(const IValue& value) {
  Writer writer;
  writer.write(value);
  return writer.take();
}

std::string toString(const IValue& value) {
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return toString(value.toDevice());
  if (value.isEnum()) {
    const EnumHolder& member = *value.unsafeGet<IValue::Tag::Enum>();
    return fmt::format("{}.{}", member.unqualifiedClassName(), member.name());
  }
  return repr(value);
}

std::string toString(const Stream& stream) {
  return fmt::format("Stream(device='{}', id={})", stream.device(), stream.id());
}

}  // namespace boxcar
