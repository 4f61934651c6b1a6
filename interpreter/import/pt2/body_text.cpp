#include <boxcar/interpreter/import/pt2/body_text.h>
#include <boxcar/interpreter/import/pt2/higher_order.h>
#include <boxcar/interpreter/import/pt2/layer_text.h>
#include <boxcar/interpreter/import/pt2/word.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace boxcar::interp::pt2 {
namespace {

constexpr size_t kLongestInner = 60;
constexpr size_t kLongestLine = 88;
constexpr size_t kFewestTurns = 3;

bool isVariable(const Expression& expression) {
  return expression.binding == Precedence::Atom && std::ranges::all_of(expression.text, [](char c) {
           return c == '_' || std::isalnum(static_cast<unsigned char>(c));
         });
}

// Whether the name of a module says what its result is: "query" does, "conv1" does not.
bool isSpeaking(std::string_view name) {
  constexpr std::string_view kSilent[] = {"conv",  "bn",   "ln",      "norm", "linear", "dense", "fc",   "act",  "relu",
                                          "gelu",  "silu", "dropout", "pool", "down",   "layer", "proj", "attn", "self",
                                          "batch", "add",  "mul",     "sub",  "div",    "scale", "mlp",  "up"};
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::none_of(kSilent, [&](std::string_view start) { return name.starts_with(start); });
}

// What a parameter for a number is called, after the operator's.
std::string numberName(std::string_view argument) {
  if (argument == "other" || argument == "self") return "number";
  return argument == "shape" ? "size" : variableName(argument);
}

// Lists of tensors, which grow from module to module.
constexpr std::string_view kListName = "features";

std::string listKey(const std::vector<std::string>& values) { return fmt::format("{}", fmt::join(values, "\n")); }

// The number at the end of a path, and what is before it.
std::optional<std::pair<std::string, int64_t>> numbered(std::string_view path) {
  size_t begin = path.size();
  while (begin > 0 && path[begin - 1] >= '0' && path[begin - 1] <= '9') --begin;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(path.data() + begin, path.data() + path.size(), number);
  if (begin == path.size() || error != std::errc() || (path[begin] == '0' && path.size() - begin > 1)) {
    return std::nullopt;
  }
  return std::pair(std::string(path.substr(0, begin)), number);
}

}  // namespace

BodyText::BodyText(FunctionTexts& functions, std::string path, const std::vector<std::string>& outputs)
    : functions_(functions), path_(std::move(path)), outputs_(outputs.begin(), outputs.end()) {}

// ---- Names ----

std::string BodyText::freshName(std::string_view base) const {
  std::string name(base);
  for (int number = 2; held_.contains(name) || reserved_.contains(name); ++number) {
    name = fmt::format("{}_{}", base, number);
  }
  return name;
}

void BodyText::hold(const std::string& name, const std::string& value) {
  held_[name].insert(value);
  known_[value] = {name, Precedence::Atom, functions_.values().typeOf(value)};
}

std::string BodyText::addParameter(const std::string& value, TypePtr type) {
  const bool is_first = type == Type::tensor() && !held_.contains("x");
  const std::string role(functions_.values().roleOf(value));
  std::string name = freshName(is_first ? "x" : role.empty() ? resultName(value) : role);
  hold(name, value);
  return name;
}

std::string BodyText::addListParameter(const std::vector<std::string>& values) {
  std::string name = freshName(kListName);
  held_[name].insert("");
  for (size_t i = 0; i < values.size(); ++i) {
    known_[values[i]] = {fmt::format("{}[{}]", name, i), Precedence::Atom, Type::tensor()};
  }
  lists_[listKey(values)] = name;
  return name;
}

void BodyText::addExpression(const std::string& value, Expression expression) {
  if (isVariable(expression)) {
    hold(expression.text, value);
    known_[value].type = expression.type;
  } else {
    known_[value] = std::move(expression);
  }
}

std::string BodyText::variableBase(size_t node) const {
  // The name of the innermost module, as "query" of a Linear of that name, if it is part of this function.
  const Node& of = functions_.graph().nodes[node];
  if (!of.modules.empty() && of.modules.back().path != path_) {
    const std::string_view path = withoutCallNumber(of.modules.back().path);
    const std::string_view last = path.substr(path.rfind('.') + 1);
    if (isSpeaking(last)) return variableName(last);
  }
  const std::string_view target = of.target;
  constexpr std::string_view kOps = "torch.ops.aten.";
  if (!target.starts_with(kOps)) {
    std::string_view word = target.substr(target.rfind('.') + 1);
    return variableName(word);
  }
  std::string_view name = target.substr(kOps.size());
  name = name.substr(0, name.find('.'));
  if (name == "sym_size") return "size";
  return isSpeaking(name) ? resultName(name) : "y";
}

bool BodyText::isNeededFrom(const std::string& value, size_t from, size_t end) const {
  if (outputs_.contains(value)) return true;
  const std::vector<size_t>& users = functions_.values().users(value);
  const auto next = std::ranges::lower_bound(users, from);
  return next != users.end() && *next < end;
}

std::string BodyText::release(const std::vector<std::string>& values, size_t from, size_t end) {
  std::string first;
  for (const std::string& value : values) {
    const auto known = known_.find(value);
    if (known == known_.end() || !isVariable(known->second) || isNeededFrom(value, from, end)) continue;
    const auto held = held_.find(known->second.text);
    if (held == held_.end()) continue;
    held->second.erase(value);
    if (!held->second.empty()) continue;
    if (first.empty() && known->second.type == Type::tensor()) first = held->first;
    held_.erase(held);
  }
  return first;
}

// ---- Values ----

Expression BodyText::expressionOf(const std::string& value) {
  const std::string& own = functions_.values().resolve(value);
  if (const auto known = known_.find(own); known != known_.end()) return known->second;
  if (const auto constant = functions_.constants().find(own); constant != functions_.constants().end()) {
    return constant->second;
  }
  const std::string* const weight = functions_.weightOf(own);
  BOXCAR_CHECK(weight != nullptr, "its graph uses the value '{}' before it has it", value);
  return {fmt::format("weights[{}]", pathText(*weight)), Precedence::Atom, Type::tensor()};
}

void BodyText::flush() {
  if (!pending_.has_value()) return;
  const Pending pending = std::move(*pending_);
  pending_.reset();
  const bool is_heir_free = !pending.heir.empty() && !held_.contains(pending.heir);
  const std::string name = is_heir_free ? pending.heir : freshName(pending.base);
  lines_.push_back(fmt::format("{} = {}", name, pending.expression.text));
  hold(name, pending.value);
  known_[pending.value].type = pending.expression.type;
}

std::string BodyText::resultText(const std::string& value) {
  const std::string& own = functions_.values().resolve(value);
  if (pending_.has_value() && pending_->value == own) {
    // The only use is here.
    std::string text = pending_->expression.text;
    known_[own] = pending_->expression;
    pending_.reset();
    return text;
  }
  flush();
  return expressionOf(own).text;
}

std::pair<std::vector<std::string>, std::vector<NumberSlot>> BodyText::takeLines() {
  std::vector<NumberSlot> numbers = numbers_.take(lines_);
  return {std::move(lines_), std::move(numbers)};
}

// ---- Statements ----

bool BodyText::mayWait(const std::string& value, const CallItem* next, size_t end) const {
  const std::vector<size_t>& users = functions_.values().users(value);
  // For the function's result.
  if (next == nullptr) return outputs_.contains(value) && outputs_.size() == 1 && std::ranges::count(users, end) <= 1;
  return users.size() == 1 && next->call == nullptr && users[0] == next->node && !outputs_.contains(value);
}

void BodyText::assign(const std::vector<std::string>& values, const Expression& expression, const std::string& heir,
                      const CallItem* next, size_t end, std::string_view base, bool is_call) {
  std::vector<size_t> used;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!functions_.values().users(values[i]).empty()) used.push_back(i);
  }
  if (used.empty()) {
    lines_.push_back(expression.text);
    return;
  }
  if (used.size() == 1) {
    Expression one = expression;
    if (values.size() > 1) {
      one.text = fmt::format("{}[{}]", within(expression, Precedence::Atom), used[0]);
      one.binding = Precedence::Atom;
    }
    const std::string& value = values[used[0]];
    const std::string_view role = functions_.values().roleOf(value);
    one.type = functions_.values().typeOf(value);
    const bool takes_heir = one.type == Type::tensor() && role.empty();
    pending_ = {value, one, takes_heir ? heir : "", std::string(role.empty() ? base : role)};
    // Its own name, if that is free now.
    if (!role.empty() && heir == role) pending_->heir = heir;
    const bool is_short = one.text.size() <= kLongestInner;
    const bool waits = mayWait(value, next, end) && (next == nullptr || (is_short && !is_call));
    if (!waits) flush();
    return;
  }
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> held;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::ranges::find(used, i) == used.end()) {
      names.emplace_back("_");
      continue;
    }
    const bool takes_heir = i == used[0] && !heir.empty() && functions_.values().typeOf(values[i]) == Type::tensor();
    const std::string_view role = functions_.values().roleOf(values[i]);
    std::string name = !role.empty() ? freshName(role)
                       : takes_heir  ? heir
                                     : freshName(is_call || base == "part" ? resultName(values[i]) : base);
    hold(name, values[i]);
    names.push_back(std::move(name));
  }
  lines_.push_back(fmt::format("{} = {}", fmt::join(names, ", "), expression.text));
}

NodeText BodyText::nodeTexts() {
  return NodeText([this](const std::string& value) { return expressionOf(value); },
                  [this](std::string_view name, std::string text, TypePtr type) {
                    return numbers_.add({numberName(name), std::move(text), type, "", "", {}});
                  },
                  [this](const std::vector<Argument>& items) -> std::optional<Expression> {
                    if (lists_.empty()) return std::nullopt;
                    std::vector<std::string> values;
                    for (const Argument& item : items) values.push_back(functions_.values().resolve(item.text));
                    const auto found = lists_.find(listKey(values));
                    if (found == lists_.end()) return std::nullopt;
                    return Expression{found->second, Precedence::Atom, Type::listOf(Type::tensor())};
                  });
}

std::string BodyText::numberArguments(const FunctionUse& use) {
  std::string text;
  for (size_t i = 0; i < use.numbers.size(); ++i) {
    const NumberSlot& slot = use.numbers[i];
    text += numbers_.add({slot.name, slot.text, slot.type, "", "", ParameterOfCall{use.function, i}});
  }
  return text;
}

Expression BodyText::nodeText(const Node& node) {
  const auto weight_of = [this](const std::string& value) {
    return functions_.weightOf(functions_.values().resolve(value));
  };
  const auto layer = layerCall(node, weight_of, [this](const std::string& key) { return functions_.hasWeight(key); });
  const NodeText text = nodeTexts();
  if (!layer.has_value()) return text.call(node);
  functions_.useLayers();
  std::string call =
      fmt::format("{}({}, weights, {}", layer->function, text.argument(*layer->input).text, pathText(layer->module));
  const NodeText plain([this](const std::string& value) { return expressionOf(value); });
  const bool is_convolution = layer->function == "conv2d_layer";
  for (const auto& [name, value] : layer->options) {
    if (!is_convolution) {
      call += fmt::format(", {}={}", name, text.argument(*value, nullptr, {}, name).text);
      continue;
    }
    const std::optional<int32_t> length = name != "groups" ? std::optional<int32_t>(2) : std::nullopt;
    std::string normal = name == "padding" ? "0" : "1";
    std::string prefix = fmt::format(", {}=", name);
    const Expression given = value != nullptr ? plain.argument(*value, nullptr, length)
                                              : Expression{normal, Precedence::Atom, Type::integer()};
    if (given.type == Type::integer() && (value == nullptr || value->kind != Argument::Kind::Value)) {
      call += numbers_.add(
          {numberName(name), given.text, Type::integer(), std::move(prefix), std::move(normal), std::nullopt});
    } else {
      call += prefix + text.argument(*value, nullptr, length, name).text;
    }
  }
  return {call + ")", Precedence::Atom, Type::tensor()};
}

void BodyText::addNode(size_t index, const CallItem* next, size_t end) {
  const Node& node = functions_.graph().nodes[index];
  const ValueTable& values = functions_.values();
  const std::vector<std::string>& uses = values.uses(index);
  const std::vector<std::string>& definitions = values.definitions(index);
  const Argument* const written_result = definitions.size() == 1 ? ValueTable::writtenResult(node) : nullptr;
  const bool is_in_place = written_result != nullptr;
  const std::string target = is_in_place ? values.resolve(written_result->text) : "";
  if (pending_.has_value() && std::ranges::find(uses, pending_->value) == uses.end()) flush();
  std::optional<Pending> inner = pending_;
  if (inner.has_value()) known_[inner->value] = inner->expression;
  const auto written = [&]() -> std::optional<Expression> {
    // x += y, where x is a variable or a weight.
    if (!is_in_place || (inner.has_value() && inner->value == target)) return std::nullopt;
    const NodeText text = nodeTexts();
    std::string assignment = text.augmentedAssignment(node);
    if (!assignment.empty()) return Expression{std::move(assignment)};
    return text.call(node);
  };
  std::optional<Expression> statement = written();
  std::optional<Expression> expression = statement.has_value() ? std::nullopt : std::optional(nodeText(node));
  const size_t length = (statement.has_value() ? statement : expression)->text.size();
  if (inner.has_value() && length > kLongestLine) {
    known_.erase(inner->value);
    flush();
    inner.reset();
    statement = written();
    expression = statement.has_value() ? std::nullopt : std::optional(nodeText(node));
  }
  pending_.reset();
  if (statement.has_value()) {
    lines_.push_back(statement->text);
    // The result is what was written.
    const Expression self = expressionOf(target);
    if (isVariable(self)) {
      hold(self.text, definitions[0]);
    } else {
      known_[definitions[0]] = self;
    }
    release(uses, index + 1, end);
    release(definitions, index + 1, end);
    return;
  }
  std::string heir = release(uses, index + 1, end);
  if (heir.empty() && inner.has_value()) heir = inner->heir;
  assign(definitions, *expression, heir, next, end, variableBase(index), /*is_call=*/false);
}

void BodyText::addCall(const ModuleCall& call, const CallItem* next, size_t end) {
  const FunctionUse use = functions_.use(call);
  flush();
  const FunctionText& function = functions_.functions()[use.function];
  std::vector<std::string> arguments;
  for (const std::string& value : use.inputs) arguments.push_back(expressionOf(value).text);
  if (!use.list.empty()) {
    arguments.insert(arguments.begin() + static_cast<ptrdiff_t>(use.list_position), listText(use.list));
  }
  if (function.takes_name) arguments.push_back(pathText(withoutCallNumber(call.path)));
  const Expression text{fmt::format("{}({}{})", function.name, fmt::join(arguments, ", "), numberArguments(use))};
  std::vector<std::string> inputs = use.inputs;
  inputs.insert(inputs.end(), use.list.begin(), use.list.end());
  const std::string heir = release(inputs, call.end, end);
  std::string base = call.path.substr(call.path.rfind('.') + 1);
  base = variableName(withoutCallNumber(base));
  assign(use.outputs, text, heir, next, end, base == "x" ? function.name : base, /*is_call=*/true);
}

// ---- Loops ----

std::optional<BodyText::Loop> BodyText::loopAt(const std::vector<CallItem>& items, size_t first) const {
  if (items[first].call == nullptr) return std::nullopt;
  const auto start = numbered(items[first].call->path);
  if (!start.has_value()) return std::nullopt;
  const FunctionUse use = functions_.use(*items[first].call);
  const ValueTable& values = functions_.values();
  Loop loop{.count = 1,
            .first_number = start->second,
            .stem = start->first,
            .carried = {},
            .collected = {},
            .grows = !use.list.empty()};
  FunctionUse before = use;
  for (size_t i = first + 1; i < items.size(); ++i) {
    if (items[i].call == nullptr) break;
    const auto place = numbered(items[i].call->path);
    if (!place.has_value() || place->first != loop.stem ||
        place->second != loop.first_number + static_cast<int64_t>(loop.count)) {
      break;
    }
    FunctionUse now = functions_.use(*items[i].call);
    const bool are_equal = std::ranges::equal(now.numbers, use.numbers, {}, &NumberSlot::text, &NumberSlot::text);
    if (now.function != use.function || !are_equal) break;
    std::vector<std::optional<size_t>> carried;
    bool fits = true;
    for (size_t p = 0; p < now.inputs.size(); ++p) {
      const auto result = std::ranges::find(before.outputs, now.inputs[p]);
      if (result != before.outputs.end()) {
        carried.emplace_back(static_cast<size_t>(result - before.outputs.begin()));
      } else {
        carried.emplace_back(std::nullopt);
        fits = fits && now.inputs[p] == before.inputs[p];
      }
    }
    if (loop.grows) {
      fits = fits && before.outputs.size() == 1 && now.list.size() == before.list.size() + 1 &&
             now.list.back() == before.outputs[0] &&
             std::equal(before.list.begin(), before.list.end(), now.list.begin()) &&
             std::ranges::none_of(carried, [](const auto& result) { return result.has_value(); });
    }
    if (!fits || (loop.count > 1 && carried != loop.carried)) break;
    loop.carried = std::move(carried);
    ++loop.count;
    before = std::move(now);
  }
  if (loop.count < kFewestTurns) return std::nullopt;
  loop.collected.assign(use.outputs.size(), false);
  // The list holds them.
  if (loop.grows) return loop;
  // Which results are used after the next call.
  const size_t loop_end = items[first + loop.count - 1].call->end;
  for (size_t i = 0; i + 1 < loop.count; ++i) {
    const FunctionUse each = functions_.use(*items[first + i].call);
    const size_t next_end = items[first + i + 1].call->end;
    for (size_t q = 0; q < each.outputs.size(); ++q) {
      for (const size_t user : values.users(each.outputs[q])) {
        if (user < next_end) continue;
        if (user < loop_end) return std::nullopt;
        loop.collected[q] = true;
      }
    }
  }
  return loop;
}

void BodyText::addLoop(const std::vector<CallItem>& items, size_t first, const Loop& loop, size_t end) {
  flush();
  const ValueTable& values = functions_.values();
  const ModuleCall& last_call = *items[first + loop.count - 1].call;
  const FunctionUse use = functions_.use(*items[first].call);
  const FunctionUse last_use = functions_.use(last_call);
  const FunctionText& function = functions_.functions()[use.function];
  std::vector<std::string> arguments;
  std::vector<std::string> targets(use.outputs.size());
  // What goes from turn to turn is in one variable.
  for (size_t p = 0; p < use.inputs.size(); ++p) {
    if (!loop.carried[p].has_value()) {
      arguments.push_back(expressionOf(use.inputs[p]).text);
      continue;
    }
    const Expression start = expressionOf(use.inputs[p]);
    const bool stays =
        isNeededFrom(use.inputs[p], items[first].call->end, end) || std::ranges::count(use.inputs, use.inputs[p]) > 1;
    std::string name = start.text;
    if (!isVariable(start) || stays) {
      name = freshName(values.typeOf(use.inputs[p]) == Type::tensor() ? "x" : resultName(use.inputs[p]));
      lines_.push_back(fmt::format("{} = {}", name, start.text));
      held_[name].insert("");  // until its last value is known
    }
    targets[*loop.carried[p]] = name;
    arguments.push_back(std::move(name));
  }
  std::vector<std::string> lists(use.outputs.size());
  for (size_t q = 0; q < use.outputs.size(); ++q) {
    if (loop.collected[q]) {
      lists[q] = freshName(resultName(use.outputs[q]) + "s");
      held_[lists[q]].insert("");
      lines_.push_back(fmt::format("{}: Tensor[] = []", lists[q]));
    }
    if (!targets[q].empty()) continue;
    const bool is_used = loop.collected[q] || !values.users(last_use.outputs[q]).empty();
    targets[q] = is_used ? freshName(resultName(use.outputs[q])) : "_";
    if (is_used) held_[targets[q]].insert("");
  }
  const std::string number = freshName("i");
  if (function.takes_name) arguments.push_back(loopPath(loop, number));
  const std::string call = fmt::format("{}({}{})", function.name, fmt::join(arguments, ", "), numberArguments(use));
  lines_.push_back(fmt::format("for {} in range({}) {{", number, loopRange(loop)));
  lines_.push_back(targets.empty() ? call : fmt::format("{} = {}", fmt::join(targets, ", "), call));
  for (size_t q = 0; q < lists.size(); ++q) {
    if (!lists[q].empty()) lines_.push_back(fmt::format("{}.append({})", lists[q], targets[q]));
  }
  lines_.emplace_back("}");
  release(use.inputs, last_call.end, end);
  for (size_t q = 0; q < use.outputs.size(); ++q) {
    if (targets[q] != "_") {
      held_[targets[q]].erase("");
      hold(targets[q], last_use.outputs[q]);
    }
    if (lists[q].empty()) continue;
    for (size_t turn = 0; turn < loop.count; ++turn) {
      const FunctionUse each = functions_.use(*items[first + turn].call);
      known_[each.outputs[q]] = {fmt::format("{}[{}]", lists[q], turn), Precedence::Atom,
                                 values.typeOf(each.outputs[q])};
    }
  }
  release(last_use.outputs, last_call.end, end);
}

void BodyText::addGrowingLoop(const std::vector<CallItem>& items, size_t first, const Loop& loop, size_t end) {
  flush();
  const size_t loop_end = items[first + loop.count - 1].call->end;
  const FunctionUse use = functions_.use(*items[first].call);
  const FunctionText& function = functions_.functions()[use.function];
  std::string list = listText(use.list);
  // A list that is a parameter is none of these: what it holds is used once.
  const bool goes_on = lists_.erase(listKey(use.list)) > 0;
  if (!goes_on) {
    std::string name = freshName(kListName);
    held_[name].insert("");
    lines_.push_back(fmt::format("{} = {}", name, list));
    list = std::move(name);
  }
  std::vector<std::string> arguments;
  for (const std::string& value : use.inputs) arguments.push_back(expressionOf(value).text);
  arguments.insert(arguments.begin() + static_cast<ptrdiff_t>(use.list_position), list);
  const std::string number = freshName("i");
  if (function.takes_name) arguments.push_back(loopPath(loop, number));
  lines_.push_back(fmt::format("for {} in range({}) {{", number, loopRange(loop)));
  lines_.push_back(
      fmt::format("{}.append({}({}{}))", list, function.name, fmt::join(arguments, ", "), numberArguments(use)));
  lines_.emplace_back("}");
  std::vector<std::string> held = use.list;
  for (size_t turn = 0; turn < loop.count; ++turn) {
    const std::string result = functions_.use(*items[first + turn].call).outputs[0];
    known_[result] = {fmt::format("{}[{}]", list, held.size()), Precedence::Atom, Type::tensor()};
    held.push_back(result);
  }
  lists_[listKey(held)] = list;
  std::vector<std::string> ended = use.inputs;
  ended.insert(ended.end(), use.list.begin(), use.list.end());
  release(ended, loop_end, end);
}

std::string BodyText::listText(const std::vector<std::string>& values) {
  if (const auto known = lists_.find(listKey(values)); known != lists_.end()) return known->second;
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(expressionOf(value).text);
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string BodyText::loopPath(const Loop& loop, const std::string& number) {
  // Quoted, with {name} and {i} in it.
  const std::string whole = pathText(loop.stem + "0");
  const bool is_own = whole.starts_with("name + ");
  const std::string stem = is_own ? "{name}" + loop.stem.substr(withoutCallNumber(path_).size()) : loop.stem;
  return fmt::format("f\"{}{{{}}}\"", stem, number);
}

std::string BodyText::loopRange(const Loop& loop) {
  const int64_t past = loop.first_number + static_cast<int64_t>(loop.count);
  const bool is_from_0 = loop.first_number == 0;
  const std::string end =
      numbers_.add({is_from_0 ? "count" : "end", std::to_string(past), Type::integer(), "", "", std::nullopt});
  return is_from_0 ? end : fmt::format("{}, {}", loop.first_number, end);
}

void BodyText::addItems(const ModuleCall& call) {
  for (size_t i = 0; i < call.items.size(); ++i) {
    if (const auto loop = loopAt(call.items, i)) {
      loop->grows ? addGrowingLoop(call.items, i, *loop, call.end) : addLoop(call.items, i, *loop, call.end);
      i += loop->count - 1;
      continue;
    }
    const CallItem* const next = i + 1 < call.items.size() ? &call.items[i + 1] : nullptr;
    if (call.items[i].call != nullptr) {
      addCall(*call.items[i].call, next, call.end);
    } else if (hasHigherOrderText(functions_.graph().nodes[call.items[i].node])) {
      addHigherOrder(call.items[i].node, call.end);
    } else {
      addNode(call.items[i].node, next, call.end);
    }
  }
}

}  // namespace boxcar::interp::pt2
