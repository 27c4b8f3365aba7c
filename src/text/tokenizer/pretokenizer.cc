// The table of pre-tokenizers: a new one is one entry (names, chain), and a scanner if it is to be fast.
#include "text/tokenizer/pretokenizer.h"

#include <algorithm>
#include <array>

#include "text/tokenizer/deepseek_classes.h"
#include "text/tokenizer/regex_chain.h"
#include "text/tokenizer/scanners.h"

namespace reprise {
namespace {

using std::string_view;
using Chain = std::vector<std::string>;

// "[first-last...]" of the ranges.
std::string char_set(std::span<const CodePointRange> ranges) {
  std::string set = "[";
  for (const CodePointRange& range : ranges)
    set += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", range.first, range.last);
  return set + "]";
}

constexpr string_view kGpt2Names[] = {"gpt-2",    "phi-2",   "mpt",      "olmo",   "jais",
                                      "trillion", "exaone4", "gigachat", "mellum", "granite-docling"};
constexpr string_view kSmollmNames[] = {"smollm",    "starcoder", "refact",    "command-r",
                                        "codeshell", "exaone",    "minerva-7b"};
constexpr string_view kLlama3Names[] = {"llama-bpe", "llama3",   "llama-v3", "falcon3", "falcon-h1",
                                        "pixtral",   "midm-2.0", "lfm2",     "glm4"};
constexpr string_view kLlama3MergingNames[] = {"dbrx", "smaug-bpe", "chatglm-bpe"};
constexpr string_view kQwen2Names[] = {"qwen2",  "stablelm2", "deepseek-r1-qwen",
                                       "megrez", "hunyuan",   "grok-2"};
constexpr string_view kDeepseekLlmNames[] = {"deepseek-llm"};
constexpr string_view kDeepseekCoderNames[] = {"deepseek-coder"};
constexpr string_view kDeepseekV3Names[] = {"deepseek-v3", "hunyuan-dense"};
constexpr string_view kGpt4oNames[] = {"gpt-4o", "llama4"};
constexpr string_view kTekkenNames[] = {"tekken"};

const std::string kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// GPT-4's pattern and its kin; %s is the run of digits.
std::string gpt4(string_view digits) {
  return fmt::format(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      digits);
}
// Words split before capitals, as GPT-4o does; `suffix` may take a contraction along.
std::string cased(string_view suffix, string_view digits) {
  const string_view head = R"([^\r\n\p{L}\p{N}]?)";
  const string_view upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])";
  const string_view lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";
  return fmt::format(
      R"({0}{1}*{2}+{3}|{0}{1}+{2}*{3}|{4}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)", head,
      upper, lower, suffix, digits);
}

const Chain kGpt2Chain = {kGpt2};
const Chain kSmollmChain = {R"(\p{N})", kGpt2};
const Chain kLlama3Chain = {gpt4(R"(\p{N}{1,3})")};
const Chain kQwen2Chain = {gpt4(R"(\p{N})")};
const Chain kDeepseekLlmChain = {R"([\r\n])",
                                 R"(\s?)" + char_set(kDeepseekWordRanges) + "+",
                                 R"(\s?)" + char_set(kDeepseekMarkRanges) + "+",
                                 R"(\s+$)",
                                 char_set(kDeepseekIdeoRanges) + "+",
                                 R"(\p{N})"};
const Chain kDeepseekCoderChain = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                   char_set(kDeepseekIdeoRanges) + "+", R"(\p{N})"};
const Chain kDeepseekV3Chain = {
    R"(\p{N}{1,3})", R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
const Chain kGpt4oChain = {cased("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", R"(\p{N}{1,3})")};
const Chain kTekkenChain = {cased("", R"(\p{N})")};

const std::array kSpecs = {
    PretokenizerSpec{kGpt2Names, kGpt2Chain, scan_gpt2},
    PretokenizerSpec{kSmollmNames, kSmollmChain, scan_smollm},
    PretokenizerSpec{kLlama3Names, kLlama3Chain, scan_llama3, true},
    PretokenizerSpec{kLlama3MergingNames, kLlama3Chain, scan_llama3},
    PretokenizerSpec{kQwen2Names, kQwen2Chain, scan_qwen2},
    PretokenizerSpec{kDeepseekLlmNames, kDeepseekLlmChain, scan_deepseek_llm},
    PretokenizerSpec{kDeepseekCoderNames, kDeepseekCoderChain, scan_deepseek_coder},
    PretokenizerSpec{kDeepseekV3Names, kDeepseekV3Chain},
    PretokenizerSpec{kGpt4oNames, kGpt4oChain},
    PretokenizerSpec{kTekkenNames, kTekkenChain, nullptr, true},
};

}  // namespace

std::span<const PretokenizerSpec> pretokenizer_specs() { return kSpecs; }

Result<Pretokenizer> Pretokenizer::create(std::string_view name) {
  for (const PretokenizerSpec& spec : kSpecs) {
    if (std::ranges::find(spec.names, name) == spec.names.end()) continue;
    Pretokenizer made(spec);
    if (spec.scanner == nullptr)
      made.chain_ = std::make_unique<RegexChain>(TRY(RegexChain::compile(spec.chain)));
    return made;
  }
  return fail(ErrorKind::kUnsupported,
              "pre-tokenizer \"{}\" (tokenizer.ggml.pre) is not known; use a model with a known one", name);
}

Pretokenizer::Pretokenizer(const PretokenizerSpec& spec) : spec_(&spec) {}
Pretokenizer::Pretokenizer(Pretokenizer&&) noexcept = default;
Pretokenizer::~Pretokenizer() = default;

void Pretokenizer::split(std::string_view text, PieceSink& sink) const {
  if (spec_->scanner != nullptr) {
    spec_->scanner(text, sink);
  } else {
    chain_->split(text, sink);
  }
}

}  // namespace reprise
