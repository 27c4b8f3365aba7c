// `reprise serve`: loads a model and serves it until SIGTERM or SIGINT.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "http/server.h"
#include "model/load.h"

namespace reprise {

struct ServeOptions {
  std::string model_file;
  std::string model_name;  // its id for clients; empty = the stem of model_file
  LoadOptions load;
  EngineConfig engine;
  http::ServerOptions http;
  std::string kernels;  // forced table, or empty
  int threads = 0;      // of the compute pool; 0 = all usable CPUs
  std::string log_level = "info";
  std::string api_key;
  std::vector<std::string> cors_origins;
  bool strict_model = false;
  bool strict_modalities = false;
  Nanos drain_timeout = 120 * kSecond;
};

// The process's exit status: 0 after an orderly stop, 1 when it could not start (said in one line).
int run_serve(const ServeOptions& options);

}  // namespace reprise
