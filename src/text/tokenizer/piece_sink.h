// Where a pre-tokenizer's pieces go.
#pragma once

#include <string_view>

namespace reprise {

class PieceSink {
 public:
  virtual void piece(std::string_view piece) = 0;  // never empty; valid during the call

 protected:
  ~PieceSink() = default;
};

// Cuts a text by hand: one scan, much faster than patterns. Takes any bytes: what is no UTF-8 is a character
// of no class, one per maximal invalid part.
using PieceScanner = void (*)(std::string_view text, PieceSink& sink);

}  // namespace reprise
