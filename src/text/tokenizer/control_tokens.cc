#include "text/tokenizer/control_tokens.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr std::string_view kWide = "｜";  // DeepSeek's bar

bool is_bracket(char c) { return std::string_view("<>[]{}|()").find(c) != std::string_view::npos; }

}  // namespace

bool looks_like_control(std::string_view token) {
  static constexpr std::string_view kKnown[] = {"<pad>",   "<mask>",          "<2mass>",
                                                "[@BOS@]", "<start_of_turn>", "<end_of_turn>"};
  if (std::ranges::find(kKnown, token) != std::end(kKnown)) return true;
  if (!token.starts_with('<') || !token.ends_with('>') || token.size() < 4) return false;
  const std::string_view inside = token.substr(1, token.size() - 2);
  return inside.starts_with('|') || inside.ends_with('|') || inside.starts_with(kWide) ||
         inside.ends_with(kWide) || inside.starts_with("unused");
}

bool is_markup_of(std::string_view chat_template, std::string_view token) {
  return token.size() > 2 && is_bracket(token.front()) && is_bracket(token.back()) &&
         chat_template.find(token) != std::string_view::npos;
}

}  // namespace reprise
