// Pre-tokenization: cuts text into the pieces that a model's tokens never cross, step by step, as the
// pre-tokenizers of a tokenizer.json do. Steps may also drop parts (whitespace) or rewrite pieces.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/piece_sink.h"
#include "text/tokenizer/regex_chain.h"

namespace reprise {

class Pretokenizer {
 public:
  // Calls next(piece, at_start) for each piece of `text`, in order; empty pieces are ignored. `at_start`: the
  // whole prompt begins with this text, or piece. Any thread.
  using Next = std::function<void(std::string_view piece, bool at_start)>;
  using Step = std::function<void(std::string_view text, bool at_start, const Next& next)>;

  Pretokenizer() = default;                                                     // does not cut
  explicit Pretokenizer(std::vector<Step> steps) : steps_(std::move(steps)) {}  // of valid UTF-8
  // One cut that does all. Takes any bytes.
  explicit Pretokenizer(PieceScanner scanner) : scanner_(scanner) {}
  explicit Pretokenizer(RegexChain patterns)
      : patterns_(std::make_unique<const RegexChain>(std::move(patterns))) {}

  void split(std::string_view text, bool at_start, PieceSink& sink) const;
  bool takes_any_bytes() const { return steps_.empty(); }
  PieceScanner scanner() const { return scanner_; }  // null: it cuts by patterns or steps, or not at all

 private:
  struct Run;
  PieceScanner scanner_ = nullptr;
  std::unique_ptr<const RegexChain> patterns_;
  std::vector<Step> steps_;
};

namespace pretokenize {

// What becomes of the matches of a pattern and of the gaps between them.
enum class Behavior {
  kIsolated,            // each is a piece
  kRemoved,             // the matches are dropped
  kMergedWithPrevious,  // a match ends the gap before it
  kMergedWithNext,      // a match begins the gap after it
  kContiguous,          // each, but matches that touch are one
};
// `invert`: gaps are matches and matches gaps.
Pretokenizer::Step split(Regex pattern, Behavior behavior, bool invert = false);
Pretokenizer::Step split(std::function<bool(uint32_t code_point)> pattern, Behavior behavior);

// SentencePiece's spaces: each space becomes `replacement`, and one is put before the text if the scheme says
// so and there is none; `cut`: a piece begins at each.
enum class Prepend { kNever, kFirst, kAlways };  // kFirst: at the start of the prompt only
Pretokenizer::Step metaspace(std::string replacement, Prepend scheme, bool cut);

Pretokenizer::Step prefix_space();                   // a space before each piece that does not begin with one
Pretokenizer::Step scan(PieceScanner scanner);       // as one step of several
Pretokenizer::Step byte_letters();                   // each byte becomes its GPT-2 letter
Pretokenizer::Step fixed_length(size_t characters);  // > 0

}  // namespace pretokenize
}  // namespace reprise
