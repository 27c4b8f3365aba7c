// A new pre-tokenizer is one entry (names, chain), and a scanner if it is to be fast. The patterns are those
// of the models' own tokenizer.json. Names and which share a pattern: llama.cpp's GGUF files.
#include "text/tokenizer/pretokenizer_table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "text/tokenizer/deepseek_classes.h"
#include "text/tokenizer/scanners.h"
#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

namespace reprise {
namespace {

using std::string_view;
using Chain = std::vector<std::string>;

// "[first-last...]" of the ranges, written out as in the models' files.
std::string char_set(std::span<const CodePointRange> ranges) {
  std::string set = "[";
  for (const CodePointRange& range : ranges) {
    append_utf8(set, range.first);
    if (range.first == range.last) continue;
    set += '-';
    append_utf8(set, range.last);
  }
  return set + "]";
}

struct Escaped {
  uint32_t code_point;
  size_t length;
};
// Of \x{HHHH} or \uHHHH at the start of `text`, unless it is ASCII, which may mean something by itself.
std::optional<Escaped> escaped_character(string_view text) {
  size_t begin = 2;
  size_t end = 6;
  if (text.starts_with("\\x{")) {
    begin = 3;
    end = text.find('}');
    if (end == string_view::npos) return std::nullopt;
  } else if (!text.starts_with("\\u") || text.size() < end) {
    return std::nullopt;
  }
  uint32_t code_point = 0;
  const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, code_point, 16);
  if (error != std::errc() || stop != text.data() + end || code_point < 0x80 || code_point > 0x10FFFF)
    return std::nullopt;
  return Escaped{code_point, text[1] == 'x' ? end + 1 : end};
}

// The pattern with characters that may be escaped in one way: some files have `\r` and `\x{4e00}`, others the
// characters themselves.
std::string spelled(string_view pattern) {
  std::string out;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '\r' || c == '\n') {
      out += c == '\r' ? "\\r" : "\\n";
      ++at;
    } else if (c != '\\' || at + 1 == pattern.size()) {
      out += c;
      ++at;
    } else if (const auto escaped = escaped_character(pattern.substr(at)); escaped) {
      append_utf8(out, escaped->code_point);
      at += escaped->length;
    } else {
      out += pattern.substr(at, 2);
      at += 2;
    }
  }
  return out;
}

constexpr string_view kGpt2Names[] = {
    "gpt-2",      "phi-2",      "mpt",          "olmo",        "jais",           "trillion", "exaone4",
    "gigachat",   "mellum",     "a.x-4.0",      "modern-bert", "jina-es",        "jina-de",  "jina-v2-es",
    "jina-v2-de", "jina-v1-en", "jina-v2-code", "roberta-bpe", "granite-docling"};
constexpr string_view kSmollmNames[] = {"smollm",    "starcoder", "refact",     "command-r",
                                        "codeshell", "exaone",    "minerva-7b", "mellum2"};
constexpr string_view kLlama3Names[] = {"llama-bpe", "llama3",   "llama-v3", "falcon3",      "falcon-h1",
                                        "pixtral",   "midm-2.0", "lfm2",     "jina-v5-nano", "glm4"};
constexpr string_view kLlama3MergingNames[] = {"dbrx", "smaug-bpe", "chatglm-bpe"};
constexpr string_view kQwen2Names[] = {"qwen2",  "stablelm2", "deepseek-r1-qwen", "megrez",    "hunyuan",
                                       "grok-2", "kormo",     "f2llmv2",          "solar-open"};
constexpr string_view kDeepseekLlmNames[] = {"deepseek-llm"};
constexpr string_view kDeepseekCoderNames[] = {"deepseek-coder"};
constexpr string_view kDeepseekV3Names[] = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"};
constexpr string_view kGpt4oNames[] = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"};
constexpr string_view kGraniteMultiNames[] = {"granite-embed-multi-97m"};
constexpr string_view kTekkenNames[] = {"tekken"};
constexpr string_view kQwen35Names[] = {"qwen35"};
constexpr string_view kTinyAyaNames[] = {"tiny_aya", "cohere2moe"};
constexpr string_view kKimiNames[] = {"kimi-k2"};
constexpr string_view kSuperBpeNames[] = {"superbpe"};
constexpr string_view kBailingNames[] = {"bailingmoe", "bailingmoe2", "llada-moe"};
constexpr string_view kSeedCoderNames[] = {"seed-coder"};
constexpr string_view kUfakzekaNames[] = {"ufakzeka"};
constexpr string_view kExaoneMoeNames[] = {"exaone-moe"};
constexpr string_view kJais2Names[] = {"jais-2"};
constexpr string_view kYoutuNames[] = {"youtu"};
constexpr string_view kSparkNames[] = {"spark2_5"};
constexpr string_view kMinicpm5Names[] = {"minicpm5"};
constexpr string_view kLagunaNames[] = {"laguna"};
constexpr string_view kFalconNames[] = {"falcon"};
constexpr string_view kBloomNames[] = {"bloom", "poro-chat", "gpt3-finnish"};
constexpr string_view kVikingNames[] = {"viking"};
constexpr string_view kChameleonNames[] = {"chameleon"};
constexpr string_view kAfmoeNames[] = {"afmoe"};
constexpr string_view kDefaultNames[] = {"default"};

// The tokenizers of Qwen and of GPT-NeoX. Others that share their patterns have no normalizer, or none is
// known.
constexpr string_view kNfcNames[] = {"qwen2", "qwen35", "olmo", "mpt"};

const std::string kContractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const std::string kGpt2(kGpt2Pattern);
// GPT-4's pattern and its kin; `digits` is the run of digits.
std::string gpt4(string_view digits) {
  return fmt::format(
      R"({}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      kContractions, digits);
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
const std::string kAsciiWord = R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)";
// DeepSeek-V3's words, by what follows punctuation.
std::string deepseek_v3(string_view after_marks) {
  return fmt::format(
      R"({}|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+{}|\s+(?!\S)|\s+)", kAsciiWord,
      after_marks);
}
const std::string kKana = "[一-龥\u3040-ゟ゠-ヿ]+";
const std::string kNotMarks = R"( ?[^(\s|[.,!?…。，、।۔،])]+)";

const Chain kGpt2Chain = {kGpt2};
const std::string kDigits(kLibraryDigit);
const Chain kSmollmChain = {kDigits, kGpt2};
const Chain kLlama3Chain = {gpt4(R"(\p{N}{1,3})")};
const Chain kQwen2Chain = {gpt4(R"(\p{N})")};
const Chain kDeepseekLlmChain = {R"([\r\n])",
                                 R"(\s?)" + char_set(kDeepseekWordRanges) + "+",
                                 R"(\s?)" + char_set(kDeepseekMarkRanges) + "+",
                                 R"(\s+$)",
                                 char_set(kDeepseekIdeoRanges) + "+",
                                 kDigits};
const Chain kDeepseekCoderChain = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                   char_set(kDeepseekIdeoRanges) + "+", kDigits};
const Chain kDeepseekV3Chain = {R"(\p{N}{1,3})", kKana, deepseek_v3(R"([\r\n]*|\s*[\r\n]+)")};
const Chain kGpt4oChain = {cased(kContractions + "?", R"(\p{N}{1,3})")};
const Chain kTekkenChain = {cased("", R"(\p{N})")};
const Chain kQwen35Chain = {
    kContractions +
    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
const Chain kTinyAyaChain = {R"(\d{1,3}(?=(?:\d{3})*\b))", cased(kContractions + "?", R"(\p{N}{1,3})")};
// Kimi K2's words are GPT-4o's without ideographs, which are runs of their own.
const Chain kKimiChain = {[] {
  const std::string head = R"([^\r\n\p{L}\p{N}]?)";
  const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])";
  const std::string lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])";
  const std::string end = kContractions + "?";
  return R"([\p{Han}]+|)" + head + upper + "*" + lower + "+" + end + "|" + head + upper + "+" + lower + "*" +
         end + R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}()};
const Chain kSuperBpeChain = {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"};
const Chain kBailingChain = {
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"};
const Chain kSeedCoderChain = {
    kContractions + R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"};
const Chain kUfakzekaChain = {
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
const Chain kExaoneMoeChain = {
    kContractions +
    R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
const Chain kJais2Chain = {
    kContractions +
    R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"};
const Chain kYoutuChain = {
    R"([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)",
    cased(kContractions + "?", R"(\p{N})")};
const Chain kSparkChain = {R"(\p{N}{1,3})", kKana, deepseek_v3(R"(|[\r\n])"), R"(\p{N})"};
const Chain kMinicpm5Chain = {R"(\p{N}{1,3})", gpt4(R"(\p{N}+)")};
const Chain kLagunaChain = {R"([^\n]+|[\n]+)", gpt4(R"(\p{N})")};
const Chain kFalconChain = {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2, "[0-9][0-9][0-9]"};
const Chain kBloomChain = {kNotMarks};
const Chain kVikingChain = {kNotMarks, R"(\p{N})"};
const Chain kChameleonChain = {"<sentinel:[0-9]+>",       "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                               R"(([\t\n]|    |  ))",     R"(\p{N})",
                               R"([\p{P}!-/:-@\[-`{-~])", kGpt2};
const Chain kAfmoeChain = {
    R"(\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?!\p{Nd})))",
    R"([一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)",
    deepseek_v3(R"([\r\n]*|\s*[\r\n]+)")};
// What files without a name mean.
const Chain kDefaultChain = {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"};

const std::array kSpecs = {
    PretokenizerSpec{kGpt2Names, kGpt2Chain, scan_gpt2},
    PretokenizerSpec{kSmollmNames, kSmollmChain, scan_smollm},
    PretokenizerSpec{kLlama3Names, kLlama3Chain, scan_llama3, true},
    PretokenizerSpec{kLlama3MergingNames, kLlama3Chain, scan_llama3},
    PretokenizerSpec{kQwen2Names, kQwen2Chain, scan_qwen2},
    PretokenizerSpec{kDeepseekLlmNames, kDeepseekLlmChain, scan_deepseek_llm},
    PretokenizerSpec{kDeepseekCoderNames, kDeepseekCoderChain, scan_deepseek_coder},
    PretokenizerSpec{kDeepseekV3Names, kDeepseekV3Chain, scan_deepseek_v3},
    PretokenizerSpec{kGpt4oNames, kGpt4oChain, scan_gpt4o},
    PretokenizerSpec{kGraniteMultiNames, kGpt4oChain, scan_gpt4o, true},
    PretokenizerSpec{kTekkenNames, kTekkenChain, scan_tekken, true},
    PretokenizerSpec{kQwen35Names, kQwen35Chain, scan_qwen35},
    PretokenizerSpec{kTinyAyaNames, kTinyAyaChain},
    PretokenizerSpec{kKimiNames, kKimiChain, scan_kimi_k2, true},
    PretokenizerSpec{kSuperBpeNames, kSuperBpeChain},
    PretokenizerSpec{kBailingNames, kBailingChain},
    PretokenizerSpec{kSeedCoderNames, kSeedCoderChain},
    PretokenizerSpec{kUfakzekaNames, kUfakzekaChain},
    PretokenizerSpec{kExaoneMoeNames, kExaoneMoeChain},
    PretokenizerSpec{kJais2Names, kJais2Chain, scan_jais2},
    PretokenizerSpec{kYoutuNames, kYoutuChain, nullptr, true},
    PretokenizerSpec{kSparkNames, kSparkChain},
    PretokenizerSpec{kMinicpm5Names, kMinicpm5Chain, nullptr, true},
    PretokenizerSpec{kLagunaNames, kLagunaChain},
    PretokenizerSpec{kFalconNames, kFalconChain},
    PretokenizerSpec{kBloomNames, kBloomChain},
    PretokenizerSpec{kVikingNames, kVikingChain},
    PretokenizerSpec{kChameleonNames, kChameleonChain},
    PretokenizerSpec{kAfmoeNames, kAfmoeChain},
    PretokenizerSpec{kDefaultNames, kDefaultChain},
};

}  // namespace

std::span<const PretokenizerSpec> pretokenizer_specs() { return kSpecs; }

Result<const PretokenizerSpec*> find_pretokenizer(std::string_view name) {
  for (const PretokenizerSpec& spec : kSpecs)
    if (std::ranges::find(spec.names, name) != spec.names.end()) return &spec;
  return fail(ErrorKind::kUnsupported,
              "pre-tokenizer \"{}\" (tokenizer.ggml.pre) is not known; use a model with a known one", name);
}

bool wants_nfc(std::string_view name) { return std::ranges::find(kNfcNames, name) != std::end(kNfcNames); }

Result<Pretokenizer> chain_pretokenizer(std::span<const std::string> chain) {
  for (const PretokenizerSpec& spec : kSpecs)
    if (spec.scanner != nullptr && std::ranges::equal(spec.chain, chain, {}, spelled, spelled))
      return Pretokenizer(spec.scanner);
  return Pretokenizer(TRY(RegexChain::compile(chain)));
}

}  // namespace reprise
