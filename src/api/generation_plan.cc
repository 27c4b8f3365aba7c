#include "api/generation_plan.h"

#include <algorithm>
#include <ctime>
#include <utility>

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
  const uint32_t least = fields.max_tokens.value_or(1) == 0 ? 0 : 1;
  if (prompt.size() + least > model.context_length()) {
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
Result<void> check_choices(size_t prompts, uint32_t each, std::string_view field, const LoadedModel& model) {
  const size_t choices = prompts * each;
  if (choices <= model.served.max_requests) return {};
  return invalid_param(each > 1 ? std::string(field) : "prompt",
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
  job.returned_per_prompt = fields.n;
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

std::vector<TokenId> prompt_tokens(const PromptInput& input, const CompletionRequest& request,
                                   const LoadedModel& model) {
  const auto* text = std::get_if<std::string>(&input);
  if (request.suffix.empty()) {
    return text ? model.tokenizer().encode(*text, {.add_bos_eos = request.add_special_tokens})
                : std::get<std::vector<TokenId>>(input);
  }
  std::vector<TokenId> tokens =
      model.fill_in_the_middle->prompt(model.tokenizer(),
                                       text ? model.tokenizer().encode(*text, {.parse_special = false})
                                            : std::get<std::vector<TokenId>>(input),
                                       request.suffix);
  const Vocabulary& vocabulary = model.served.info.vocabulary;
  if (request.add_special_tokens && vocabulary.add_bos && vocabulary.bos) {
    tokens.insert(tokens.begin(), *vocabulary.bos);
  }
  return tokens;
}

std::string text_of(const PromptInput& prompt, const Tokenizer& tokenizer) {
  if (auto* text = std::get_if<std::string>(&prompt)) return *text;
  return to_valid_utf8(tokenizer.decode(std::get<std::vector<TokenId>>(prompt)));
}

// The field that keeps a conversation from being rendered: one without which it can be, else its messages.
// Takes up to three more renders, of templates that have refused.
std::string field_to_blame(ChatInput input, const ChatTemplate& chat_template) {
  if (std::exchange(input.continue_final_message, false) && chat_template.render(input))
    return "continue_final_message";
  if (!input.tools.empty()) {
    ChatInput without = input;
    without.tools.clear();
    if (chat_template.render(without)) return "tools";
  }
  if (!input.extra.empty()) {
    const auto given = std::exchange(input.extra, {});
    if (chat_template.render(input)) {
      const auto has_field = [](const auto& variable) {
        return variable.key() == "reasoning_effort" || variable.key() == "enable_thinking" ||
               variable.key() == "thinking";
      };
      if (!std::ranges::all_of(given, has_field)) return "chat_template_kwargs";
      return given.contains("reasoning_effort") ? "reasoning_effort" : "enable_thinking";
    }
  }
  return "messages";
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
    return std::unexpected(Error{ErrorKind::kUnsupported,
                                 fmt::format("The model `{}` cannot chat here ({}): use /v1/completions.",
                                             model.name(), model.served.no_chat),
                                 "messages"});
  }
  input.now = std::time(nullptr);
  Result<MarkedText> text = model.served.chat_template->render(input);
  if (!text) {
    text.error().message =
        fmt::format("The conversation does not fit the model's chat template: {}", text.error().message);
    text.error().param = text.error().kind == ErrorKind::kInvalid
                             ? field_to_blame(std::move(input), *model.served.chat_template)
                             : "messages";
    return std::unexpected(std::move(text).error());
  }
  return model.tokenizer().encode(text->text, {.control_spans = text->own});
}

Result<SessionJob> plan_chat(const http::Request& request, const LoadedModel& model,
                             const PlanOptions& options) {
  boost::json::object body = TRY(parse_body(request.body));
  ChatRequest chat =
      TRY(parse_chat_request(std::move(body), {model.tokenizer().size(), model.traits,
                                               options.strict_modalities, model.served.info.sampling}));
  TRY(check_model_name(chat.fields.model, model, options.strict_model));
  TRY(check_choices(1, chat.fields.n, "n", model));
  SessionJob job = make_job(chat.fields, model, options);
  std::vector<TokenId> prompt = TRY(chat_tokens(std::move(chat.input), model));
  uint64_t session = session_key(request.headers, chat.fields.session);
  add_choices(job, TRY(fit(std::move(prompt), chat.fields, model, session, "messages")), chat.fields.n);
  job.format = std::make_unique<ChatFormat>(answer_options(chat.fields, model));
  model.metrics.omitted(chat.omitted);
  return job;
}

Result<SessionJob> plan_completion(const http::Request& request, const LoadedModel& model,
                                   const PlanOptions& options) {
  boost::json::object body = TRY(parse_body(request.body));
  CompletionRequest completion =
      TRY(parse_completion_request(std::move(body), model.tokenizer().size(), model.served.info.sampling));
  GenerationFields& fields = completion.fields;
  TRY(check_model_name(fields.model, model, options.strict_model));
  const uint32_t each = completion.best_of;
  TRY(check_choices(completion.prompts.size(), each, each > fields.n ? "best_of" : "n", model));
  const AnswerOptions answer = answer_options(fields, model);
  SessionJob job = make_job(fields, model, options);
  job.choices_per_prompt = each;
  if (each > fields.n) fields.sampling.logprobs = std::max(fields.sampling.logprobs, 0);  // to rank by
  if (!completion.suffix.empty()) {
    if (!model.fill_in_the_middle) {
      return std::unexpected(
          Error{ErrorKind::kUnsupported,
                fmt::format("The model `{}` has no tokens for filling in the middle: leave "
                            "'suffix' out.",
                            model.name()),
                "suffix"});
    }
    const std::vector<TokenId>& ends = model.fill_in_the_middle->ends;
    fields.stop_token_ids.insert(fields.stop_token_ids.end(), ends.begin(), ends.end());
  }
  uint64_t session = session_key(request.headers, fields.session);
  std::vector<std::shared_ptr<const PromptEcho>> echoes;
  for (const PromptInput& input : completion.prompts) {
    Generation generation =
        TRY(fit(prompt_tokens(input, completion, model), fields, model, session, "prompt"));
    if (completion.echo) {
      const auto echo = std::make_shared<const PromptEcho>(
          make_echo(text_of(input, model.tokenizer()), generation.prompt, model.tokenizer()));
      echoes.insert(echoes.end(), each, echo);
    }
    const size_t first = job.generations.size();
    add_choices(job, std::move(generation), each);
    if (completion.echo && answer.logprobs) {  // once for all choices of the prompt
      job.generations[first].prompt_logprobs = fields.sampling.logprobs;
    }
  }
  job.format = std::make_unique<CompletionFormat>(answer, std::move(echoes));
  return job;
}

}  // namespace reprise
