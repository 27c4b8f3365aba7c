// The pre-tokenizers that GGUF files name (tokenizer.ggml.pre).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/tokenizer/pretokenizer.h"

namespace reprise {

// GPT-2's pattern, which Hugging Face's ByteLevel has as well.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// One pre-tokenizer. The chain defines it: each pattern cuts the pieces of the one before into its matches
// and the gaps between them, every piece being a text of its own (so `$` and lookaheads end at it), as
// Hugging Face's Sequence of Split(Isolated) does. Syntax as in tokenizer.json.
struct PretokenizerSpec {
  std::span<const std::string_view> names;
  std::span<const std::string> chain;
  PieceScanner scanner = nullptr;  // the same cut by hand, much faster; without one the chain itself is run
  bool ignore_merges = false;      // a piece that is a token is that token, whether or not merges lead to it
};

std::span<const PretokenizerSpec> pretokenizer_specs();
// kUnsupported: no such name.
Result<const PretokenizerSpec*> find_pretokenizer(std::string_view name);
// Whether the tokenizer.json of the models of this name puts text into NFC first, which a GGUF file can't
// say.
bool wants_nfc(std::string_view name);
// Cuts like the chain: by a scanner, if a spec of the same chain has one. kUnsupported: a pattern that is not
// understood.
Result<Pretokenizer> chain_pretokenizer(std::span<const std::string> chain);

}  // namespace reprise
