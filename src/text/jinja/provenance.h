// Who wrote a text: the template or its input. Chat templates put control tokens around what users say; only
// those that the template itself wrote may become tokens, so every byte of the output must know its writer.
//
// Provenance is a property of memory, not of values. The template's source (and what its string literals
// decode to) is its own; the caller's JSON is not; the heap of a render remembers which stretches of the
// texts built there were copied from text of the template's own. Operations that give views (strip, split,
// slices) need to do nothing, and one that builds text in a way nobody thought of here yields text that is
// not the template's: the safe side.
#pragma once

#include <string_view>
#include <vector>

#include "text/marked_text.h"

namespace reprise::jinja {

class Provenance {
 public:
  // Memory that is the template's own from end to end. It outlives this object.
  void trust(std::string_view memory);
  // Memory that texts will be built in. Neither overlaps other memory given here.
  void add_block(const char* begin, const char* end);
  // `text`, inside a block, is the template's own.
  void mark(std::string_view text);
  // Appends to `spans` the parts of `text` that are the template's own, as offsets plus `offset`.
  void own_parts(std::string_view text, size_t offset, std::vector<TextSpan>& spans) const;
  // Whether all of it is; an empty text is.
  bool is_own(std::string_view text) const;

 private:
  struct Run {
    const char* begin;
    const char* end;
  };
  struct Block {
    const char* begin;
    const char* end;
    std::vector<Run> own;  // by rising address, none touching the next
  };
  const Block* block_of(const char* p) const;

  std::vector<Block> blocks_;  // by rising address
};

}  // namespace reprise::jinja
