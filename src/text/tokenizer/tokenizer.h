// Text <-> token ids for one vocabulary. Immutable after create(); every function may be called from any
// thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/token.h"
#include "core/vocabulary.h"
#include "text/marked_text.h"

namespace reprise {

struct EncodeOptions {
  // Turn the text of control tokens (control_tokens.h) into those tokens. Other added tokens are ordinary
  // words of the vocabulary and are found in either case, as by Hugging Face's split_special_tokens. Of
  // special texts that start at one place the longest is taken.
  bool parse_special = true;
  bool add_bos_eos = false;  // as the vocabulary says
  // Where set, parse_special holds only for texts that lie within these spans (ascending, disjoint; spans
  // that touch count as one): what a chat template wrote, not what it was given. The text is still encoded as
  // one, so that tokens may cross the borders.
  std::optional<std::span<const TextSpan>> control_spans = std::nullopt;
};

class Tokenizer {
 public:
  // kUnsupported names the part of the tokenizer that is not known; kInvalid what is broken.
  static Result<std::unique_ptr<Tokenizer>> create(const Vocabulary& vocabulary);
  virtual ~Tokenizer() = default;

  // Never fails. Byte-level vocabularies that do not normalize encode bytes that are no valid UTF-8 byte by
  // byte: decode() gives the text back, but for bytes that the vocabulary has no token for (some have none
  // for control characters), which are left out. For others each maximal invalid part is U+FFFD.
  virtual std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const = 0;
  // The bytes a token stands for in the middle of a text (they may end inside a UTF-8 character). Added
  // tokens: their text. An id out of range stands for nothing.
  virtual std::string_view bytes(TokenId token) const = 0;
  virtual bool is_hidden(TokenId token) const = 0;  // not shown to users
  // Found in text whole and before all else, as markup is; never made of smaller tokens.
  virtual bool is_added(TokenId) const { return false; }
  virtual size_t size() const = 0;  // ids are 0 .. size() - 1
  // The text of a whole sequence; hidden tokens are left out unless asked for. All bytes in order, but where
  // the vocabulary's own decoder does more: SentencePiece's drops the space it put before the text, and
  // replaces bytes that are no UTF-8.
  virtual std::string decode(TokenSpan tokens, bool with_hidden = false) const;
  // The tokens that begin and end a text, whether or not add_bos_eos adds them.
  virtual std::optional<TokenId> bos() const { return std::nullopt; }
  virtual std::optional<TokenId> eos() const { return std::nullopt; }
};

}  // namespace reprise
