// Design: a table of routes. Those that need the model get it as an immutable LoadedModel, published once by
// set_model and owned by the state that every handler shares; the rest answers at any time. A model route is
// refused, in this order: wrong key (401), not loaded or draining (503), then by what the endpoint finds.
#include "api/api.h"

#include <atomic>

#include <openssl/crypto.h>

#include "api/cors.h"
#include "api/error_policy.h"
#include "api/generation_plan.h"
#include "api/json_text.h"
#include "api/loaded_model.h"
#include "api/model_card.h"
#include "api/openapi.h"
#include "api/session.h"
#include "api/shortened.h"
#include "api/tokenize.h"
#include "base/check.h"
#include "base/log.h"
#include "http/content_coding.h"
#include "text/utf8.h"

namespace reprise {
namespace json = boost::json;
using http::asio::awaitable;

struct Api::State {
  explicit State(ApiOptions given) : options(std::move(given)) {}
  ~State() { delete model.load(); }

  const ApiOptions options;
  std::atomic<const LoadedModel*> model{nullptr};  // owned; set once
  std::atomic<bool> draining{false};

  bool ready() const { return model.load() && !draining; }
  PlanOptions plan_options() const {
    return {options.strict_model, options.strict_modalities, options.keep_alive};
  }
};

namespace {

// One request on its way through the API. Lives in the dispatching coroutine.
struct Call {
  http::Request& request;
  http::Exchange& exchange;
  const Api::State& state;
  const LoadedModel* model;  // null until loaded; never null for a route that needs it
  Nanos arrived;
};

void respond(const Call& call, const json::object& body) {
  http::Response response;
  response.headers.set("Content-Type", "application/json");
  response.body = json_text(body);
  call.exchange.respond(std::move(response));
}

void respond(const Call& call, const Result<json::object>& result) {
  if (result) return respond(call, *result);
  call.model->metrics.rejected(result.error().kind);
  call.exchange.respond(error_response(result.error()));
}

http::Response unavailable(const Api::State& state) {
  return error_response(Error{ErrorKind::kUnavailable,
                              state.draining ? "The server is shutting down." : "The model is still loading.",
                              {}});
}

// ---- Endpoints that need no model
// --------------------------------------------------------------------------------

awaitable<void> health(Call& call) {
  respond(call, json::object{{"status", "ok"}});
  co_return;
}

awaitable<void> ready(Call& call) {
  if (call.state.ready()) {
    respond(call, json::object{{"status", "ok"}});
  } else {
    call.exchange.respond(unavailable(call.state));
  }
  co_return;
}

awaitable<void> version(Call& call) {
  respond(call, json::object{{"version", call.state.options.version}});
  co_return;
}

awaitable<void> openapi(Call& call) {
  http::Response response;
  response.headers.set("Content-Type", "application/json");
  response.body = openapi_text(call.state.options.version);
  call.exchange.respond(std::move(response));
  co_return;
}

awaitable<void> metrics(Call& call) {
  http::Response response;
  response.headers.set("Content-Type", kMetricsType);
  response.body = fmt::format(
      "# HELP reprise:ready Whether requests for the model are taken.\n# TYPE reprise:ready "
      "gauge\nreprise:ready {}\n",
      call.state.ready() ? 1 : 0);
  if (call.model) response.body += call.model->metrics.text(call.model->backend.stats());
  call.exchange.respond(std::move(response));
  co_return;
}

// ---- Endpoints of the model
// --------------------------------------------------------------------------------------

awaitable<void> list_models(Call& call) {
  json::array cards;
  cards.push_back(model_card(*call.model, call.model->name(), call.state.options.version));
  json::object list{{"object", "list"}};
  list["data"] = std::move(cards);
  respond(call, list);
  co_return;
}

constexpr std::string_view kModelPrefix = "/v1/models/";

awaitable<void> show_model(Call& call) {
  std::string id = as_utf8(std::string_view(call.request.path).substr(kModelPrefix.size()));
  Result<void> known = check_model_name(id, *call.model, call.state.options.strict_model);
  if (known) {
    json::object card = model_card(*call.model, id, call.state.options.version);
    card["chat_template"] = call.model->served.info.chat_template;
    respond(call, card);
  } else {
    call.exchange.respond(error_response(known.error()));
  }
  co_return;
}

awaitable<void> tokenize_endpoint(Call& call) {
  respond(call, tokenize(call.request.body, *call.model, call.state.options.strict_modalities));
  co_return;
}

awaitable<void> detokenize_endpoint(Call& call) {
  respond(call, detokenize(call.request.body, *call.model));
  co_return;
}

using Plan = Result<SessionJob> (*)(const http::Request&, const LoadedModel&, const PlanOptions&);

template <Plan plan>
awaitable<void> generate(Call& call) {
  Result<SessionJob> job = plan(call.request, *call.model, call.state.plan_options());
  if (!job) {
    log::debug("{}: {}", call.request.path, job.error().message);
    call.model->metrics.rejected(job.error().kind);
    call.exchange.respond(error_response(job.error()));
    co_return;
  }
  call.request.drop_body();  // a generation may take hours
  job->arrived = call.arrived;
  awaitable<void> session = run_session(call.exchange, *call.model, std::move(*job));
  co_await std::move(session);
}

// ---- Routing
// -----------------------------------------------------------------------------------------------------

enum class Needs { kNothing, kKey, kModel };  // a model's route needs the key too

struct Route {
  std::string_view path;  // a trailing slash: and something after it
  bool post;              // else GET, and HEAD with it
  Needs needs;
  awaitable<void> (*endpoint)(Call&);
};
constexpr Route kRoutes[] = {
    {"/health", false, Needs::kNothing, health},
    {"/health/live", false, Needs::kNothing, health},
    {"/health/ready", false, Needs::kNothing, ready},
    {"/metrics", false, Needs::kNothing, metrics},
    {"/openapi.json", false, Needs::kNothing, openapi},
    {"/version", false, Needs::kKey, version},
    {"/v1/models", false, Needs::kModel, list_models},
    {kModelPrefix, false, Needs::kModel, show_model},
    {"/v1/chat/completions", true, Needs::kModel, generate<plan_chat>},
    {"/v1/completions", true, Needs::kModel, generate<plan_completion>},
    {"/tokenize", true, Needs::kModel, tokenize_endpoint},
    {"/detokenize", true, Needs::kModel, detokenize_endpoint},
};

const Route* find_route(std::string_view path) {
  for (const Route& route : kRoutes) {
    const bool prefix = route.path.ends_with('/');
    if (prefix ? path.starts_with(route.path) && path.size() > route.path.size() : path == route.path)
      return &route;
  }
  return nullptr;
}

// The OpenAI clients send a bearer token, the Anthropic ones x-api-key. Compared in constant time.
std::optional<http::Response> check_key(const http::Request& request, const std::string& key) {
  if (key.empty()) return std::nullopt;
  std::string_view given = request.headers.get("x-api-key").value_or("");
  std::string_view authorization = request.headers.get("authorization").value_or("");
  if (authorization.size() > 7 && http::equal_ignoring_case(authorization.substr(0, 7), "bearer ")) {
    given = authorization.substr(7);
  }
  if (given.size() == key.size() && CRYPTO_memcmp(given.data(), key.data(), key.size()) == 0)
    return std::nullopt;
  http::Response response =
      given.empty() ? error_response(401, "No API key was given: send it as 'Authorization: Bearer KEY'.", "")
                    : error_response(401, "Incorrect API key provided.", "invalid_api_key");
  response.headers.set("WWW-Authenticate", "Bearer");
  return response;
}

// The answer to a request that reaches no endpoint: no body was looked at.
std::optional<http::Response> refuse(const http::Request& request, const Route* route, bool allowed_page,
                                     const Api::State& state) {
  const std::string method = shortened(request.method, 20);
  const std::string_view methods = route && route->post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
  if (route && method == "OPTIONS") {
    http::Response response;
    response.status = 204;
    response.headers.set("Allow", methods);
    if (allowed_page && is_preflight(request)) allow_preflight(request, methods, response.headers);
    return response;
  }
  if (!route || route->needs != Needs::kNothing) {
    if (auto refused = check_key(request, state.options.api_key)) return refused;
  }
  if (!route) {
    return error_response(
        404, fmt::format("Unknown request URL: {} {}.", method, shortened(request.path, 200)), "unknown_url");
  }
  if (route->post ? method != "POST" : method != "GET" && method != "HEAD") {
    http::Response response = error_response(
        405, fmt::format("Not allowed to {} on {}.", method, route->path), "method_not_supported");
    response.headers.set("Allow", methods);
    return response;
  }
  if (route->needs == Needs::kModel && !state.model.load()) return unavailable(state);
  if (route->post && state.draining) return unavailable(state);
  return std::nullopt;
}

// The body as it was before it was coded, in place.
std::optional<http::Response> decompress(http::Request& request, size_t limit) {
  const auto coding = request.headers.get("content-encoding");
  if (!coding || request.body.empty()) return std::nullopt;
  Result<std::string> body = http::decode_content(*coding, std::move(request.body), limit, request.share);
  if (body) {
    request.body = std::move(*body);
    return std::nullopt;
  }
  const ErrorKind kind = body.error().kind;
  if (kind == ErrorKind::kUnavailable) return error_response(body.error());
  const int status = kind == ErrorKind::kUnsupported ? 415 : kind == ErrorKind::kTooLarge ? 413 : 400;
  http::Response response =
      error_response(status, body.error().message, "", status == 415 ? "Content-Encoding" : "body");
  if (status == 415) response.headers.set("Accept-Encoding", "gzip, deflate");
  return response;
}

awaitable<void> dispatch(std::shared_ptr<const Api::State> state, http::Request request,
                         http::Exchange& exchange) {
  Call call{request, exchange, *state, state->model.load(), now()};
  const Route* route = find_route(request.path);
  const http::Headers cors = cors_headers(request.headers, state->options.cors_origins);
  exchange.add_headers(cors);
  auto refused = refuse(request, route, cors.get("Access-Control-Allow-Origin").has_value(), *state);
  if (!refused) refused = decompress(request, state->options.max_body);
  if (refused) {
    log::debug("{} {}: {}", request.method, request.path, refused->status);
    exchange.respond(std::move(*refused));
    co_return;
  }
  co_await route->endpoint(call);
}

}  // namespace

Api::Api(ApiOptions options) : state_(std::make_shared<State>(std::move(options))) {}
Api::~Api() = default;

void Api::set_model(ServedModel model) {
  CHECK(model.tokenizer && model.backend, "a served model needs a tokenizer and a backend");
  const LoadedModel* loaded = new LoadedModel(std::move(model));
  const LoadedModel* none = nullptr;
  CHECK(state_->model.compare_exchange_strong(none, loaded), "the model is set once");
}

void Api::set_draining() { state_->draining = true; }

http::Handler Api::handler() {
  return [state = std::shared_ptr<const State>(state_)](http::Request request, http::Exchange& exchange) {
    return dispatch(state, std::move(request), exchange);
  };
}

std::function<http::Response(const http::Refused&)> Api::refusal() {
  return [state = std::shared_ptr<const State>(state_)](const http::Refused& refused) {
    http::Response response = error_response(refused.status, refused.message, "", refused.body ? "body" : "");
    for (const auto& [name, value] : cors_headers(refused.headers, state->options.cors_origins))
      response.headers.add(name, value);
    return response;
  };
}

}  // namespace reprise
