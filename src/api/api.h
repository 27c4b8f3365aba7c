// The OpenAI-compatible HTTP interface over one model: routes, request parsing, templates, tokens, streaming,
// errors, metrics. It talks to the engine through core/backend.h only.
//
//   Api api({.version = "0.1.0"});
//   auto server = http::Server::start(options, api.handler());   // answers at once: /health/ready is 503
//   ... load ...
//   api.set_model({...});                                        // ready
//   ... SIGTERM ...
//   api.set_draining();                                          // /health/ready is 503, new work is refused
//   server->stop(grace);                                         // running streams end
//
// Threads: every function may be called from any thread; handlers run on the server's workers. Ownership: the
// model's parts are owned from set_model on, except the Backend, which must outlive the server. The handler
// keeps what it needs alive, so an Api may be destroyed before the server.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/backend.h"
#include "core/model_info.h"
#include "http/server.h"
#include "text/chat_template.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {

struct ApiOptions {
  std::string version;
  std::string api_key;             // empty: open. Else required but on /health*, /metrics, /openapi.json
  bool strict_model = false;       // a request for a model of another name is answered 404
  bool strict_modalities = false;  // content parts that are no text are refused, not left out
  std::vector<std::string> cors_origins;  // of web pages that may read answers; "*": any
  size_t max_body = size_t{64} << 20;     // bytes of a request's body after decompression
  Nanos keep_alive = 10 * kSecond;        // of silence in a stream, before a comment is sent
};

struct ServedModel {
  ModelInfo info;  // info.name is the id in /v1/models
  std::unique_ptr<const Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;  // none: /v1/chat/completions is refused
  std::string no_chat;                        // why there is none
  Backend* backend = nullptr;
  std::string file;                    // what it was loaded from, for /v1/models
  uint32_t max_requests = UINT32_MAX;  // of the backend: a request of more choices can never run here
  int64_t created = 0;                 // unix seconds, as /v1/models tells
};

class Api {
 public:
  struct State;
  explicit Api(ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Once. Until then requests for the model are answered 503 with Retry-After.
  void set_model(ServedModel model);
  // From now on new requests for the model are answered 503 with Retry-After; running ones go on.
  void set_draining();

  // For http::Server::start.
  http::Handler handler();
  // For ServerOptions::refusal: the server's own refusals (408, 413, ...) read like the handler's, web pages
  // included.
  std::function<http::Response(const http::Refused&)> refusal();

 private:
  std::shared_ptr<State> state_;
};

}  // namespace reprise
