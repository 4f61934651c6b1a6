#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/interpreter/cli/argument_keys.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace boxcar::cli {
namespace {

constexpr std::string_view kGrad = "+grad";

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

// Returns the keys that a tensor or a generator on [device] brings.
DispatchKeySet keysOn(Device device, bool requires_grad, bool is_generator) {
  const DispatchKey key = toDispatchKey(device.type());
  if (is_generator) return DispatchKeySet(key);
  DispatchKeySet keys = DispatchKeySet(key).add(DispatchKey::ADInplaceOrView);
  if (requires_grad) keys |= getAutogradRelatedKeySetFromBackend(toBackendComponent(device.type()));
  return keys;
}

DispatchKeySet readOne(std::string_view text, const ArgumentKeys& argument) {
  if (text == "none") return {};
  const bool requires_grad = text.ends_with(kGrad);
  const std::string_view place = text.substr(0, text.size() - (requires_grad ? kGrad.size() : 0));
  BOXCAR_CHECK(!requires_grad || !isGenerator(argument.type),
               "argument '{}' is a generator, which cannot require grad; give it {}", argument.name, place);
  // Names of keys begin with a capital, those of devices with a small letter.
  const bool is_device = !place.empty() && std::islower(static_cast<unsigned char>(place[0])) != 0;
  if (!is_device) {
    BOXCAR_CHECK(
        !text.empty() && !requires_grad,
        "argument '{}' cannot be '{}'; it is a device (cpu, cuda, meta), with +grad for a tensor that requires "
        "grad, none, or keys: CPU|AutogradCPU",
        argument.name, text);
    return readKeys(text);
  }
  return keysOn(Device(place), requires_grad, isGenerator(argument.type));
}

DispatchKeySet readAll(std::string_view text, const ArgumentKeys& argument) {
  DispatchKeySet keys;
  for (bool is_first = true; true; is_first = false) {
    const std::string_view part = text.substr(0, text.find(','));
    BOXCAR_CHECK((is_first && part.size() == text.size()) || isList(argument.type),
                 "argument '{}' is a {}, and '{}' is not one: several devices are for lists", argument.name,
                 *argument.type, text);
    keys |= readOne(part, argument);
    if (part.size() == text.size()) return keys;
    text.remove_prefix(part.size() + 1);
  }
}

std::string listNames(const std::vector<ArgumentKeys>& arguments) {
  std::vector<std::string_view> names;
  for (const ArgumentKeys& argument : arguments) names.push_back(argument.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<DispatchKeySet> readArgumentKeys(const FunctionSchema& schema, const std::vector<std::string>& texts) {
  const std::vector<ArgumentKeys> arguments = dispatchArgumentsOf(schema);
  std::vector<std::optional<DispatchKeySet>> given(arguments.size());
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
  std::vector<DispatchKeySet> keys;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_cpu = texts.empty() && !isGenerator(arguments[i].type);
    keys.push_back(given[i].value_or(is_cpu ? readOne("cpu", arguments[i]) : DispatchKeySet()));
  }
  return keys;
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
