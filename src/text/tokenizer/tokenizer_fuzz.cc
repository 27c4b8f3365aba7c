// Any bytes, any pre-tokenizer: tokens give back the text (its composed form, where the vocabulary has text
// in that), every id is valid, a second encoding (from the cache) is the same, and the detokenizer's text
// does not depend on the chunking. The first byte chooses the pre-tokenizer.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/detokenizer.h"
#include "text/tokenizer/pretokenizer_table.h"
#include "text/tokenizer/small_vocabulary_for_test.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/unicode_form.h"
#include "text/utf8.h"

namespace reprise {
namespace {

struct Kind {
  std::unique_ptr<Tokenizer> tokenizer;
  bool composes;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> made;
    const auto make = [&](std::string_view name) {
      made.push_back({Tokenizer::create(small_vocabulary(std::string(name))).value(), wants_nfc(name)});
    };
    for (const PretokenizerSpec& spec : pretokenizer_specs()) make(spec.names[0]);
    make("olmo");  // composes, unlike the first of its spec
    return made;
  }();
  return all;
}

std::string composed(std::string_view text) {
  return normalize::in_form(as_utf8(text), normalize::Form::kNfc);
}

std::string detokenized(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens) {
  Detokenizer detokenizer(tokenizer);
  std::string text;
  for (const TokenId token : tokens) text += detokenizer.push(token);
  return text + detokenizer.finish();
}

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace reprise;
  if (size == 0) return 0;
  const Kind& kind = kinds()[data[0] % kinds().size()];
  const Tokenizer& tokenizer = *kind.tokenizer;
  // Stretches between added tokens are composed one by one: the whole of them may compose further.
  const auto same = [&](std::string_view a, std::string_view b) {
    return kind.composes ? composed(a) == composed(b) : a == b;
  };
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);

  const EncodeOptions plain{.parse_special = false};
  const std::vector<TokenId> tokens = tokenizer.encode(text, plain);
  const std::string back = tokenizer.decode(tokens);
  CHECK(same(back, text), "decode(encode(text)) is another text");
  CHECK(tokenizer.encode(text, plain) == tokens, "the second encoding differs");
  std::vector<TokenId> single_bytes;  // the first 256 tokens are the bytes in order
  for (const char c : back) single_bytes.push_back(static_cast<uint8_t>(c));
  CHECK(detokenized(tokenizer, tokens) == detokenized(tokenizer, single_bytes),
        "the text depends on the chunking");

  const std::vector<TokenId> special = tokenizer.encode(text, {.parse_special = true, .add_bos_eos = true});
  for (const TokenId token : special)
    CHECK(token >= 0 && static_cast<size_t>(token) < tokenizer.size(), "id {}", token);
  const std::string whole = tokenizer.decode(special, true);
  CHECK(same(whole, "<s>" + std::string(text) + "</s>"), "special tokens lose text");
  return 0;
}
