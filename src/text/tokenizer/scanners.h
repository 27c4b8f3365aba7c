// Pre-tokenizer patterns by hand: finite-state scans over bytes, ASCII first, other characters by
// char_classes() or fine_classes(). Each cuts exactly like the chain of its entry in pretokenizer_table.cc;
// pretokenizer_test.cc holds them to it.
#pragma once

#include <string_view>

#include "text/tokenizer/piece_sink.h"

namespace reprise {

void scan_gpt2(std::string_view text, PieceSink& sink);
void scan_smollm(std::string_view text, PieceSink& sink);
void scan_llama3(std::string_view text, PieceSink& sink);
void scan_jais2(std::string_view text, PieceSink& sink);
void scan_qwen2(std::string_view text, PieceSink& sink);
void scan_qwen35(std::string_view text, PieceSink& sink);
void scan_gpt4o(std::string_view text, PieceSink& sink);
void scan_tekken(std::string_view text, PieceSink& sink);
void scan_kimi_k2(std::string_view text, PieceSink& sink);
void scan_deepseek_v3(std::string_view text, PieceSink& sink);
void scan_deepseek_llm(std::string_view text, PieceSink& sink);
void scan_deepseek_coder(std::string_view text, PieceSink& sink);

}  // namespace reprise
