#include <boxcar/interpreter/service/cursor.h>
#include <boxcar/interpreter/service/text.h>
#include <boxcar/interpreter/syntax/lexer.h>

#include <algorithm>

namespace boxcar::service {

using syntax::Token;
using Kind = syntax::TokenKind;

namespace {

bool opens(Kind kind) {
  return kind == Kind::LeftParen || kind == Kind::LeftBracket || kind == Kind::DictOpen || kind == Kind::FieldBegin ||
         kind == Kind::FStringBegin || kind == Kind::BlockOpen;
}

bool closes(Kind kind) {
  return kind == Kind::RightParen || kind == Kind::RightBracket || kind == Kind::DictClose || kind == Kind::FieldEnd ||
         kind == Kind::FStringEnd || kind == Kind::BlockClose;
}

}  // namespace

bool separatesStatements(Kind kind) noexcept {
  return kind == Kind::Newline || kind == Kind::Semicolon || kind == Kind::BlockOpen || kind == Kind::BlockClose;
}

Cursor::Cursor(const SourcePtr& source, uint32_t offset)
    : source_(source), offset_(std::min(offset, static_cast<uint32_t>(source->text().size()))) {
  Diagnostics unused;
  tokens_ = syntax::lex(source, unused).tokens;
  std::erase_if(tokens_, [](const Token& token) {
    return token.span.empty() && token.kind != Kind::Newline && token.kind != Kind::EndOfFile;
  });
  word_ = wordAt(source->text(), offset_);
  word_.end = offset_;
  findPlace();
  findStatement();
}

void Cursor::findPlace() {
  const std::string_view text = source_->text();
  const auto beginsBehind = [](uint32_t place, const Token& token) { return place < token.span.begin; };
  const auto next = std::upper_bound(tokens_.begin(), tokens_.end(), offset_ == 0 ? 0 : offset_ - 1, beginsBehind);
  // The token that contains the byte before the offset, or the last one before it.
  before_ = static_cast<size_t>(next - tokens_.begin());
  if (before_ > 0 && offset_ > 0) {
    const Token& token = tokens_[before_ - 1];
    const bool is_inside = token.span.end > offset_ || (token.span.end == offset_ && token.reported);
    if (token.kind == Kind::String && token.span.begin < offset_ && is_inside) {
      string_ = Span{token.span.begin + 1, offset_};
      --before_;
      return;
    }
    const bool touches = token.span.end >= offset_;
    const bool is_number = token.kind == Kind::Int || token.kind == Kind::Float || token.kind == Kind::Imaginary;
    const bool is_text = token.kind == Kind::FStringText || token.kind == Kind::FieldSpec ||
                         token.kind == Kind::FStringBegin || token.kind == Kind::FieldEnd;
    is_in_text_ = touches && (is_number || is_text);
    const std::string_view gap = source_->text({token.span.end, offset_});
    const size_t hash = gap.rfind('#');
    is_in_text_ = is_in_text_ || (token.span.end < offset_ && hash != std::string_view::npos &&
                                  gap.find('\n', hash) == std::string_view::npos);
  } else {
    const size_t hash = text.substr(0, offset_).rfind('#');
    is_in_text_ =
        hash != std::string_view::npos && text.substr(hash, offset_ - hash).find('\n') == std::string_view::npos;
  }
  while (before_ > 0 && tokens_[before_ - 1].span.end > word_.begin) --before_;
  while (before_ > 0 && tokens_[before_ - 1].kind == Kind::EndOfFile) --before_;
}

void Cursor::findStatement() {
  statement_ = before_;
  while (statement_ > 0 && !separatesStatements(tokens_[statement_ - 1].kind)) --statement_;
  for (size_t i = statement_; i < before_; ++i) {
    if (opens(tokens_[i].kind)) {
      brackets_.push_back(i);
    } else if (closes(tokens_[i].kind) && !brackets_.empty()) {
      brackets_.pop_back();
    }
  }
  size_t depth = 0;
  for (size_t i = 0; i < statement_; ++i) {
    if (tokens_[i].kind == Kind::BlockOpen) ++depth;
    if (tokens_[i].kind == Kind::BlockClose && depth > 0) --depth;
  }
  is_at_top_level_ = depth == 0;
}

Kind Cursor::kindBefore(size_t index, size_t back) const noexcept {
  return index < back ? Kind::EndOfFile : tokens_[index - back].kind;
}

std::optional<Cursor::OpenCall> Cursor::openCall() const {
  for (auto bracket = brackets_.rbegin(); bracket != brackets_.rend(); ++bracket) {
    const size_t paren = *bracket;
    if (tokens_[paren].kind == Kind::FieldBegin) return std::nullopt;
    if (tokens_[paren].kind != Kind::LeftParen || paren == statement_) continue;
    if (kindBefore(paren) != Kind::Name && kindBefore(paren) != Kind::KwMode) continue;
    OpenCall call{paren, paren - 1, {}, {}, {}, 0, {}, {}};
    call.name = text(call.callee);
    if (kindBefore(call.callee) == Kind::Dot) {
      call.method = call.name;
      call.name = {};
      if (kindBefore(call.callee, 2) == Kind::Name) {
        const size_t object = call.callee - 2;
        call.name = text(object);
        if (kindBefore(object) == Kind::Scope && kindBefore(object, 2) == Kind::Name) call.space = text(object - 2);
        if (kindBefore(object) == Kind::Dot) call.name = {};
      }
    } else if (kindBefore(call.callee) == Kind::Scope && kindBefore(call.callee, 2) == Kind::Name) {
      call.space = text(call.callee - 2);
    }
    size_t depth = 0;
    for (size_t i = paren + 1; i < before_; ++i) {
      const Kind kind = tokens_[i].kind;
      if (opens(kind)) ++depth;
      if (closes(kind) && depth > 0) --depth;
      if (depth > 0) continue;
      if (kind == Kind::Comma) {
        ++call.argument;
        call.keyword = {};
      } else if (kind == Kind::Assign && tokens_[i - 1].kind == Kind::Name) {
        call.keyword = text(i - 1);
        call.keywords.push_back(call.keyword);
      }
    }
    return call;
  }
  return std::nullopt;
}

Span Cursor::expressionEndingAt(size_t last) const noexcept {
  const uint32_t end = tokens_[last].span.end;
  for (size_t i = last;;) {
    const Kind kind = tokens_[i].kind;
    if (closes(kind) && kind != Kind::BlockClose) {
      size_t depth = 1;
      while (depth > 0) {
        if (i == 0) return {end, end};
        --i;
        if (closes(tokens_[i].kind)) ++depth;
        if (opens(tokens_[i].kind)) --depth;
      }
      const Kind before = kindBefore(i);
      const bool is_postfix = (kind == Kind::RightParen && before == Kind::Name) ||
                              (kind == Kind::RightBracket && (before == Kind::Name || before == Kind::String ||
                                                              (closes(before) && before != Kind::BlockClose)));
      if (is_postfix && tokens_[i - 1].span.end == tokens_[i].span.begin) {
        --i;
        continue;
      }
      return {tokens_[i].span.begin, end};
    }
    if (kind == Kind::String) return {tokens_[i].span.begin, end};
    if (kind != Kind::Name) return {end, end};
    if (kindBefore(i) == Kind::Scope && i >= 2) {
      return {tokens_[i - 2].span.begin, end};
    }
    if (kindBefore(i) != Kind::Dot || i < 2) return {tokens_[i].span.begin, end};
    i -= 2;
  }
}

}  // namespace boxcar::service
