#include <boxcar/dispatcher/handlers/record/recorded_call_codec.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>

namespace boxcar {
namespace {

// A reader must not overflow its stack on a forged recording.
constexpr int kDeepestRecorded = 100;

template <class T, class Encode>
void encodeOptional(PackedWriter& writer, const std::optional<T>& value, Encode encode) {
  writer.number(value.has_value());
  if (value) encode(*value);
}

template <class Decode>
auto decodeOptional(PackedReader& reader, Decode decode) -> std::optional<decltype(decode())> {
  if (!reader.flag()) return std::nullopt;
  return decode();
}

template <class T, class Encode>
void encodeAll(PackedWriter& writer, const T& values, Encode encode) {
  writer.number(values.size());
  for (const auto& value : values) encode(value);
}

template <class Decode>
auto decodeAll(PackedReader& reader, Decode decode) -> std::vector<decltype(decode())> {
  std::vector<decltype(decode())> values;
  for (size_t left = reader.count(); left != 0; --left) values.push_back(decode());
  return values;
}

void encode(PackedWriter& writer, Device device) {
  writer.signedNumber(static_cast<int64_t>(device.type()));
  writer.signedNumber(device.index());
}

Device decodeDevice(PackedReader& reader) {
  const int64_t type = reader.signedNumber();
  const int64_t index = reader.signedNumber();
  // Accepts only existing types, which have a name that reads back as themselves.
  BOXCAR_CHECK(type >= 0 && type <= INT8_MAX && index >= -1 && index <= INT8_MAX, "there is no device {}:{}", type,
               index);
  const auto number = static_cast<DeviceType>(type);
  constexpr DeviceType kTypes[] = {DeviceType::CPU,        DeviceType::CUDA, DeviceType::HIP,   DeviceType::FPGA,
                                   DeviceType::ORT,        DeviceType::XLA,  DeviceType::XPU,   DeviceType::MPS,
                                   DeviceType::Meta,       DeviceType::HPU,  DeviceType::VE,    DeviceType::Lazy,
                                   DeviceType::IPU,        DeviceType::MTIA, DeviceType::Metal, DeviceType::Vulkan,
                                   DeviceType::PrivateUse1};
  bool known = false;
  for (const DeviceType one : kTypes) known |= one == number;
  BOXCAR_CHECK(known, "there is no device {}:{}", type, index);
  return {number, static_cast<DeviceIndex>(index)};
}

void encode(PackedWriter& writer, const std::optional<GeneratorState>& state) {
  encodeOptional(writer, state, [&](const GeneratorState& value) {
    writer.number(value.seed);
    writer.number(value.drawn);
    encodeOptional(writer, value.next_normal, [&](double normal) { writer.real(normal); });
  });
}

std::optional<GeneratorState> decodeState(PackedReader& reader) {
  return decodeOptional(reader, [&] {
    GeneratorState state;
    state.seed = reader.number();
    state.drawn = reader.number();
    state.next_normal = decodeOptional(reader, [&] { return reader.real(); });
    return state;
  });
}

void encode(PackedWriter& writer, const std::optional<DrawnFrom>& stood) {
  encodeOptional(writer, stood, [&](const DrawnFrom& value) {
    encode(writer, value.device);
    encode(writer, std::optional(value.state));
  });
}

std::optional<DrawnFrom> decodeDrawnFrom(PackedReader& reader) {
  return decodeOptional(reader, [&] {
    const Device device = decodeDevice(reader);
    const auto state = decodeState(reader);
    BOXCAR_CHECK(state, "the generator of device '{}' stands nowhere", device);
    return DrawnFrom{device, *state};
  });
}

void encode(PackedWriter& writer, std::complex<double> value) {
  writer.real(value.real());
  writer.real(value.imag());
}

std::complex<double> decodeComplex(PackedReader& reader) {
  const double real = reader.real();
  return {real, reader.real()};
}

void encodePlain(PackedWriter& writer, const IValue& value) {
  using Tag = IValue::Tag;
  writer.number(static_cast<uint64_t>(value.tag()));
  switch (value.tag()) {
    case Tag::None: return;
    case Tag::Bool: return writer.number(value.toBool());
    case Tag::Int: return writer.signedNumber(value.toInt());
    case Tag::Double: return writer.real(value.toDouble());
    case Tag::ComplexDouble: return encode(writer, value.toComplexDouble());
    case Tag::String: return writer.text(value.toStringView());
    case Tag::Device: return encode(writer, value.toDevice());
    case Tag::Stream: encode(writer, value.toStream().device()); return writer.signedNumber(value.toStream().id());
    case Tag::IntList:
      return encodeAll(writer, value.toIntList().span(), [&](int64_t one) { writer.signedNumber(one); });
    case Tag::DoubleList: return encodeAll(writer, value.toDoubleList().span(), [&](double one) { writer.real(one); });
    case Tag::BoolList: return encodeAll(writer, value.toBoolList().span(), [&](bool one) { writer.number(one); });
    case Tag::ComplexDoubleList:
      return encodeAll(writer, value.toComplexDoubleList().span(),
                       [&](std::complex<double> one) { encode(writer, one); });
    default: BOXCAR_INTERNAL_ASSERT(false);
  }
}

IValue decodePlain(PackedReader& reader) {
  using Tag = IValue::Tag;
  const auto tag = static_cast<Tag>(reader.number(static_cast<uint64_t>(Tag::Object)));
  switch (tag) {
    case Tag::None: return {};
    case Tag::Bool: return reader.flag();
    case Tag::Int: return reader.signedNumber();
    case Tag::Double: return reader.real();
    case Tag::ComplexDouble: return decodeComplex(reader);
    case Tag::String: return reader.text();
    case Tag::Device: return decodeDevice(reader);
    case Tag::Stream: {
      const Device device = decodeDevice(reader);
      return Stream(device, static_cast<int32_t>(reader.signedNumber()));
    }
    case Tag::IntList: return decodeAll(reader, [&] { return reader.signedNumber(); });
    case Tag::DoubleList: return decodeAll(reader, [&] { return reader.real(); });
    case Tag::BoolList: return decodeAll(reader, [&] { return reader.flag(); });
    case Tag::ComplexDoubleList: return decodeAll(reader, [&] { return decodeComplex(reader); });
    default: BOXCAR_FAIL("there is no plain value of kind {}", static_cast<int>(tag));
  }
}

void encodeValue(PackedWriter& writer, const RecordedValue& value) {
  using Kind = RecordedValue::Kind;
  writer.number(static_cast<uint64_t>(value.kind));
  switch (value.kind) {
    case Kind::Undefined: return;
    case Kind::Plain:
    case Kind::Opaque: return encodePlain(writer, value.plain);
    case Kind::Tensor:
    case Kind::Storage: return writer.number(value.index);
    case Kind::Generator: encodePlain(writer, value.plain); return encode(writer, value.state);
    default: encodeAll(writer, value.elements, [&](const RecordedValue& element) { encodeValue(writer, element); });
  }
}

RecordedValue decodeValue(PackedReader& reader, const RecordedMoment& moment, int depth = 0) {
  using Kind = RecordedValue::Kind;
  BOXCAR_CHECK(depth < kDeepestRecorded, "values lie more than {} deep in one another", kDeepestRecorded);
  RecordedValue value;
  value.kind = static_cast<Kind>(reader.number(static_cast<uint64_t>(Kind::Opaque)));
  switch (value.kind) {
    case Kind::Undefined: break;
    case Kind::Plain: value.plain = decodePlain(reader); break;
    case Kind::Opaque:
      value.plain = decodePlain(reader);
      BOXCAR_CHECK(value.plain.isString(), "something has no name");
      break;
    case Kind::Tensor:
      value.index = reader.number32();
      BOXCAR_CHECK(value.index < moment.tensors.size(), "there is no tensor {} in the call", value.index);
      break;
    case Kind::Storage:
      value.index = reader.number32();
      BOXCAR_CHECK(value.index < moment.storages.size(), "there is no storage {} in the call", value.index);
      break;
    case Kind::Generator:
      value.plain = decodePlain(reader);
      BOXCAR_CHECK(value.plain.isDevice(), "a generator has no device");
      value.state = decodeState(reader);
      break;
    default:
      value.elements = decodeAll(reader, [&] { return decodeValue(reader, moment, depth + 1); });
      BOXCAR_CHECK(value.kind != Kind::Dict || value.elements.size() % 2 == 0, "a dict has a key without a value");
  }
  return value;
}

// What a tensor is besides its dimensions.
constexpr uint64_t kWrappedNumber = 1;
constexpr uint64_t kConj = 2;
constexpr uint64_t kNeg = 4;

void encode(PackedWriter& writer, const RecordedMoment& moment) {
  encodeAll(writer, moment.storages, [&](const RecordedStorage& storage) {
    encode(writer, storage.device);
    writer.number(storage.bytes);
    writer.number(storage.first);
    writer.number(storage.count);
    encodeOptional(writer, storage.block, [&](uint32_t block) { writer.number(block); });
  });
  encodeAll(writer, moment.tensors, [&](const RecordedTensor& tensor) {
    writer.number(tensor.storage);
    writer.number(static_cast<uint64_t>(tensor.dtype));
    writer.number(tensor.requires_grad);
    writer.number((tensor.is_wrapped_number ? kWrappedNumber : 0) | (tensor.is_conj ? kConj : 0) |
                  (tensor.is_neg ? kNeg : 0));
    encodeAll(writer, tensor.sizes, [&](int64_t size) { writer.signedNumber(size); });
    encodeAll(writer, tensor.strides, [&](int64_t stride) { writer.signedNumber(stride); });
    writer.signedNumber(tensor.offset);
    writer.number(tensor.hash);
  });
}

RecordedStorage decodeStorage(PackedReader& reader, size_t blocks) {
  RecordedStorage storage;
  storage.device = decodeDevice(reader);
  storage.bytes = reader.number(INT64_MAX);
  storage.first = reader.number(storage.bytes);
  storage.count = reader.number(storage.bytes - storage.first);
  storage.block = decodeOptional(reader, [&] { return reader.number32(); });
  BOXCAR_CHECK(!storage.block || *storage.block < blocks, "there is no block {} before the call", *storage.block);
  return storage;
}

RecordedTensor decodeTensor(PackedReader& reader, size_t storages) {
  RecordedTensor tensor;
  tensor.storage = reader.number32();
  BOXCAR_CHECK(tensor.storage < storages, "there is no storage {} in the call", tensor.storage);
  tensor.dtype = static_cast<ScalarType>(reader.number(INT8_MAX));
  BOXCAR_CHECK(elementSize(tensor.dtype) != 0 && tensor.dtype != ScalarType::ComplexHalf,
               "there is no dtype of number {}", static_cast<int>(tensor.dtype));
  tensor.requires_grad = reader.flag();
  const uint64_t flags = reader.number(kWrappedNumber | kConj | kNeg);
  tensor.is_wrapped_number = (flags & kWrappedNumber) != 0;
  tensor.is_conj = (flags & kConj) != 0;
  tensor.is_neg = (flags & kNeg) != 0;
  tensor.sizes = decodeAll(reader, [&] { return reader.signedNumber(); });
  tensor.strides = decodeAll(reader, [&] { return reader.signedNumber(); });
  tensor.offset = reader.signedNumber();
  tensor.hash = reader.number();
  return tensor;
}

RecordedMoment decodeMoment(PackedReader& reader, size_t blocks) {
  RecordedMoment moment;
  moment.storages = decodeAll(reader, [&] { return decodeStorage(reader, blocks); });
  moment.tensors = decodeAll(reader, [&] { return decodeTensor(reader, moment.storages.size()); });
  return moment;
}

}  // namespace

void encode(PackedWriter& writer, const RecordedCall& call, std::optional<uint32_t> site) {
  const auto encode_value = [&](const RecordedValue& value) { encodeValue(writer, value); };
  writer.number(call.op);
  writer.number(call.thread);
  encodeOptional(writer, site, [&](uint32_t number) { writer.number(number); });
  encode(writer, call.before);
  encodeAll(writer, call.arguments, encode_value);
  encode(writer, call.generator);
  encodeOptional(writer, call.failure, [&](const std::string& message) { writer.text(message); });
  encode(writer, call.after);
  encodeAll(writer, call.results, encode_value);
}

RecordedCall decodeCall(std::span<const std::byte> bytes, const RecordedCounts& counts, std::optional<uint32_t>& site) {
  PackedReader reader(bytes);
  RecordedCall call;
  call.op = reader.number32();
  BOXCAR_CHECK(call.op < counts.operators, "there is no operator {} before the call", call.op);
  call.thread = reader.number32();
  site = decodeOptional(reader, [&] { return reader.number32(); });
  BOXCAR_CHECK(!site || *site < counts.sites, "there is no line {} before the call", *site);
  call.before = decodeMoment(reader, counts.blocks);
  call.arguments = decodeAll(reader, [&] { return decodeValue(reader, call.before); });
  call.generator = decodeDrawnFrom(reader);
  call.failure = decodeOptional(reader, [&] { return reader.text(); });
  call.after = decodeMoment(reader, counts.blocks);
  BOXCAR_CHECK(call.after.tensors.size() >= call.before.tensors.size() &&
                   call.after.storages.size() >= call.before.storages.size(),
               "an argument has no state after the call");
  call.results = decodeAll(reader, [&] { return decodeValue(reader, call.after); });
  reader.finish();
  return call;
}

void encode(PackedWriter& writer, const RecordedOperator& op) {
  writer.text(toString(op.schema));
  writer.text(op.plugin);
  writer.number(op.is_io);
  writer.number(op.is_random);
  writer.number(op.is_uninitialised);
}

RecordedOperator decodeOperator(std::span<const std::byte> bytes) {
  PackedReader reader(bytes);
  RecordedOperator op{parseSchema(reader.text()), reader.text(), reader.flag(), reader.flag(), reader.flag()};
  reader.finish();
  return op;
}

}  // namespace boxcar
