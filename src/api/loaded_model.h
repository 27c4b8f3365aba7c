// The model that an Api serves, with what is derived from it. Immutable once published, apart from the
// metrics, which are thread-safe; shared by all handlers.
#pragma once

#include <memory>
#include <optional>

#include "api/api.h"
#include "api/metrics.h"

namespace reprise {

struct LoadedModel {
  explicit LoadedModel(ServedModel model)
      : served(std::move(model)),
        backend(*served.backend),
        metrics(served.info.name),
        developer_role(served.info.chat_template.find("developer") != std::string::npos) {}

  ServedModel served;
  Backend& backend;
  mutable Metrics metrics;
  bool developer_role;  // the template speaks of it

  const Tokenizer& tokenizer() const { return *served.tokenizer; }
  uint32_t context_length() const { return served.info.context_length; }
  const std::string& name() const { return served.info.name; }
};

}  // namespace reprise
