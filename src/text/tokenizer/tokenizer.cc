#include "text/tokenizer/tokenizer.h"

#include "text/tokenizer/gguf_stages.h"
#include "text/tokenizer/json_stages.h"

namespace reprise {

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(const Vocabulary& vocabulary) {
  const auto make = [&]() -> Result<PipelineTokenizer::Stages> {
    if (!vocabulary.tokenizer_json.empty())
      return json_stages(vocabulary.tokenizer_json, vocabulary.tokenizer_config_json,
                         vocabulary.chat_template);
    const std::string& model = vocabulary.model;
    const std::string& pre = vocabulary.pre;
    if (model == "gemma4" || (model == "gpt2" && (pre == "gemma4" || pre == "sarvam-moe")))
      return character_bpe_stages(vocabulary);
    if (model == "gpt2") return byte_level_bpe_stages(vocabulary);
    if (model == "llama") return sentencepiece_bpe_stages(vocabulary);
    if (model == "t5") return sentencepiece_unigram_stages(vocabulary);
    return fail(ErrorKind::kUnsupported,
                "tokenizer model \"{}\" (tokenizer.ggml.model) is not known; use a model with byte-level BPE "
                "(\"gpt2\") or SentencePiece (\"llama\", \"t5\", \"gemma4\")",
                vocabulary.model);
  };
  return std::make_unique<PipelineTokenizer>(TRY(make()));
}

std::string Tokenizer::decode(TokenSpan tokens, bool with_hidden) const {
  std::string text;
  for (const TokenId token : tokens) {
    if (with_hidden || !is_hidden(token)) text += bytes(token);
  }
  return text;
}

}  // namespace reprise
