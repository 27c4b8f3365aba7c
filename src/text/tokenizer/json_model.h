// The model of a tokenizer.json, and the tokens that the file names.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/token.h"
#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/json_reader.h"
#include "text/tokenizer/unigram_model.h"

namespace reprise {

inline std::string_view view(const boost::json::string& text) { return {text.data(), text.size()}; }

// An id that a file may give; nothing: it is none.
std::optional<TokenId> as_token_id(const boost::json::value& value);

// The model's tokens and the added ones.
struct Tokens {
  std::vector<std::optional<std::string_view>> texts;  // by id; views into the document
  std::unordered_map<std::string_view, TokenId> ids;
  size_t model_size = 0;  // tokens of the model

  std::optional<TokenId> find(std::string_view text) const {
    const auto found = ids.find(text);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  }
  void set(TokenId id, std::string_view text) {
    if (static_cast<size_t>(id) >= texts.size()) texts.resize(static_cast<size_t>(id) + 1);
    texts[static_cast<size_t>(id)] = text;
  }
};

// A model that is read but for which tokens are control tokens: those are no words.
struct ModelParts {
  Tokens tokens;
  std::optional<BpeModel::Definition> bpe;
  std::optional<UnigramModel::Definition> unigram;
};

Result<ModelParts> read_model(const JsonNode& node);

}  // namespace reprise
