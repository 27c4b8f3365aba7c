// Design: a table of routes. Those that need the model get it as an immutable LoadedModel, published once by
// set_model and owned by the state that every handler shares; the rest answers at any time. A model route is
// refused, in this order: wrong key (401), not loaded or draining (503), then by what the endpoint finds.
#include "api/api.h"

#include <atomic>

#include <openssl/crypto.h>

#include "api/error_policy.h"
#include "api/generation_plan.h"
#include "api/json_text.h"
#include "api/loaded_model.h"
#include "api/session.h"
#include "api/tokenize.h"
#include "base/check.h"
#include "base/log.h"

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
  PlanOptions plan_options() const { return {options.strict_model, options.keep_alive}; }
};

namespace {

// One request on its way through the API. Lives in the dispatching coroutine.
struct Call {
  const http::Request& request;
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

json::object model_card(const LoadedModel& model, std::string_view id) {
  return {{"id", id},
          {"object", "model"},
          {"created", model.served.created},
          {"owned_by", "reprise"},
          {"root", model.name()},
          {"parent", nullptr},
          {"max_model_len", model.context_length()},
          {"context_length", model.context_length()}};
}

awaitable<void> list_models(Call& call) {
  json::array cards;
  cards.push_back(model_card(*call.model, call.model->name()));
  json::object list{{"object", "list"}};
  list["data"] = std::move(cards);
  respond(call, list);
  co_return;
}

constexpr std::string_view kModelPrefix = "/v1/models/";

awaitable<void> show_model(Call& call) {
  std::string id = call.request.path.substr(kModelPrefix.size());
  Result<void> known = check_model_name(id, *call.model, call.state.options.strict_model);
  if (known) {
    respond(call, model_card(*call.model, id));
  } else {
    call.exchange.respond(error_response(known.error()));
  }
  co_return;
}

awaitable<void> tokenize_endpoint(Call& call) {
  respond(call, tokenize(call.request.body, *call.model));
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
std::optional<http::Response> refuse(const http::Request& request, const Route* route,
                                     const Api::State& state) {
  const std::string method = request.method.substr(0, 20);
  if (route && method == "OPTIONS") {
    http::Response response;
    response.status = 204;
    response.headers.set("Allow", route->post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS");
    return response;
  }
  if (!route || route->needs != Needs::kNothing) {
    if (auto refused = check_key(request, state.options.api_key)) return refused;
  }
  if (!route) {
    return error_response(
        404, fmt::format("Unknown request URL: {} {}.", method, request.path.substr(0, 200)), "unknown_url");
  }
  if (route->post ? method != "POST" : method != "GET" && method != "HEAD") {
    http::Response response = error_response(
        405, fmt::format("Not allowed to {} on {}.", method, route->path), "method_not_supported");
    response.headers.set("Allow", route->post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS");
    return response;
  }
  if (route->needs == Needs::kModel && !state.model.load()) return unavailable(state);
  if (route->post && state.draining) return unavailable(state);
  return std::nullopt;
}

awaitable<void> dispatch(std::shared_ptr<const Api::State> state, http::Request request,
                         http::Exchange& exchange) {
  Call call{request, exchange, *state, state->model.load(), now()};
  const Route* route = find_route(request.path);
  if (auto refused = refuse(request, route, *state)) {
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

std::string Api::error_body(int status, std::string_view message) {
  return json_text(error_object(status, message));
}

}  // namespace reprise
