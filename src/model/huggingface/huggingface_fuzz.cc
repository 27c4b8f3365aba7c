// A Hugging Face folder: config.json, generation_config.json, tokenizer.json, tokenizer_config.json, the
// index of the weight files and model.safetensors, in this order, each but the last ended by the byte 0
// (which no JSON holds). A text that is empty is no file, but for the first three. With an index, the weights
// are in model-1.safetensors and model-2.safetensors too, and the index says which of them counts for what.
// Loading it must not crash whatever they are.
#include <string_view>

#include "model/huggingface/folder.h"
#include "model/testing/fuzz_folder.h"
#include "model/testing/run_small_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto& folder = reprise::testing::fuzz_folder("huggingface");
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kIndex = "model.safetensors.index.json", kTexts = "tokenizer_config.json";
  bool index = false;
  for (const std::string_view name :
       {std::string_view("config.json"), std::string_view("generation_config.json"),
        std::string_view("tokenizer.json"), kTexts, kIndex}) {
    const std::string_view text = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    if (text.empty() && (name == kTexts || name == kIndex)) {
      folder.remove(std::string(name));
      continue;
    }
    folder.write(std::string(name), text);
    index = name == kIndex;
  }
  folder.write("model.safetensors", rest);
  for (const char* name : {"model-1.safetensors", "model-2.safetensors"})
    if (index) folder.write(name, rest);
  const auto file = reprise::open_huggingface(folder.path());
  if (file) (void)reprise::testing::run_small_model(*file);
  return 0;
}
