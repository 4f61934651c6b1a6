#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/interpreter/cli/argument_keys.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace boxcar::cli {
namespace {

bool isGenerator(TypePtr type) {
  while (type->kind() == TypeKind::Optional || type->kind() == TypeKind::List) type = type->element();
  return type->kind() == TypeKind::Generator;
}

bool isList(TypePtr type) {
  while (type->kind() == TypeKind::Optional) type = type->element();
  return type->kind() == TypeKind::List;
}

// Reads keys such as "CPU|AutogradCPU".
DispatchKeySet readKeys(std::string_view text) {
  DispatchKeySet keys;
  while (true) {
    const std::string_view name = text.substr(0, text.find('|'));
    const DispatchKey key = parseDispatchKey(name);
    BOXCAR_CHECK(!isAliasDispatchKey(key), "{} is an alias for several keys, and no tensor has it; name the keys: {}",
                 key, key == DispatchKey::Autograd ? "AutogradCPU" : "CPU");
    BOXCAR_CHECK(isRuntimeDispatchKey(key),
                 "{} is a functionality with a key for each backend; name one of them, such as {}", key,
                 toRuntimePerBackendFunctionalityKey(key, BackendComponent::CPUBit));
    keys = keys.add(key);
    if (name.size() == text.size()) return keys;
    text.remove_prefix(name.size() + 1);
  }
}

// The words of kTensorParts without an argument.
constexpr std::string_view kPartNames[] = {"grad", "vmap", "fake", "conj", "neg", "zero"};
constexpr uint64_t kMostLevels = 9;

// Takes what stands before the next [mark] off [text], and the mark.
std::string_view nextPart(std::string_view& text, char mark) {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

// A tensor on a device, as its parts say.
class TensorText final {
 public:
  TensorText(std::string_view text, const ArgumentKeys& argument) : argument_(argument) {
    device_ = Device(nextPart(text, '+'));
    while (!text.empty()) add(nextPart(text, '+'));
    check();
  }

  ArgumentKeys read() const {
    ArgumentKeys result = argument_;
    const DispatchKey key = toDispatchKey(device_.type());
    result.keys = DispatchKeySet(key);
    if (isGenerator(argument_.type)) return result;
    result.keys = result.keys.add(DispatchKey::ADInplaceOrView) | more_;
    if (requires_grad_) result.keys |= getAutogradRelatedKeySetFromBackend(toBackendComponent(device_.type()));
    result.dtypes = {dtype_.value_or(more_.has(DispatchKey::Conjugate) ? ScalarType::ComplexFloat : ScalarType::Float)};
    for (const uint64_t level : levels_) {
      result.wrapped.push_back({level, result.keys});
      result.keys = transforms::batchedKeys(result.keys);
    }
    return result;
  }

 private:
  void add(std::string_view part) {
    BOXCAR_CHECK(!isGenerator(argument_.type), "argument '{}' is a generator, which cannot be +{}; give it {}",
                 argument_.name, part, toString(device_));
    if (part == "grad") {
      requires_grad_ = true;
    } else if (part.starts_with("vmap")) {
      addLevel(part);
    } else if (part == "fake") {
      more_ = more_.add(DispatchKey::Fake);
    } else if (part == "conj") {
      more_ = more_.add(DispatchKey::Conjugate);
    } else if (part == "neg") {
      more_ = more_.add(DispatchKey::Negative);
    } else if (part == "zero") {
      more_ = more_.add(DispatchKey::ZeroTensor);
    } else {
      const std::optional<ScalarType> dtype = parseDtype(part);
      BOXCAR_CHECK(dtype.has_value(), "a tensor cannot be +{}.{} After the device may come {}", part,
                   didYouMean(part, kPartNames), kTensorParts);
      BOXCAR_CHECK(!dtype_.has_value(), "a tensor has one dtype, not {} and {}; leave one out", dtypeName(*dtype_),
                   dtypeName(*dtype));
      dtype_ = dtype;
    }
  }

  void addLevel(std::string_view part) {
    const std::string_view number = part.substr(std::string_view("vmap").size());
    uint64_t level = 1;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), level);
    const bool is_number = number.empty() || (read.ec == std::errc() && read.ptr == number.data() + number.size());
    BOXCAR_CHECK(is_number && level >= 1 && level <= kMostLevels,
                 "+{}: levels of vmap are numbered from 1, the outermost, to {}; +vmap is level 1", part, kMostLevels);
    const auto place = std::ranges::lower_bound(levels_, level);
    BOXCAR_CHECK(place == levels_.end() || *place != level,
                 "+{}: the tensor is batched at level {} already; give another level, such as +vmap{}", part, level,
                 level + 1);
    levels_.insert(place, level);
  }

  void check() const {
    if (!dtype_.has_value()) return;
    BOXCAR_CHECK(!requires_grad_ || isFloatingType(*dtype_) || isComplexType(*dtype_),
                 "a tensor of {} cannot require grad; leave out +grad, or give it a floating point or complex dtype",
                 dtypeName(*dtype_));
    BOXCAR_CHECK(!more_.has(DispatchKey::Conjugate) || isComplexType(*dtype_),
                 "a tensor of {} has no conjugate; leave out +conj, or give it a complex dtype", dtypeName(*dtype_));
  }

  const ArgumentKeys& argument_;
  Device device_{DeviceType::CPU};
  bool requires_grad_ = false;
  DispatchKeySet more_;
  std::optional<ScalarType> dtype_;
  std::vector<uint64_t> levels_;  // from the outermost
};

ArgumentKeys readOne(std::string_view text, const ArgumentKeys& argument) {
  ArgumentKeys result = argument;
  if (text == "none") return result;
  // Names of keys begin with a capital, those of devices with a small letter.
  if (!text.empty() && std::islower(static_cast<unsigned char>(text[0])) != 0) return TensorText(text, argument).read();
  BOXCAR_CHECK(!text.empty() && text.find('+') == std::string_view::npos,
               "argument '{}' cannot be '{}'; it is a device (cpu, cuda, meta), with +grad for a tensor that requires "
               "grad, none, or keys: CPU|AutogradCPU",
               argument.name, text);
  result.keys = readKeys(text);
  return result;
}

// The keys of a tensor without the wrappers of [level] and those further in.
DispatchKeySet keysWithout(const ArgumentKeys& argument, uint64_t level) {
  const auto wrapper = std::ranges::find_if(argument.wrapped, [&](const auto& each) { return each.number >= level; });
  return wrapper == argument.wrapped.end() ? argument.keys : wrapper->inside;
}

// Joins the tensors of a list.
void addElement(ArgumentKeys& list, const ArgumentKeys& element) {
  std::vector<WrappedKeys> wrapped;
  for (uint64_t level = 1; level <= kMostLevels; ++level) {
    const auto has = [&](const ArgumentKeys& each) {
      return std::ranges::find(each.wrapped, level, &WrappedKeys::number) != each.wrapped.end();
    };
    if (!has(list) && !has(element)) continue;
    wrapped.push_back({level, keysWithout(list, level) | keysWithout(element, level)});
  }
  list.wrapped = std::move(wrapped);
  list.keys |= element.keys;
  for (const ScalarType dtype : element.dtypes) {
    if (std::ranges::find(list.dtypes, dtype) == list.dtypes.end()) list.dtypes.push_back(dtype);
  }
}

ArgumentKeys readAll(std::string_view text, const ArgumentKeys& argument) {
  const std::string_view all = text;
  ArgumentKeys result = argument;
  for (bool is_first = true; true; is_first = false) {
    const std::string_view part = text.substr(0, text.find(','));
    BOXCAR_CHECK((is_first && part.size() == text.size()) || isList(argument.type),
                 "argument '{}' is a {}, and '{}' is not one: several devices are for lists", argument.name,
                 *argument.type, all);
    addElement(result, readOne(part, argument));
    if (part.size() == text.size()) return result;
    text.remove_prefix(part.size() + 1);
  }
}

std::string listNames(const std::vector<ArgumentKeys>& arguments) {
  std::vector<std::string_view> names;
  for (const ArgumentKeys& argument : arguments) names.push_back(argument.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<ArgumentKeys> readArguments(const FunctionSchema& schema, const std::vector<std::string>& texts) {
  const std::vector<ArgumentKeys> arguments = dispatchArgumentsOf(schema);
  std::vector<std::optional<ArgumentKeys>> given(arguments.size());
  const OperatorName& name = schema.operator_name();
  size_t next = 0;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    size_t at = next;
    if (equals == std::string::npos) {
      BOXCAR_CHECK(
          !arguments.empty(),
          "--arg {} is too much: {} takes neither tensors nor generators, so no argument brings a key; leave it out",
          text, name);
      BOXCAR_CHECK(next < arguments.size(), "--arg {} is one too many: {} is dispatched on: {}", text, name,
                   listNames(arguments));
      ++next;
    } else {
      const std::string wanted = text.substr(0, equals);
      at = static_cast<size_t>(std::ranges::find(arguments, wanted, &ArgumentKeys::name) - arguments.begin());
      if (at == arguments.size()) {
        std::vector<std::string_view> candidates;
        for (const ArgumentKeys& argument : arguments) candidates.push_back(argument.name);
        const auto other = schema.argumentIndexWithName(wanted);
        BOXCAR_CHECK(!other.has_value(), "--arg {}: '{}' brings no key, as it is a {}; the arguments that do are: {}",
                     text, wanted, *schema.arguments()[static_cast<size_t>(*other)].type(), listNames(arguments));
        BOXCAR_FAIL("--arg {}: {} has no argument '{}'.{} It is dispatched on: {}", text, name, wanted,
                    didYouMean(wanted, candidates), listNames(arguments));
      }
    }
    BOXCAR_CHECK(!given[at].has_value(), "--arg {}: argument '{}' was given already; give it once", text,
                 arguments[at].name);
    try {
      given[at] = readAll(std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1), arguments[at]);
    } catch (const Error& error) {
      BOXCAR_FAIL("--arg {}: {}", text, error.message());
    }
  }
  std::vector<ArgumentKeys> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_cpu = texts.empty() && !isGenerator(arguments[i].type);
    result.push_back(given[i].value_or(is_cpu ? readOne("cpu", arguments[i]) : arguments[i]));
  }
  return result;
}

DispatchKey readFunctionality(std::string_view option, const std::string& name) {
  const DispatchKey key = [&] {
    try {
      return parseDispatchKey(name);
    } catch (const Error& error) {
      BOXCAR_FAIL("{} {}: {}", option, name, error.message());
    }
  }();
  BOXCAR_CHECK(!isAliasDispatchKey(key), "{} {}: {} is an alias for several keys; a thread has functionality keys{}",
               option, name, name, key == DispatchKey::Autograd ? ", here AutogradFunctionality" : "");
  BOXCAR_CHECK(toBackendComponent(key) == BackendComponent::InvalidBit,
               "{} {}: {} belongs to one backend; a thread has functionality keys, such as {}", option, name, name,
               toFunctionalityKey(key));
  BOXCAR_CHECK(key != DispatchKey::Undefined, "{} {}: Undefined is the key of calls that have none; it cannot be given",
               option, name);
  return key;
}

}  // namespace boxcar::cli
