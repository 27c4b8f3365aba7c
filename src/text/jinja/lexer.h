// Template source to tokens, after jinja2's lexer with trim_blocks and lstrip_blocks: white space control is
// settled here, so data tokens hold exactly the text to output.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "text/jinja/failure.h"
#include "text/jinja/value.h"

namespace reprise::jinja {

enum class TokenKind : uint8_t {
  kData,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kNumber,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // data, name, decoded string or operator
  Value number;
  Position where;
};

// The normalised source and whatever decoded strings tokens view; tokens and the AST live no longer than it.
struct SourceText {
  std::string source;
  std::string decoded;  // one after the other; never moves, its capacity is enough for all of them

  // Each part of the source is kept at most twice (decoded, then joined with its neighbours), never longer
  // than it was.
  explicit SourceText(size_t size) {
    source.reserve(size);
    decoded.reserve(2 * size);
  }
  SourceText(const SourceText&) = delete;
  std::string_view keep(std::string_view text) {
    CHECK(text.size() <= decoded.capacity() - decoded.size(), "strings grew while they were decoded");
    decoded += text;
    return std::string_view(decoded).substr(decoded.size() - text.size());
  }
};

// Normalises line ends to \n and drops one at the end. Throws for text that is not UTF-8.
std::unique_ptr<SourceText> normalize(std::string_view source);
std::vector<Token> tokenize(SourceText& text);

}  // namespace reprise::jinja
