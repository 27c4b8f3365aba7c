// A model file written again as GGUF, as converters do: for comparing containers.
#pragma once

#include "model/model_file.h"
#include "model/testing/gguf_writer.h"

namespace reprise::testing {

// All keys and tensors of `file`. Rows of q and k of architectures llama and mistral3 are permuted to
// neighbouring pairs when they are not already.
GgufWriter copy_to_gguf(const ModelFile& file);

}  // namespace reprise::testing
