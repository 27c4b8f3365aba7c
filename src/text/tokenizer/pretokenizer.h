// Pre-tokenization: cuts text into the pieces that BPE merges never cross. A partition: the pieces, in order,
// are the text.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise {

class PieceSink {
 public:
  virtual void piece(std::string_view piece) = 0;  // never empty

 protected:
  ~PieceSink() = default;
};

using PieceScanner = void (*)(std::string_view text, PieceSink& sink);

// One pre-tokenizer. The chain defines it: each pattern cuts the pieces of the one before into its matches
// and the gaps between them, every piece being a text of its own (so `$` and lookaheads end at it), as
// Hugging Face's Sequence of Split(Isolated) does. Syntax as in tokenizer.json; \s is the property
// White_Space. Bytes that are no UTF-8 are characters of no class, one per maximal invalid part.
struct PretokenizerSpec {
  std::span<const std::string_view> names;  // values of tokenizer.ggml.pre
  std::span<const std::string> chain;
  PieceScanner scanner = nullptr;  // the same cut by hand, much faster; without one the chain itself is run
  bool ignore_merges = false;      // a piece that is a token is that token, whether or not merges lead to it
};

std::span<const PretokenizerSpec> pretokenizer_specs();

class RegexChain;

class Pretokenizer {
 public:
  static Result<Pretokenizer> create(std::string_view name);  // kUnsupported: no such name
  Pretokenizer(Pretokenizer&&) noexcept;
  ~Pretokenizer();

  void split(std::string_view text, PieceSink& sink) const;  // any thread
  bool ignore_merges() const { return spec_->ignore_merges; }

 private:
  explicit Pretokenizer(const PretokenizerSpec& spec);
  const PretokenizerSpec* spec_;
  std::unique_ptr<const RegexChain> chain_;  // where there is no scanner
};

}  // namespace reprise
