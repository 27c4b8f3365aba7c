// Decoding: turns the texts of tokens into the text they stand for, step by step, as the decoders of a
// tokenizer.json do.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

class Decoder {
 public:
  struct Step {
    std::function<void(std::vector<std::string>& texts)> all;  // of a whole sequence
    // Of one token in the middle of a sequence, whose bytes may end inside a character. None: the step, and
    // what follows it, concerns the whole text only.
    std::function<void(std::string& text)> middle;
  };

  Decoder() = default;
  explicit Decoder(std::vector<Step> steps) : steps_(std::move(steps)) {}

  // Any thread.
  std::string operator()(std::vector<std::string> texts) const {
    for (const Step& step : steps_) step.all(texts);
    std::string text;
    for (const std::string& part : texts) text += part;
    return text;
  }
  std::string middle(std::string text) const {
    for (const Step& step : steps_) {
      if (!step.middle) break;
      step.middle(text);
    }
    return text;
  }

 private:
  std::vector<Step> steps_;
};

namespace decode {

Decoder::Step byte_level();  // GPT-2's byte letters back to bytes; a text that has other characters stays
Decoder::Step replace(std::function<void(std::string& text)> replace);  // within each text
// <0x0A> back to bytes; in a run of them that is no UTF-8 each one becomes U+FFFD.
Decoder::Step byte_fallback();
Decoder::Step fuse();  // all texts become one
// At most `left` and `right` times `character` off the ends of each text.
Decoder::Step strip(std::string character, size_t left, size_t right);
Decoder::Step metaspace(std::string replacement, bool drop_first);  // spaces back; in the first text none
Decoder::Step word_suffix(std::string suffix);                      // a space for it, but at the end
// A space before each text but the first, or its prefix off; then English punctuation closed up, if `clean`.
Decoder::Step word_pieces(std::string prefix, bool clean);
Decoder::Step join_with_spaces();  // what the library does where a tokenizer has no decoder

}  // namespace decode
}  // namespace reprise
