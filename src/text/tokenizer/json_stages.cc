// Design: ids are the library's own: an added token that the model knows has the model's id, any other the
// next one that is free, whatever the file says; so a file that disagrees with itself is read as the library
// reads it. A BPE model whose pre-tokenizer ends in ByteLevel works on bytes instead of their letters.
#include "text/tokenizer/json_stages.h"

#include <algorithm>
#include <unordered_map>

#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/control_tokens.h"
#include "text/tokenizer/json_model.h"
#include "text/tokenizer/json_parts.h"

namespace reprise {
namespace {

namespace json = boost::json;

Result<AddedToken> read_added(const JsonNode& node) {
  AddedToken token;
  token.text = TRY(node["content"].string());
  token.hidden = TRY(node["special"].boolean_or(false));
  token.single_word = TRY(node["single_word"].boolean_or(false));
  token.lstrip = TRY(node["lstrip"].boolean_or(false));
  token.rstrip = TRY(node["rstrip"].boolean_or(false));
  token.normalized = TRY(node["normalized"].boolean_or(!token.hidden));
  return token;
}

// In the order of their ids, those of the config that tokenizer.json lacks last.
Result<std::vector<AddedToken>> read_added_tokens(const JsonNode& tokenizer, const JsonNode& config) {
  std::vector<AddedToken> added;
  if (const JsonNode list = tokenizer["added_tokens"]; !list.is_null())
    for (size_t i = 0; i < TRY(list.array())->size(); ++i) added.push_back(TRY(read_added(list.at(i))));
  if (const JsonNode more = config["added_tokens_decoder"]; !more.is_null()) {
    for (const auto& [id, value] : *TRY(more.object())) {
      AddedToken token = TRY(read_added({value, fmt::format("{}.{}", more.place(), std::string_view(id))}));
      if (std::ranges::find(added, token.text, &AddedToken::text) == added.end())
        added.push_back(std::move(token));
    }
  }
  return added;
}

// The texts of the config's special tokens; each is a string or an added token's object.
Result<std::vector<std::string_view>> configured_texts(const JsonNode& config) {
  std::vector<std::string_view> texts;
  const auto add = [&](const JsonNode& node) -> Result<void> {
    if (node.is_null()) return {};
    const JsonNode content = node["content"];
    texts.push_back(TRY((content.is_null() ? node : content).string()));
    return {};
  };
  for (const char* key :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
    TRY(add(config[key]));
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
    const JsonNode more = config[key];
    if (more.value().is_array())
      for (size_t i = 0; i < more.value().get_array().size(); ++i) TRY(add(more.at(i)));
    if (more.value().is_object())
      for (const auto& [name, value] : more.value().get_object())
        TRY(add({value, fmt::format("{}.{}", more.place(), std::string_view(name))}));
  }
  return texts;
}

// The library's users hide what either file calls special. More than that are control tokens.
Result<void> mark_control_tokens(std::vector<AddedToken>& added, const JsonNode& config,
                                 std::string_view chat_template) {
  const std::vector<std::string_view> special = TRY(configured_texts(config));
  for (AddedToken& token : added) {
    token.hidden = token.hidden || std::ranges::find(special, token.text) != special.end();
    token.control = token.hidden || looks_like_control(token.text) || is_markup_of(chat_template, token.text);
  }
  return {};
}

// Gives each its id, as the library does.
void number_added_tokens(std::vector<AddedToken>& added, Tokens& tokens) {
  std::erase_if(added, [](const AddedToken& token) { return token.text.empty(); });
  auto next = static_cast<TokenId>(tokens.model_size);
  for (AddedToken& token : added) {
    const auto known = tokens.find(token.text);
    token.id = known ? *known : next++;
    tokens.ids.emplace(token.text, token.id);
  }
  for (const AddedToken& token : added) tokens.set(token.id, token.text);
}

struct Around {
  std::vector<TokenId> before, after;
};

Result<TokenId> token_id(const JsonNode& node) {
  const auto id = as_token_id(node.value());
  if (!id) return invalid("{} is no id", node.place());
  return *id;
}

Result<void> add_ids(const JsonNode& node, std::vector<TokenId>& ids) {
  for (size_t i = 0; i < TRY(node.array())->size(); ++i) {
    ids.push_back(TRY(token_id(node.at(i))));
  }
  return {};
}

Result<void> read_template(const JsonNode& node, Around& around) {
  Around here;
  bool after = false;
  const JsonNode single = node["single"];
  for (size_t i = 0; i < TRY(single.array())->size(); ++i) {
    const JsonNode piece = single.at(i);
    if (!piece["Sequence"].is_null()) {
      if (after) return fail(ErrorKind::kUnsupported, "{} repeats the text", single.place());
      after = true;
    } else {
      const std::string_view name = TRY(piece["SpecialToken"]["id"].string());
      TRY(add_ids(node["special_tokens"][name]["ids"], after ? here.after : here.before));
    }
  }
  around.before.insert(around.before.begin(), here.before.begin(), here.before.end());
  around.after.insert(around.after.end(), here.after.begin(), here.after.end());
  return {};
}

Result<void> read_post_processor(const JsonNode& node, Around& around, int depth) {
  if (node.is_null()) return {};
  const std::string_view type = TRY(node["type"].string());
  if (type == "ByteLevel") return {};  // concerns offsets only
  if (type == "TemplateProcessing") return read_template(node, around);
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    for (const auto& [key, ids] : {std::pair{"cls", &around.before}, std::pair{"sep", &around.after}}) {
      const JsonNode pair = node[key];
      if (TRY(pair.array())->size() != 2) return invalid("{} is not a token and its id", pair.place());
      ids->insert(key[0] == 'c' ? ids->begin() : ids->end(), TRY(token_id(pair.at(1))));
    }
    return {};
  }
  if (type != "Sequence")
    return fail(ErrorKind::kUnsupported, "{}: the post-processor \"{}\" is not known", node.place(), type);
  if (depth > 8) return invalid("{} is nested too deep", node.place());
  const JsonNode list = node["processors"];
  for (size_t i = 0; i < TRY(list.array())->size(); ++i)
    TRY(read_post_processor(list.at(i), around, depth + 1));
  return {};
}

// A special token of the config: a string, or an added token's object.
Result<std::optional<TokenId>> configured(const JsonNode& node, const Tokens& tokens) {
  if (node.is_null()) return std::nullopt;
  const JsonNode content = node["content"];
  return tokens.find(TRY((content.is_null() ? node : content).string()));
}

Result<void> apply_config(const JsonNode& config, const Tokens& tokens, PipelineTokenizer::Stages& stages) {
  stages.bos = TRY(configured(config["bos_token"], tokens));
  stages.eos = TRY(configured(config["eos_token"], tokens));
  std::string_view name = TRY(config["tokenizer_class"].string_or(""));
  if (name.ends_with("Fast")) name.remove_suffix(4);
  if (name != "LlamaTokenizer" && name != "CodeLlamaTokenizer" && name != "GemmaTokenizer" &&
      name != "CohereTokenizer")
    return {};
  const auto around = [](bool wanted, std::optional<TokenId> token) {
    return wanted && token ? std::vector{*token} : std::vector<TokenId>();
  };
  stages.prefix = around(TRY(config["add_bos_token"].boolean_or(true)), stages.bos);
  stages.suffix = around(TRY(config["add_eos_token"].boolean_or(false)), stages.eos);
  return {};
}

void finish_model(ModelParts& parts, const std::vector<AddedToken>& added, bool byte_level,
                  PipelineTokenizer::Stages& stages) {
  std::vector<bool> control(parts.tokens.texts.size());
  stages.hidden.resize(parts.tokens.texts.size());
  for (const AddedToken& token : added) {
    control[static_cast<size_t>(token.id)] = token.control;
    stages.hidden[static_cast<size_t>(token.id)] = token.hidden;
  }
  if (parts.bpe) {
    BpeModel::Definition& bpe = *parts.bpe;
    bpe.byte_level = byte_level;
    for (size_t i = 0; i < parts.tokens.texts.size(); ++i) {
      const auto& text = parts.tokens.texts[i];
      // Ids of added tokens only are no words, nor are control tokens: text that looks like one is not it.
      const bool word = text && parts.tokens.find(*text) == static_cast<TokenId>(i) && !control[i];
      bpe.texts.add(!word ? "" : byte_level ? bytes_of_letters(*text).value_or("") : std::string(*text));
    }
    stages.model = std::make_unique<const BpeModel>(std::move(bpe));
  } else {
    std::erase_if(parts.unigram->words,
                  [&](const UnigramModel::Word& word) { return control[static_cast<size_t>(word.id)]; });
    stages.model = std::make_unique<const UnigramModel>(*parts.unigram);
  }
}

}  // namespace

Result<PipelineTokenizer::Stages> json_stages(std::string_view tokenizer_text, std::string_view config_text,
                                              std::string_view chat_template) {
  const auto storage = json::make_shared_resource<json::monotonic_resource>();
  const json::value tokenizer_value = TRY(parse_json_file(tokenizer_text, "tokenizer.json", storage));
  const json::value config_value = config_text.empty()
                                       ? json::value(json::object())
                                       : TRY(parse_json_file(config_text, "tokenizer_config.json", storage));
  const JsonNode tokenizer(tokenizer_value, "tokenizer.json");
  const JsonNode config(config_value, "tokenizer_config.json");

  PipelineTokenizer::Stages stages;
  ModelParts parts = TRY(read_model(tokenizer["model"]));
  const bool bytes = parts.bpe && !parts.bpe->byte_fallback && parts.bpe->continuing_prefix.empty() &&
                     parts.bpe->word_suffix.empty();
  std::vector<AddedToken> added = TRY(read_added_tokens(tokenizer, config));
  TRY(mark_control_tokens(added, config, chat_template));
  number_added_tokens(added, parts.tokens);
  stages.normalizer = Normalizer(TRY(read_normalizer(tokenizer["normalizer"])));
  JsonPretokenizer pretokenizer = TRY(read_pretokenizer(tokenizer["pre_tokenizer"], bytes));
  stages.pretokenizer = std::move(pretokenizer.pretokenizer);
  stages.any_bytes =
      pretokenizer.byte_level && stages.normalizer.empty() && stages.pretokenizer.takes_any_bytes();
  Around around;
  TRY(read_post_processor(tokenizer["post_processor"], around, 0));
  stages.prefix = std::move(around.before);
  stages.suffix = std::move(around.after);
  stages.decoder = Decoder(TRY(read_decoder(tokenizer["decoder"])));
  TRY(apply_config(config, parts.tokens, stages));

  std::unordered_map<TokenId, std::string> normalized;  // added tokens, as decoders see them
  for (const AddedToken& token : added)
    if (token.normalized) normalized[token.id] = stages.normalizer(token.text);
  for (size_t i = 0; i < parts.tokens.texts.size(); ++i) {
    const auto changed = normalized.find(static_cast<TokenId>(i));
    const std::string text(changed != normalized.end() ? changed->second
                                                       : parts.tokens.texts[i].value_or(""));
    stages.texts.add(text);
    stages.bytes.add(parts.tokens.texts[i] ? stages.decoder->middle(text) : "");
  }
  finish_model(parts, added, pretokenizer.byte_level, stages);
  for (const std::vector<TokenId>* ids : {&stages.prefix, &stages.suffix})
    for (const TokenId id : *ids)
      if (static_cast<size_t>(id) >= stages.bytes.size())
        return invalid("tokenizer.json.post_processor adds token {}, which there is not", id);
  stages.added = AddedTokens(std::move(added), stages.normalizer);
  return stages;
}

}  // namespace reprise
