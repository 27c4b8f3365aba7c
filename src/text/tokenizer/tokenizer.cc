#include "text/tokenizer/tokenizer.h"

#include "text/tokenizer/bpe_tokenizer.h"

namespace reprise {

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(const Vocabulary& vocabulary) {
  if (vocabulary.model == "gpt2") return BpeTokenizer::create(vocabulary);
  return fail(ErrorKind::kUnsupported,
              "tokenizer model \"{}\" (tokenizer.ggml.model) is not known; use a model with byte-level BPE "
              "(\"gpt2\")",
              vocabulary.model);
}

std::string Tokenizer::decode(TokenSpan tokens, bool with_control) const {
  std::string text;
  for (const TokenId token : tokens) {
    if (with_control || !is_control(token)) text += bytes(token);
  }
  return text;
}

}  // namespace reprise
