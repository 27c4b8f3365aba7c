// Design: append the token's bytes to the held beginning of a character, then walk whole steps (text/utf8.h).
// Only a step cut off by the end of the bytes is held; so held_ is always a proper prefix of a well-formed
// sequence (1 to 3 bytes) and what push() returned can never change.
#include "text/detokenizer.h"

#include "text/utf8.h"

namespace reprise {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Appends the text of `bytes` to `out`; returns how many bytes at the end are the beginning of a character.
size_t append_characters(std::string_view bytes, std::string& out) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  while (p < end) {
    const char* ascii = p;
    while (ascii < end && static_cast<uint8_t>(*ascii) < 0x80) ++ascii;
    out.append(p, ascii);
    p = ascii;
    if (p == end) break;
    const Utf8Step step = utf8_step(p, end);
    if (step.truncated) return static_cast<size_t>(end - p);
    if (step.code_point == Utf8Step::kBroken) {
      out += kReplacement;
    } else {
      out.append(p, step.length);
    }
    p += step.length;
  }
  return 0;
}

}  // namespace

std::string Detokenizer::push(TokenId token) {
  std::string text;
  if (tokenizer_->is_hidden(token)) return text;
  const std::string_view bytes = tokenizer_->bytes(token);
  if (held_.empty()) {
    const size_t held = append_characters(bytes, text);
    held_.assign(bytes.substr(bytes.size() - held));
  } else {
    held_ += bytes;
    const size_t held = append_characters(held_, text);
    held_.erase(0, held_.size() - held);
  }
  return text;
}

std::string Detokenizer::finish() {
  // What is held is one maximal subpart, hence one replacement character.
  std::string text(held_.empty() ? std::string_view{} : kReplacement);
  held_.clear();
  return text;
}

}  // namespace reprise
