#include "api/model_card.h"

#include <cstdlib>

#include <fmt/format.h>

#include "api/generation_fields.h"
#include "api/token_text.h"

namespace reprise {
namespace json = boost::json;
namespace {

json::value token_text(const LoadedModel& model, std::optional<TokenId> token) {
  if (!token) return nullptr;
  return json::value(to_valid_utf8(model.tokenizer().bytes(*token)));
}

json::array stop_texts(const LoadedModel& model) {
  json::array texts;
  for (const TokenId token : model.served.info.stop_tokens) texts.push_back(token_text(model, token));
  return texts;
}

// What requests that leave these out are answered with, in as many digits as a float has: 0.6, not
// 0.60000002384.
json::object default_sampling(const SamplingParams& sampling) {
  const auto number = [](float value) { return std::strtod(fmt::to_string(value).c_str(), nullptr); };
  return {{"temperature", number(sampling.temperature)},
          {"top_p", number(sampling.top_p)},
          {"top_k", sampling.top_k},
          {"min_p", number(sampling.min_p)},
          {"repetition_penalty", number(sampling.repetition_penalty)}};
}

json::object weight_types(const ModelInfo& info) {
  json::object bytes;
  for (const auto& [type, count] : info.weight_types) bytes[type] = count;
  return bytes;
}

}  // namespace

json::object model_card(const LoadedModel& model, std::string_view id, std::string_view version) {
  const ModelInfo& info = model.served.info;
  const Vocabulary& vocabulary = info.vocabulary;
  const Stats stats = model.backend.stats();
  json::object tokenizer{{"model", vocabulary.model},
                         {"pre", vocabulary.pre},
                         {"vocabulary", model.tokenizer().size()},
                         {"bos_token", token_text(model, vocabulary.bos)},
                         {"eos_token", token_text(model, vocabulary.eos)},
                         {"stop_tokens", stop_texts(model)}};
  json::object capabilities{{"chat", model.served.chat_template.has_value()},
                            {"completions", true},
                            {"fill_in_the_middle", model.fill_in_the_middle.has_value()},
                            {"thinking_switch", model.traits.thinking},
                            {"reasoning_effort", model.traits.effort},
                            {"developer_role", model.traits.developer_role},
                            {"modalities", json::array{"text"}}};
  json::object limits{{"kv_cache_tokens", uint64_t{stats.pages_total} * stats.page_tokens},
                      {"max_requests", model.served.max_requests},
                      {"max_choices", kMaxChoices}};
  json::object card{{"id", id},
                    {"object", "model"},
                    {"created", model.served.created},
                    {"owned_by", "reprise"},
                    {"root", model.name()},
                    {"parent", nullptr},
                    {"max_model_len", model.context_length()},
                    {"context_length", model.context_length()}};
  json::object reprise{{"version", version},
                       {"file", model.served.file},
                       {"architecture", info.architecture},
                       {"trained_context", info.trained_context},
                       {"rope_scaling", info.rope_scaling},
                       {"weight_bytes", weight_types(info)},
                       {"kv_type", info.kv_type},
                       {"default_sampling", default_sampling(info.sampling)}};
  reprise["tokenizer"] = std::move(tokenizer);
  reprise["capabilities"] = std::move(capabilities);
  reprise["limits"] = std::move(limits);
  card["reprise"] = std::move(reprise);
  return card;
}

}  // namespace reprise
