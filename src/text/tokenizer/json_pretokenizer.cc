// Design: the steps are read into a flat list. If all of them only isolate matches of patterns, the list is a
// chain that a scanner or RegexChain runs (and takes any bytes); otherwise each becomes a step.
#include <algorithm>

#include "text/tokenizer/char_class.h"
#include "text/tokenizer/json_parts.h"
#include "text/tokenizer/pretokenizer_table.h"
#include "text/tokenizer/scanners.h"
#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

namespace reprise {
namespace {

using pretokenize::Behavior;

struct Item {
  std::optional<std::string> isolated;  // a pattern whose matches are isolated, if that is all
  Pretokenizer::Step step;
  bool byte_letters = false;  // ByteLevel's last act
};

// Runs of word characters as Rust has them (with the two joiners), and of what is neither that nor space.
const std::string kWords = R"([\w\x{200C}\x{200D}]+|[^\w\x{200C}\x{200D}\s]+)";

bool is_digit(uint32_t c) { return (char_classes()[c] & kDigit) != 0; }
bool is_punctuation(uint32_t c) {
  const bool ascii_symbol = c == '$' || c == '+' || c == '<' || c == '=' || c == '>' || c == '^' ||
                            c == '`' || c == '|' || c == '~';
  return ascii_symbol || is_library_punctuation(c);
}

Result<Behavior> behavior(const JsonNode& node) {
  const std::string_view name = TRY(node.string());
  if (name == "Isolated" || name == "isolated") return Behavior::kIsolated;
  if (name == "Removed" || name == "removed") return Behavior::kRemoved;
  if (name == "MergedWithPrevious" || name == "merged_with_previous") return Behavior::kMergedWithPrevious;
  if (name == "MergedWithNext" || name == "merged_with_next") return Behavior::kMergedWithNext;
  if (name == "Contiguous" || name == "contiguous") return Behavior::kContiguous;
  return invalid("{}: \"{}\" is no behaviour", node.place(), name);
}

Result<std::string> one_character(const JsonNode& node) {
  const std::string_view text = TRY(node.string());
  if (text.empty() || utf8_step(text.data(), text.data() + text.size()).length != text.size())
    return invalid("{} is not one character", node.place());
  return std::string(text);
}

Result<Item> split(const JsonNode& node) {
  const Behavior kind = TRY(behavior(node["behavior"]));
  const bool invert = TRY(node["invert"].boolean_or(false));
  const JsonNode literal = node["pattern"]["String"];
  Item item;
  if (!literal.is_null()) {
    const std::string_view text = TRY(literal.string());
    if (text.empty()) return invalid("{} is empty", literal.place());
    item.step = pretokenize::split(Regex::literal(text), kind, invert);
    return item;
  }
  const std::string pattern(TRY(node["pattern"]["Regex"].string()));
  item.step = pretokenize::split(TRY(Regex::compile(pattern)), kind, invert);
  if (kind == Behavior::kIsolated) item.isolated = pattern;  // inverted or not
  return item;
}

Result<Item> metaspace(const JsonNode& node) {
  using pretokenize::Prepend;
  const std::string_view scheme = TRY(node["prepend_scheme"].string_or("always"));
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return invalid("{}.prepend_scheme: \"{}\" is none", node.place(), scheme);
  Prepend prepend = scheme == "always"  ? Prepend::kAlways
                    : scheme == "first" ? Prepend::kFirst
                                        : Prepend::kNever;
  if (!TRY(node["add_prefix_space"].boolean_or(true))) prepend = Prepend::kNever;
  Item item;
  item.step = pretokenize::metaspace(TRY(one_character(node["replacement"])), prepend,
                                     TRY(node["split"].boolean_or(true)));
  return item;
}

Result<void> append(const JsonNode& node, std::vector<Item>& items, int depth) {
  const std::string_view type = TRY(node["type"].string());
  if (type == "Sequence") {
    if (depth > 8) return invalid("{} is nested too deep", node.place());
    const JsonNode list = node["pretokenizers"];
    for (size_t i = 0; i < TRY(list.array())->size(); ++i) TRY(append(list.at(i), items, depth + 1));
    return {};
  }
  const auto add = [&items](Pretokenizer::Step step, std::optional<std::string> isolated = {},
                            bool byte_letters = false) {
    items.push_back({std::move(isolated), std::move(step), byte_letters});
  };
  if (type == "Split") {
    items.push_back(TRY(split(node)));
  } else if (type == "ByteLevel") {
    if (TRY(node["add_prefix_space"].boolean())) add(pretokenize::prefix_space());
    if (TRY(node["use_regex"].boolean_or(true))) add(pretokenize::scan(scan_gpt2), std::string(kGpt2Pattern));
    add(pretokenize::byte_letters(), {}, true);
  } else if (type == "Metaspace") {
    items.push_back(TRY(metaspace(node)));
  } else if (type == "Digits") {
    const bool individual = TRY(node["individual_digits"].boolean());
    add(pretokenize::split(is_digit, individual ? Behavior::kIsolated : Behavior::kContiguous),
        std::string(kLibraryDigit) + (individual ? "" : "+"));
  } else if (type == "Punctuation") {
    const JsonNode kind = node["behavior"];
    add(pretokenize::split(is_punctuation, kind.is_null() ? Behavior::kIsolated : TRY(behavior(kind))));
  } else if (type == "Whitespace") {
    add(pretokenize::split(TRY(Regex::compile(kWords)), Behavior::kRemoved, true));
  } else if (type == "WhitespaceSplit") {
    add(pretokenize::split(is_space, Behavior::kRemoved));
  } else if (type == "BertPreTokenizer") {
    add(pretokenize::split(is_space, Behavior::kRemoved));
    add(pretokenize::split(is_punctuation, Behavior::kIsolated));
  } else if (type == "CharDelimiterSplit" || type == "Delimiter") {
    add(pretokenize::split(Regex::literal(TRY(one_character(node["delimiter"]))), Behavior::kRemoved));
  } else if (type == "FixedLength") {
    const JsonNode length = node["length"];
    const int64_t characters = length.is_null() ? 5 : TRY(length.integer());
    if (characters < 1) return invalid("{} is not positive", length.place());
    add(pretokenize::fixed_length(static_cast<size_t>(characters)));
  } else {
    return fail(ErrorKind::kUnsupported, "{}: the pre-tokenizer \"{}\" is not known", node.place(), type);
  }
  return {};
}

}  // namespace

Result<JsonPretokenizer> read_pretokenizer(const JsonNode& node, bool bytes) {
  std::vector<Item> items;
  if (!node.is_null()) TRY(append(node, items, 0));
  JsonPretokenizer made;
  const bool letters_last =
      !items.empty() && items.back().byte_letters && std::ranges::count_if(items, &Item::byte_letters) == 1;
  if (bytes && letters_last) {
    made.byte_level = true;
    items.pop_back();
  }
  std::vector<std::string> chain;
  for (const Item& item : items)
    if (item.isolated) chain.push_back(*item.isolated);
  if (items.empty()) return made;
  if (chain.size() == items.size()) {
    made.pretokenizer = TRY(chain_pretokenizer(chain));
  } else {
    std::vector<Pretokenizer::Step> steps;
    for (Item& item : items) steps.push_back(std::move(item.step));
    made.pretokenizer = Pretokenizer(std::move(steps));
  }
  return made;
}

}  // namespace reprise
