// Seeds for gguf_fuzz and huggingface_fuzz: small valid models, ones damaged in ways of interest, and the
// shapes of what has broken other readers. They are kept in tests/fuzz/corpus, where write_model_corpus puts
// them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace reprise::testing {

using Corpus = std::map<std::string, std::vector<std::byte>>;  // by "TARGET/NAME"
Corpus model_corpus();

}  // namespace reprise::testing
