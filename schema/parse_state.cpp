#include <boxcar/ivalue/python_text.h>
#include <boxcar/schema/parse_state.h>
#include <boxcar/schema/string_literal.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

namespace boxcar::detail {
namespace {

constexpr std::string_view kClassStart = "__torch__";

std::optional<TypeKind> composedKind(std::string_view word) {
  if (word == "Dict") return TypeKind::Dict;
  if (word == "Union") return TypeKind::Union;
  if (word == "Future") return TypeKind::Future;
  if (word == "Await") return TypeKind::Await;
  if (word == "RRef") return TypeKind::RRef;
  if (word == kClassStart) return TypeKind::Class;
  return std::nullopt;
}

// Returns the token at the start of [rest], to be quoted in an error.
std::string_view tokenAt(std::string_view rest) {
  const char* const first = rest.data();
  const char* const last = first + rest.size();
  for (const std::string_view mark : {"->", "::", "..."}) {
    if (rest.starts_with(mark)) return rest.substr(0, mark.size());
  }
  const char* end = first;
  while (end != last && isOfClass(*end, kWordStart | kDigit)) ++end;
  if (end == first && (*first == '\'' || *first == '"')) {
    const char* const quoted = quotedEnd(first, last);
    if (quoted != nullptr) end = quoted;
  }
  if (end == first) {  // one character, of any number of bytes
    ++end;
    while (end != last && (static_cast<unsigned char>(*end) & 0xc0) == 0x80) ++end;
  }
  return rest.substr(0, static_cast<std::size_t>(end - first));
}

}  // namespace

const char* ParseState::skipLines(const char* first, const char* last) noexcept {
  while (first != last && isOfClass(*first, kSpace | kNewline | kComment)) {
    first = *first == '#' ? skipComment(first, last) : first + 1;
  }
  return first;
}

const char* ParseState::numberEnd(const char* first, const char* last) const {
  const char* at = first;
  if (at != last && *at == '+') {
    const std::string_view number = tokenAt({at, static_cast<std::size_t>(last - at)});
    fail(number, "a number cannot have a '+' before it");
  }
  if (at != last && *at == '-') at = skip(at + 1, last);
  const bool is_number =
      at != last && (isOfClass(*at, kDigit) || (*at == '.' && at + 1 != last && isOfClass(at[1], kDigit)));
  if (!is_number) return first;
  // Takes everything that could belong to it, so that `0x10` and `1_000` are examined as a whole.
  for (; at != last; ++at) {
    const bool is_exponent_sign = (*at == '-' || *at == '+') && (at[-1] == 'e' || at[-1] == 'E');
    if (!isOfClass(*at, kWordStart | kDigit) && *at != '.' && !is_exponent_sign) break;
  }
  return at;
}

const char* ParseState::quotedEnd(const char* first, const char* last) const {
  if (first == last || (*first != '\'' && *first != '"')) return first;
  const char* const end = detail::quotedEnd(first, last);
  if (end == nullptr) fail({first, 1}, fmt::format("the string has no closing {}", *first));
  return end;
}

TypePtr ParseState::unusualType(std::string_view word) const {
  if (composedKind(word)) return nullptr;
  if (names_ != nullptr) {
    if (const TypePtr named = names_->find(word)) return named;
    if (names_->qualifies(word)) return nullptr;
  }
  if (word == "double" || word == "int64_t") {
    fail(word, fmt::format("unknown type {}: schemas write {}", word, word == "double" ? "float" : "int or SymInt"));
  }
  if (isKeyword(word)) fail(word, fmt::format("expected a type, found the keyword '{}'", word));
  if (word.front() >= 'a' && word.front() <= 'z') return Type::variable(word);
  std::vector<std::string_view> candidates(typeNames().begin(), typeNames().end());
  if (names_ != nullptr) std::ranges::copy(names_->candidates(), std::back_inserter(candidates));
  const std::string suggestion = didYouMean(word, candidates);
  fail(word, fmt::format("unknown type {}{}{}", word, suggestion.empty() ? "" : ".", suggestion));
}

void ParseState::beginComposed(ComposedType& composed) const {
  composed.word = last_word_;
  const std::optional<TypeKind> kind = composedKind(last_word_);
  composed.is_qualified = !kind.has_value();
  composed.kind = kind.value_or(TypeKind::Class);
  if (composed.is_qualified) composed.path = last_word_;
}

TypePtr ParseState::qualifiedType(const ComposedType& composed) const {
  if (const TypePtr named = names_->find(composed.path)) return named;
  const std::string suggestion = didYouMean(composed.path, names_->candidates());
  fail(composed.word, fmt::format("unknown type {}{}{}", composed.path, suggestion.empty() ? "" : ".", suggestion));
}

AnnotatedType ParseState::compose(const ComposedType& composed) const {
  std::vector<TypePtr> types;
  std::vector<AliasInfoPtr> aliases;
  for (const AnnotatedType& member : composed.members) {
    types.push_back(member.type);
    aliases.push_back(member.alias);
    if (member.type->depth() >= Type::kMaxDepth) failTooDeep(composed.word.data());
  }
  const auto checkCount = [&](std::size_t count) {
    if (types.size() == count) return;
    fail(composed.word,
         fmt::format("{} takes {} type{}, found {}", composed.word, count, count == 1 ? "" : "s", types.size()));
  };
  const auto typeOf = [&]() -> TypePtr {
    switch (composed.kind) {
      case TypeKind::Class: {
        if (composed.is_qualified) return qualifiedType(composed);
        const std::string name = std::string(kClassStart) + composed.path;
        if (!isClassName(name)) fail(composed.word, "a class is written __torch__.torch.classes.namespace.Name");
        return Type::classNamed(name);
      }
      case TypeKind::Dict: checkCount(2); return Type::dictOf(types[0], types[1]);
      case TypeKind::Future: checkCount(1); return Type::futureOf(types[0]);
      case TypeKind::Await: checkCount(1); return Type::awaitOf(types[0]);
      case TypeKind::RRef: checkCount(1); return Type::rrefOf(types[0]);
      case TypeKind::Union: return Type::unionOf(types);
      default: return Type::tupleOf(types);
    }
  };
  return {typeOf(), AliasInfo::holding(aliases)};
}

void ParseState::annotate(AnnotatedType& type) const {
  const std::string_view first_set = alias_.before.empty() ? std::string_view() : alias_.before.front();
  const bool is_letter = alias_.before.size() == 1 && alias_.after.empty() && first_set.size() == 1 &&
                         first_set.front() >= 'a' && first_set.front() <= 'z';
  const AliasInfoPtr own = is_letter ? AliasInfo::ofLetter(first_set.front(), alias_.is_write)
                                     : AliasInfo::of(alias_.before, alias_.is_write, alias_.after);
  type.alias = type.alias == nullptr ? own : own->withContained(type.alias->containedTypes());
}

void ParseState::checkDepth(const AnnotatedType& type, const char* end) const {
  if (type.type->depth() >= Type::kMaxDepth) failTooDeep(end - 1);
}

void ParseState::makeList(AnnotatedType& type, const char* end) const {
  checkDepth(type, end);
  type.type = Type::listOf(type.type);
  if (type.alias != nullptr) type.alias = type.alias->inList();
}

void ParseState::makeOptional(AnnotatedType& type, const char* end) const {
  checkDepth(type, end);
  type.type = Type::optionalOf(type.type);
  const char* const next = skip(end, textEnd());
  if (next != textEnd() && (*next == '(' || *next == '!')) {
    fail({next, 1}, "an alias annotation comes before the '?': write Tensor(a!)?");
  }
}

void ParseState::setSize(std::string_view number) {
  SchemaBuilder::Draft& draft = builder_.current();
  const char* const last = number.data() + number.size();
  const auto [end, error] = std::from_chars(number.data(), last, draft.size);
  if (error != std::errc() || end != last || draft.size < 0) {
    fail(number, fmt::format("{} is not a length of a list: that is a decimal number below 2147483648", number));
  }
  makeList(draft.type, last);
}

void ParseState::addLiteral(Literal::Kind kind, std::string_view text) {
  Literal& literal = literals_.emplace_back();
  literal.kind = kind;
  literal.is_negative = text.front() == '-';
  literal.text = text;
  literal.digits = text;
  if (literal.is_negative) {
    const char* const last = text.data() + text.size();
    const char* const digits = skip(text.data() + 1, last);
    literal.digits = {digits, static_cast<std::size_t>(last - digits)};
  }
}

void ParseState::endDefault(const char* end) {
  const char* const begin = list_begin_ != nullptr ? list_begin_ : literals_.front().text.data();
  SchemaBuilder::Draft& draft = builder_.current();
  draft.default_text = {begin, static_cast<std::size_t>(end - begin)};
  draft.default_value = readDefault(builder_.source(), {draft.default_text, list_begin_ != nullptr, literals_},
                                    draft.type.type, draft.size);
  draft.has_default = true;
}

void ParseState::setWholeType(AnnotatedType type) {
  if (type.alias != nullptr) fail(first_alias_, "an alias annotation has no meaning on a type alone");
  whole_type_ = type.type;
}

void ParseState::failTooDeep(const char* where) const {
  fail({where, 1}, fmt::format("types are nested deeper than {}", Type::kMaxDepth));
}

void ParseState::failExpected(const char* where, std::string_view expected) const {
  const char* const last = textEnd();
  where = skip(where, last);
  if (where == last) fail({last, 0}, fmt::format("expected {}, found the end of the text", expected));
  if (*where == '\n') fail({where, 0}, fmt::format("expected {}, found the end of the line", expected));
  const std::string_view found = tokenAt({where, static_cast<std::size_t>(last - where)});
  fail(found, fmt::format("expected {}, found {}'{}'", expected, isKeyword(found) ? "the keyword " : "", found));
}

}  // namespace boxcar::detail
