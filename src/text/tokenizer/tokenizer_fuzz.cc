// Any bytes, any pre-tokenizer: tokens give back the text, every id is valid, a second encoding (from the
// cache) is the same, and the detokenizer's text does not depend on the chunking. The first byte chooses the
// pre-tokenizer.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/detokenizer.h"
#include "text/tokenizer/pretokenizer_table.h"
#include "text/tokenizer/small_vocabulary_for_test.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {
namespace {

const std::vector<std::unique_ptr<Tokenizer>>& tokenizers() {
  static const std::vector<std::unique_ptr<Tokenizer>> all = [] {
    std::vector<std::unique_ptr<Tokenizer>> made;
    for (const PretokenizerSpec& spec : pretokenizer_specs()) {
      made.push_back(Tokenizer::create(small_vocabulary(std::string(spec.names[0]))).value());
    }
    return made;
  }();
  return all;
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
  const Tokenizer& tokenizer = *tokenizers()[data[0] % tokenizers().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);

  const EncodeOptions plain{.parse_special = false};
  const std::vector<TokenId> tokens = tokenizer.encode(text, plain);
  CHECK(tokenizer.decode(tokens) == text, "decode(encode(text)) is another text");
  CHECK(tokenizer.encode(text, plain) == tokens, "the second encoding differs");
  std::vector<TokenId> single_bytes;  // the first 256 tokens are the bytes in order
  for (const char c : text) single_bytes.push_back(static_cast<uint8_t>(c));
  CHECK(detokenized(tokenizer, tokens) == detokenized(tokenizer, single_bytes),
        "the text depends on the chunking");

  const std::vector<TokenId> special = tokenizer.encode(text, {.parse_special = true, .add_bos_eos = true});
  for (const TokenId token : special)
    CHECK(token >= 0 && static_cast<size_t>(token) < tokenizer.size(), "id {}", token);
  const std::string whole = tokenizer.decode(special, true);
  CHECK(whole == "<s>" + std::string(text) + "</s>", "special tokens lose text");
  return 0;
}
