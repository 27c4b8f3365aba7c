// A tokenizer's stages from a Hugging Face folder's tokenizer.json and tokenizer_config.json.
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/tokenizer/pipeline_tokenizer.h"

namespace reprise {

// Gives what the `tokenizers` library gives for the same file: models BPE and Unigram, and every normalizer,
// pre-tokenizer, post-processor and decoder but CTC and UnicodeScripts. The post-processor's tokens before
// and after a text are what add_bos_eos adds. `config` may be empty; it says which tokens are bos and eos,
// may add tokens, and for the classes that build their own post-processor from add_bos_token and
// add_eos_token (Llama's and its kin) says what is added. `chat_template` may be empty; tokens that it writes
// are control tokens (control_tokens.h). Errors: kInvalid names the place in the file, kUnsupported the type
// that is not known.
Result<PipelineTokenizer::Stages> json_stages(std::string_view tokenizer, std::string_view config,
                                              std::string_view chat_template);

}  // namespace reprise
