// Normalization: rewrites text before it is cut into pieces, step by step, as the normalizers of a
// tokenizer.json do. Takes and gives valid UTF-8.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/regex.h"
#include "text/tokenizer/unicode_form.h"

namespace reprise {

class CharacterMap;

class Normalizer {
 public:
  using Step = std::function<void(std::string& text)>;  // any thread

  Normalizer() = default;  // leaves text as it is
  explicit Normalizer(std::vector<Step> steps) : steps_(std::move(steps)) {}
  bool empty() const { return steps_.empty(); }
  std::string operator()(std::string_view text) const {
    std::string normalized(text);
    for (const Step& step : steps_) step(normalized);
    return normalized;
  }

 private:
  std::vector<Step> steps_;
};

namespace normalize {

Normalizer::Step prepend(std::string prefix);                // before text that is not empty
Normalizer::Step replace(std::string from, std::string to);  // each occurrence; `from` is not empty
Normalizer::Step replace(Regex pattern, std::string to);     // each match

Normalizer::Step unicode(Form form);
Normalizer::Step lowercase();                   // character by character
Normalizer::Step strip_accents();               // drops combining marks
Normalizer::Step strip(bool left, bool right);  // whitespace
Normalizer::Step nmt();                         // SentencePiece's clean-up: control characters, odd spaces
Normalizer::Step byte_letters();                // each byte becomes its GPT-2 letter

struct Bert {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};
Normalizer::Step bert(Bert options);

// SentencePiece's own normalizer: the longest match of the map at each place, then spaces: runs become one
// and none stay at the ends if `merge_spaces`, one is put before the text if `prefix_space`, all become
// U+2581.
Normalizer::Step sentencepiece(std::shared_ptr<const CharacterMap> map, bool merge_spaces, bool prefix_space);
// The same map as Hugging Face's library applies it: to grapheme clusters of less than six bytes, and else
// to characters; the shortest match counts.
Normalizer::Step precompiled(std::shared_ptr<const CharacterMap> map);

}  // namespace normalize
}  // namespace reprise
