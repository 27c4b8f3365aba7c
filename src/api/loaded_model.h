// The model that an Api serves, with what is derived from it. Immutable once published, apart from the
// metrics, which are thread-safe; shared by all handlers.
#pragma once

#include <memory>
#include <optional>

#include "api/api.h"
#include "api/chat_messages.h"
#include "api/fill_in_the_middle.h"
#include "api/metrics.h"

namespace reprise {

// By its text, and by rendering a small conversation.
TemplateTraits traits_of(const ServedModel& model);

struct LoadedModel {
  explicit LoadedModel(ServedModel model)
      : served(std::move(model)),
        backend(*served.backend),
        metrics(served.info.name),
        traits(traits_of(served)),
        fill_in_the_middle(find_fill_in_the_middle(*served.tokenizer, served.info.vocabulary)) {}

  ServedModel served;
  Backend& backend;
  mutable Metrics metrics;
  TemplateTraits traits;
  std::optional<FillInTheMiddle> fill_in_the_middle;  // none: the vocabulary has no tokens for it

  const Tokenizer& tokenizer() const { return *served.tokenizer; }
  uint32_t context_length() const { return served.info.context_length; }
  const std::string& name() const { return served.info.name; }
};

}  // namespace reprise
