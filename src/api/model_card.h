// What /v1/models tells of the model: OpenAI's and vLLM's members, and what llama.cpp tells under /props.
#pragma once

#include <string_view>

#include <boost/json.hpp>

#include "api/loaded_model.h"

namespace reprise {

// `id`: the name the client knows it by.
boost::json::object model_card(const LoadedModel& model, std::string_view id, std::string_view version);

}  // namespace reprise
