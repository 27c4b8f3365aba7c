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
  std::string model;  // "gpt2" = byte-level BPE (GGUF tokenizer.ggml.model)
  std::string pre;    // pre-tokenizer name (GGUF tokenizer.ggml.pre), e.g. "llama-bpe", "smollm"
  std::vector<std::string>
      tokens;  // id -> text, in the file's own alphabet (byte-level BPE: GPT-2's byte letters)
  std::vector<TokenType> types;     // same length as tokens
  std::vector<std::string> merges;  // "left right", best first
  std::optional<TokenId> bos, eos, eot, unk, pad;
  bool add_bos = false;
  bool add_eos = false;
};

}  // namespace reprise
