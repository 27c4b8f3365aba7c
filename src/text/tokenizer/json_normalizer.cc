#include <array>

#include "text/tokenizer/character_map.h"
#include "text/tokenizer/json_parts.h"

namespace reprise {
namespace {

using Steps = std::vector<Normalizer::Step>;

// RFC 4648 with padding.
Result<std::string> from_base64(const JsonNode& node) {
  const std::string_view text = TRY(node.string());
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return invalid("{} is no base64", node.place());
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  return bytes;
}

Result<void> append(const JsonNode& node, Steps& steps, int depth);

Result<Normalizer::Step> one(const JsonNode& node, std::string_view type) {
  using normalize::Form;
  if (type == "NFC") return normalize::unicode(Form::kNfc);
  if (type == "NFD") return normalize::unicode(Form::kNfd);
  if (type == "NFKC") return normalize::unicode(Form::kNfkc);
  if (type == "NFKD") return normalize::unicode(Form::kNfkd);
  if (type == "Lowercase") return normalize::lowercase();
  if (type == "StripAccents") return normalize::strip_accents();
  if (type == "Nmt") return normalize::nmt();
  if (type == "ByteLevel") return normalize::byte_letters();
  if (type == "Strip")
    return normalize::strip(TRY(node["strip_left"].boolean()), TRY(node["strip_right"].boolean()));
  if (type == "Prepend") return normalize::prepend(std::string(TRY(node["prepend"].string())));
  if (type == "Replace") return read_replace(node);
  if (type == "BertNormalizer") {
    normalize::Bert bert;
    bert.clean_text = TRY(node["clean_text"].boolean());
    bert.handle_chinese_chars = TRY(node["handle_chinese_chars"].boolean());
    bert.lowercase = TRY(node["lowercase"].boolean());
    bert.strip_accents = TRY(node["strip_accents"].boolean_or(bert.lowercase));
    return normalize::bert(bert);
  }
  if (type == "Precompiled") {
    const std::string bytes = TRY(from_base64(node["precompiled_charsmap"]));
    return normalize::precompiled(std::make_shared<const CharacterMap>(TRY(CharacterMap::parse(bytes))));
  }
  return fail(ErrorKind::kUnsupported, "{}: the normalizer \"{}\" is not known", node.place(), type);
}

Result<void> append(const JsonNode& node, Steps& steps, int depth) {
  if (node.is_null()) return {};
  const std::string_view type = TRY(node["type"].string());
  if (type != "Sequence") {
    steps.push_back(TRY(one(node, type)));
    return {};
  }
  if (depth > 8) return invalid("{} is nested too deep", node.place());
  const JsonNode list = node["normalizers"];
  for (size_t i = 0; i < TRY(list.array())->size(); ++i) TRY(append(list.at(i), steps, depth + 1));
  return {};
}

}  // namespace

Result<Normalizer::Step> read_replace(const JsonNode& node) {
  std::string to(TRY(node["content"].string()));
  const JsonNode pattern = node["pattern"];
  if (const JsonNode text = pattern["String"]; !text.is_null()) {
    std::string from(TRY(text.string()));
    if (from.empty()) return invalid("{} is empty", text.place());
    return normalize::replace(std::move(from), std::move(to));
  }
  return normalize::replace(TRY(Regex::compile(TRY(pattern["Regex"].string()))), std::move(to));
}

Result<std::vector<Normalizer::Step>> read_normalizer(const JsonNode& node) {
  Steps steps;
  TRY(append(node, steps, 0));
  return steps;
}

}  // namespace reprise
