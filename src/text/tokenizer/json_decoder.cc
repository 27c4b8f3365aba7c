#include "text/tokenizer/json_parts.h"

namespace reprise {
namespace {

using Steps = std::vector<Decoder::Step>;

Result<size_t> count(const JsonNode& node) {
  const int64_t number = TRY(node.integer());
  if (number < 0) return invalid("{} is negative", node.place());
  return static_cast<size_t>(number);
}

Result<Decoder::Step> one(const JsonNode& node, std::string_view type) {
  if (type == "ByteLevel") return decode::byte_level();
  if (type == "ByteFallback") return decode::byte_fallback();
  if (type == "Fuse") return decode::fuse();
  if (type == "Strip")
    return decode::strip(std::string(TRY(node["content"].string())), TRY(count(node["start"])),
                         TRY(count(node["stop"])));
  if (type == "Replace") return decode::replace(TRY(read_replace(node)));
  if (type == "Metaspace") {
    const bool prefix = TRY(node["add_prefix_space"].boolean_or(true));
    const bool never = TRY(node["prepend_scheme"].string_or("always")) == "never";
    std::string replacement(TRY(node["replacement"].string()));
    if (replacement.empty()) return invalid("{}.replacement is empty", node.place());
    return decode::metaspace(std::move(replacement), prefix && !never);
  }
  if (type == "BPEDecoder") {
    std::string suffix(TRY(node["suffix"].string()));
    if (suffix.empty()) return invalid("{}.suffix is empty", node.place());
    return decode::word_suffix(std::move(suffix));
  }
  if (type == "WordPiece")
    return decode::word_pieces(std::string(TRY(node["prefix"].string())),
                               TRY(node["cleanup"].boolean_or(true)));
  return fail(ErrorKind::kUnsupported, "{}: the decoder \"{}\" is not known", node.place(), type);
}

Result<void> append(const JsonNode& node, Steps& steps, int depth) {
  const std::string_view type = TRY(node["type"].string());
  if (type != "Sequence") {
    steps.push_back(TRY(one(node, type)));
    return {};
  }
  if (depth > 8) return invalid("{} is nested too deep", node.place());
  const JsonNode list = node["decoders"];
  for (size_t i = 0; i < TRY(list.array())->size(); ++i) TRY(append(list.at(i), steps, depth + 1));
  return {};
}

}  // namespace

Result<std::vector<Decoder::Step>> read_decoder(const JsonNode& node) {
  Steps steps;
  if (node.is_null()) {
    steps.push_back(decode::join_with_spaces());
  } else {
    TRY(append(node, steps, 0));
  }
  return steps;
}

}  // namespace reprise
