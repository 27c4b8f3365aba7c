#include "api/fill_in_the_middle.h"

#include <array>

namespace reprise {
namespace {

std::optional<TokenId> token_of(const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<TokenId> tokens = tokenizer.encode(text);
  if (tokens.size() != 1 || tokenizer.bytes(tokens[0]) != text) return std::nullopt;
  return tokens[0];
}

}  // namespace

std::optional<FillInTheMiddle> find_fill_in_the_middle(const Tokenizer& tokenizer,
                                                       const Vocabulary& vocabulary) {
  constexpr std::array<std::string_view, 3> kNames[] = {
      {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},     // Qwen, Granite
      {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},           // StarCoder
      {"<fim-prefix>", "<fim-suffix>", "<fim-middle>"},           // SantaCoder
      {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"},     // DeepSeek
      {"<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"},  // GLM
      {"▁<PRE>", "▁<SUF>", "▁<MID>"},                             // Code Llama
  };
  constexpr std::string_view kEnds[] = {"<|fim_pad|>", "<fim_pad>",     "<|repo_name|>", "<|file_sep|>",
                                        "<file_sep>",  "<|endoftext|>", "▁<EOT>"};
  const auto with_ends = [&](TokenId prefix, TokenId suffix, TokenId middle) {
    FillInTheMiddle found{prefix, suffix, middle, {}};
    for (const std::string_view end : kEnds) {
      if (const auto token = token_of(tokenizer, end)) found.ends.push_back(*token);
    }
    return found;
  };
  if (vocabulary.fim_prefix && vocabulary.fim_suffix && vocabulary.fim_middle)
    return with_ends(*vocabulary.fim_prefix, *vocabulary.fim_suffix, *vocabulary.fim_middle);
  for (const auto& [prefix, suffix, middle] : kNames) {
    const auto before = token_of(tokenizer, prefix);
    const auto after = token_of(tokenizer, suffix);
    const auto gap = token_of(tokenizer, middle);
    if (before && after && gap) return with_ends(*before, *after, *gap);
  }
  return std::nullopt;
}

std::vector<TokenId> FillInTheMiddle::prompt(const Tokenizer& tokenizer, std::vector<TokenId> before,
                                             std::string_view after) const {
  std::vector<TokenId> tokens = std::move(before);
  tokens.insert(tokens.begin(), prefix);
  tokens.push_back(suffix);
  const std::vector<TokenId> rest = tokenizer.encode(after, {.parse_special = false});
  tokens.insert(tokens.end(), rest.begin(), rest.end());
  tokens.push_back(middle);
  return tokens;
}

}  // namespace reprise
