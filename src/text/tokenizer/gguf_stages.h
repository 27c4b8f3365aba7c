// A tokenizer's stages from the vocabulary of a GGUF file. Errors: kInvalid (broken), kUnsupported (names the
// pre-tokenizer).
#pragma once

#include "base/result.h"
#include "core/vocabulary.h"
#include "text/tokenizer/pipeline_tokenizer.h"

namespace reprise {

Result<PipelineTokenizer::Stages> byte_level_bpe_stages(const Vocabulary& vocabulary);
Result<PipelineTokenizer::Stages> sentencepiece_bpe_stages(const Vocabulary& vocabulary);
Result<PipelineTokenizer::Stages> sentencepiece_unigram_stages(const Vocabulary& vocabulary);
// SentencePiece's characters with listed merges: the tokenizer model "gemma4".
Result<PipelineTokenizer::Stages> character_bpe_stages(const Vocabulary& vocabulary);

}  // namespace reprise
