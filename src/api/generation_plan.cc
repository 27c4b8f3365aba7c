#include "api/generation_plan.h"

#include <algorithm>
#include <ctime>

#include "api/chat_format.h"
#include "api/completion_format.h"
#include "api/error_policy.h"
#include "api/json_body.h"
#include "api/session_key.h"

namespace reprise {
namespace {

// The prompt's room in the context decides max_tokens; clients that always ask for 32000 get what there is.
Result<Generation> fit(std::vector<TokenId> prompt, const GenerationFields& fields, const LoadedModel& model,
                       uint64_t session, std::string_view field) {
  if (prompt.empty())
    return invalid_param(std::string(field), "'{}' is empty: there is nothing to continue.", field);
  if (prompt.size() >= model.context_length()) {
    return std::unexpected(context_overflow(model.context_length(), prompt.size(), field));
  }
  Generation generation;
  const auto room = static_cast<uint32_t>(model.context_length() - prompt.size());
  generation.prompt = std::move(prompt);
  generation.sampling = fields.sampling;
  if (generation.sampling.top_p <= 0) {  // the likeliest token alone
    generation.sampling.top_p = 1;
    generation.sampling.top_k = 1;
  }
  generation.max_tokens = std::min(fields.max_tokens.value_or(room), room);
  generation.min_tokens = std::min(fields.min_tokens, generation.max_tokens);
  if (!fields.ignore_eos) generation.stop_tokens = model.served.info.stop_tokens;
  generation.stop_tokens.insert(generation.stop_tokens.end(), fields.stop_token_ids.begin(),
                                fields.stop_token_ids.end());
  generation.session = session;
  generation.cache_salt = fields.cache_salt;
  return generation;
}

// A request is accepted with all its choices or not at all.
Result<void> check_choices(size_t prompts, const GenerationFields& fields, const LoadedModel& model) {
  const size_t choices = prompts * fields.n;
  if (choices <= model.served.max_requests) return {};
  return invalid_param(fields.n > 1 ? "n" : "prompt",
                       "{} choices at once are more than this server runs (--max-requests {}).", choices,
                       model.served.max_requests);
}

void add_choices(SessionJob& job, Generation generation, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    Generation choice = i + 1 < n ? generation : std::move(generation);
    choice.sampling.seed = choice_seed(choice.sampling.seed, i);
    job.generations.push_back(std::move(choice));
  }
}

SessionJob make_job(const GenerationFields& fields, const LoadedModel& model, const PlanOptions& options) {
  SessionJob job;
  job.choices_per_prompt = fields.n;
  job.choice = {fields.stop, fields.include_stop, fields.min_tokens};
  job.model = fields.model.empty() ? model.name() : fields.model;
  job.stream = fields.stream;
  job.include_usage = fields.include_usage;
  job.continuous_usage = fields.continuous_usage;
  job.keep_alive = options.keep_alive;
  return job;
}

AnswerOptions answer_options(const GenerationFields& fields, const LoadedModel& model) {
  return {fields.sampling.logprobs >= 0, fields.return_token_ids, {&model.tokenizer(), fields.tokens_as_ids}};
}

std::string echo_text(const PromptInput& prompt, const Tokenizer& tokenizer) {
  if (auto* text = std::get_if<std::string>(&prompt)) return *text;
  return to_valid_utf8(tokenizer.decode(std::get<std::vector<TokenId>>(prompt)));
}

}  // namespace

Result<void> check_model_name(const std::string& name, const LoadedModel& model, bool strict) {
  if (!strict || name.empty() || name == model.name()) return {};
  return std::unexpected(Error{
      ErrorKind::kNotFound,
      fmt::format("The model `{}` does not exist. This server serves `{}`.", name, model.name()), "model"});
}

Result<std::vector<TokenId>> chat_tokens(ChatInput input, const LoadedModel& model) {
  if (!model.served.chat_template) {
    return fail(ErrorKind::kUnsupported, "The model `{}` cannot chat here ({}): use /v1/completions.",
                model.name(), model.served.no_chat);
  }
  input.now = std::time(nullptr);
  Result<std::string> text = model.served.chat_template->render(input);
  if (!text) {
    text.error().message =
        fmt::format("The conversation does not fit the model's chat template: {}", text.error().message);
    text.error().param = "messages";
    return std::unexpected(std::move(text).error());
  }
  return model.tokenizer().encode(*text);
}

Result<SessionJob> plan_chat(const http::Request& request, const LoadedModel& model,
                             const PlanOptions& options) {
  boost::json::object body = TRY(parse_body(request.body));
  ChatRequest chat = TRY(parse_chat_request(std::move(body), {model.tokenizer().size(), model.traits}));
  TRY(check_model_name(chat.fields.model, model, options.strict_model));
  TRY(check_choices(1, chat.fields, model));
  SessionJob job = make_job(chat.fields, model, options);
  std::vector<TokenId> prompt = TRY(chat_tokens(std::move(chat.input), model));
  uint64_t session = session_key(request.headers, chat.fields.session);
  add_choices(job, TRY(fit(std::move(prompt), chat.fields, model, session, "messages")), chat.fields.n);
  job.format = std::make_unique<ChatFormat>(answer_options(chat.fields, model));
  return job;
}

Result<SessionJob> plan_completion(const http::Request& request, const LoadedModel& model,
                                   const PlanOptions& options) {
  boost::json::object body = TRY(parse_body(request.body));
  CompletionRequest completion = TRY(parse_completion_request(std::move(body), model.tokenizer().size()));
  const GenerationFields& fields = completion.fields;
  TRY(check_model_name(fields.model, model, options.strict_model));
  TRY(check_choices(completion.prompts.size(), fields, model));
  SessionJob job = make_job(fields, model, options);
  uint64_t session = session_key(request.headers, fields.session);
  std::vector<std::string> echoes;
  for (const PromptInput& input : completion.prompts) {
    auto* text = std::get_if<std::string>(&input);
    std::vector<TokenId> prompt =
        text ? model.tokenizer().encode(*text, {.add_bos_eos = completion.add_special_tokens})
             : std::get<std::vector<TokenId>>(input);
    add_choices(job, TRY(fit(std::move(prompt), fields, model, session, "prompt")), fields.n);
    if (completion.echo) echoes.insert(echoes.end(), fields.n, echo_text(input, model.tokenizer()));
  }
  job.format = std::make_unique<CompletionFormat>(answer_options(fields, model), std::move(echoes));
  return job;
}

}  // namespace reprise
