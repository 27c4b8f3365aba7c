// Any bytes as a template, rendered over one small conversation: no crash, no hang, no undefined behaviour.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/jinja/template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const boost::json::value kMessages = boost::json::parse(R"([
      {"role": "system", "content": "Be terse \u00fc"}, {"role": "user", "content": [{"type": "text", "text": "a😀b"}]},
      {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"k": [1, 2.5, true]}}}]},
      {"role": "tool", "content": "result\n"}])");
  static const boost::json::value kNumber = 18446744073709551615u;
  const auto compiled = reprise::jinja::Compiled::compile({reinterpret_cast<const char*>(data), size});
  if (!compiled) return 0;
  const std::vector<reprise::jinja::Variable> variables = {{"messages", &kMessages},
                                                           {"m", &kMessages},
                                                           {"n", &kNumber},
                                                           {"add_generation_prompt", true},
                                                           {"s", std::string_view("ab c")}};
  const reprise::jinja::Limits limits{
      .instructions = 50'000, .heap_bytes = size_t{4} << 20, .output_bytes = size_t{1} << 20};
  (void)compiled->render(variables, 0, limits);
  return 0;
}
