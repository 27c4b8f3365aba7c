#include "api/generation_fields.h"

#include <charconv>
#include <random>

#include "api/shortened.h"
#include "base/hash.h"

namespace reprise {
namespace json = boost::json;
namespace {

constexpr int64_t kMaxTokens = std::numeric_limits<int32_t>::max();
constexpr size_t kMaxModelName = 512;  // it is repeated in every chunk
constexpr size_t kMaxStops = 256;
constexpr size_t kMaxStopBytes = 64 * 1024;  // together: each piece of output is compared with all of them

uint64_t random_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

Result<std::vector<std::pair<TokenId, float>>> parse_logit_bias(const Fields& fields, size_t vocabulary) {
  std::vector<std::pair<TokenId, float>> bias;
  const json::object* map = TRY(fields.object("logit_bias"));
  if (!map) return bias;
  bias.reserve(map->size());
  Fields entries(*map, fields.path("logit_bias"));
  for (const auto& [key, value] : *map) {
    uint32_t id = 0;
    auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (fault != std::errc{} || end != key.data() + key.size() || id >= vocabulary) {
      return invalid_param(fields.path("logit_bias"),
                           "'{}' maps token ids to biases: \"{}\" is no token id of this model (0 to {}).",
                           fields.path("logit_bias"), shortened(key, 40), vocabulary - 1);
    }
    if (auto number = TRY(entries.number(key, -100, 100))) {
      bias.emplace_back(static_cast<TokenId>(id), static_cast<float>(*number));
    }
  }
  return bias;
}

Result<std::vector<std::string>> parse_stop(const Fields& fields) {
  std::vector<std::string> stops;
  const json::value* value = fields.find("stop");
  if (!value) return stops;
  std::string path = fields.path("stop");
  auto add = [&](const json::value& stop) -> Result<void> {
    if (!stop.is_string()) return wrong_type(path, "a string or an array of strings", stop);
    if (stop.get_string().empty()) return invalid_param(path, "'{}' contains an empty string.", path);
    stops.emplace_back(stop.get_string());
    return {};
  };
  if (!value->is_array()) {
    TRY(add(*value));
  } else {
    if (value->get_array().size() > kMaxStops) {
      return invalid_param(path, "'{}' may hold at most {} strings, not {}.", path, kMaxStops,
                           value->get_array().size());
    }
    for (const json::value& stop : value->get_array()) TRY(add(stop));
  }
  size_t bytes = 0;
  for (const std::string& stop : stops) bytes += stop.size();
  if (bytes > kMaxStopBytes) {
    return invalid_param(path, "'{}' may hold at most {} bytes in all, not {}.", path, kMaxStopBytes, bytes);
  }
  return stops;
}

Result<SamplingParams> parse_sampling(const Fields& fields, size_t vocabulary,
                                      const SamplingParams& defaults) {
  SamplingParams sampling;
  sampling.temperature =
      static_cast<float>(TRY(fields.number("temperature", 0, 2)).value_or(defaults.temperature));
  sampling.top_p = static_cast<float>(TRY(fields.number("top_p", 0, 1)).value_or(defaults.top_p));
  sampling.top_k = static_cast<int32_t>(
      std::max<int64_t>(TRY(fields.integer("top_k", -1, kMaxTokens)).value_or(defaults.top_k), 0));
  sampling.min_p = static_cast<float>(TRY(fields.number("min_p", 0, 1)).value_or(defaults.min_p));
  sampling.presence_penalty = static_cast<float>(TRY(fields.number("presence_penalty", -2, 2)).value_or(0));
  sampling.frequency_penalty = static_cast<float>(TRY(fields.number("frequency_penalty", -2, 2)).value_or(0));
  sampling.repetition_penalty = static_cast<float>(
      TRY(fields.number("repetition_penalty", 0.01, 10)).value_or(defaults.repetition_penalty));
  sampling.logit_bias = TRY(parse_logit_bias(fields, vocabulary));
  auto seed =
      TRY(fields.integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
  sampling.seed = seed ? static_cast<uint64_t>(*seed) : random_seed();
  return sampling;
}

Result<std::optional<uint32_t>> parse_max_tokens(const Fields& fields, int64_t least) {
  auto tokens = TRY(fields.integer("max_completion_tokens", least, kMaxTokens));
  auto older =
      TRY(fields.integer("max_tokens", least, kMaxTokens));  // deprecated by OpenAI, sent by most clients
  if (!tokens) tokens = older;
  return tokens ? std::optional(static_cast<uint32_t>(*tokens)) : std::nullopt;
}

// Text is the only format there is; saying so beats answering with something else than was asked for.
Result<void> check_response_format(const Fields& fields) {
  if (const json::object* format = TRY(fields.object("response_format"))) {
    Fields members(*format, fields.path("response_format"));
    std::string type = TRY(members.string("type")).value_or("text");
    if (type != "text") {
      return std::unexpected(
          Error{ErrorKind::kUnsupported,
                fmt::format(
                    "'response_format' of type \"{}\" is unsupported: this server generates plain text only; "
                    "leave it out or send {{\"type\":\"text\"}}.",
                    shortened(type, 40)),
                "response_format"});
    }
  }
  return {};
}

}  // namespace

Result<GenerationFields> parse_generation_fields(const Fields& fields, size_t vocabulary,
                                                 const SamplingParams& defaults, int64_t least_tokens) {
  GenerationFields parsed;
  parsed.model = TRY(fields.string("model")).value_or("");
  if (parsed.model.size() > kMaxModelName) {
    return invalid_param(fields.path("model"), "'{}' may be at most {} bytes long, not {}.",
                         fields.path("model"), kMaxModelName, parsed.model.size());
  }
  parsed.sampling = TRY(parse_sampling(fields, vocabulary, defaults));
  parsed.n = static_cast<uint32_t>(TRY(fields.integer("n", 1, kMaxChoices)).value_or(1));
  parsed.max_tokens = TRY(parse_max_tokens(fields, least_tokens));
  parsed.min_tokens = static_cast<uint32_t>(TRY(fields.integer("min_tokens", 0, kMaxTokens)).value_or(0));
  if (parsed.max_tokens && parsed.min_tokens > *parsed.max_tokens) {
    return invalid_param(fields.path("min_tokens"), "'{}' ({}) must not exceed max_tokens ({}).",
                         fields.path("min_tokens"), parsed.min_tokens, *parsed.max_tokens);
  }
  parsed.stop = TRY(parse_stop(fields));
  parsed.include_stop = TRY(fields.boolean("include_stop_str_in_output")).value_or(false);
  if (const json::array* ids = TRY(fields.array("stop_token_ids"))) {
    if (ids->size() > kMaxStops) {
      return invalid_param(fields.path("stop_token_ids"), "'stop_token_ids' may hold at most {} ids, not {}.",
                           kMaxStops, ids->size());
    }
    parsed.stop_token_ids = TRY(parse_token_ids(*ids, fields.path("stop_token_ids"), vocabulary));
  }
  parsed.ignore_eos = TRY(fields.boolean("ignore_eos")).value_or(false);
  parsed.stream = TRY(fields.boolean("stream")).value_or(false);
  if (const json::object* options = TRY(fields.object("stream_options"))) {
    Fields stream(*options, fields.path("stream_options"));
    parsed.include_usage = TRY(stream.boolean("include_usage")).value_or(false);
    parsed.continuous_usage = TRY(stream.boolean("continuous_usage_stats")).value_or(false);
  }
  parsed.return_token_ids = TRY(fields.boolean("return_token_ids")).value_or(false);
  parsed.tokens_as_ids = TRY(fields.boolean("return_tokens_as_token_ids")).value_or(false);
  std::string user = TRY(fields.string("user")).value_or("");
  parsed.session = TRY(fields.string("prompt_cache_key")).value_or(user);
  parsed.cache_salt = TRY(fields.string("cache_salt")).value_or("");
  TRY(check_response_format(fields));
  return parsed;
}

uint64_t choice_seed(uint64_t seed, uint32_t index) {
  return index == 0 ? seed : hash_bytes(&index, sizeof index, seed);
}

Result<std::vector<TokenId>> parse_token_ids(const json::array& ids, const std::string& path,
                                             size_t vocabulary) {
  std::vector<TokenId> tokens;
  tokens.reserve(ids.size());
  for (const json::value& value : ids) {
    std::optional<int64_t> id = as_integer(value);
    if (!id) return wrong_type(fmt::format("{}[{}]", path, tokens.size()), "a token id", value);
    if (*id < 0 || static_cast<uint64_t>(*id) >= vocabulary) {
      std::string element = fmt::format("{}[{}]", path, tokens.size());
      return invalid_param(element, "'{}' is {}: the token ids of this model are 0 to {}.", element, *id,
                           vocabulary - 1);
    }
    tokens.push_back(static_cast<TokenId>(*id));
  }
  return tokens;
}

}  // namespace reprise
