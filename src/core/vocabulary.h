// A tokenizer's data as a model file gives it: what text/tokenizer builds from, whatever the file's format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/token.h"

namespace reprise {

enum class TokenType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

struct Vocabulary {
  // GGUF's tokenizer.ggml.model: "gpt2" = byte-level BPE, "llama" = SentencePiece BPE, "t5" = SentencePiece
  // unigram.
  std::string model;
  std::string pre;  // pre-tokenizer name (GGUF tokenizer.ggml.pre), e.g. "llama-bpe", "smollm"
  // id -> text, in the file's own alphabet (byte-level BPE: GPT-2's byte letters; SentencePiece: U+2581 for a
  // space, <0x0A> for a byte)
  std::vector<std::string> tokens;
  std::vector<TokenType> types;     // same length as tokens
  std::vector<float> scores;        // SentencePiece: same length as tokens, higher is better; else empty
  std::vector<std::string> merges;  // byte-level BPE: "left right", best first
  std::optional<TokenId> bos, eos, eot, unk, pad;
  std::optional<TokenId> fim_prefix, fim_suffix,
      fim_middle;  // around a gap to fill in, where the file names them
  bool add_bos = false;
  bool add_eos = false;
  // SentencePiece's normalization.
  bool add_space_prefix = true;           // a space before each stretch of text
  bool remove_extra_whitespaces = false;  // runs of spaces become one, none at the ends
  std::string precompiled_charsmap;       // its character map; empty: none

  std::string chat_template;  // may be empty; it tells control tokens from words

  // A Hugging Face folder's files instead (their contents; the config may be empty): where the first is set,
  // it defines the tokenizer, and of the rest bos, eos and kin at most are used.
  std::string tokenizer_json, tokenizer_config_json;
};

}  // namespace reprise
