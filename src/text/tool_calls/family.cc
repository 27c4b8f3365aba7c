#include <algorithm>

#include "text/tool_calls/families.h"

namespace reprise::calls {

void trim(std::string& text) {
  std::erase(text, kMark);
  constexpr std::string_view kSpace = " \t\r\n";
  text.erase(text.find_last_not_of(kSpace) + 1);
  text.erase(0, text.find_first_not_of(kSpace));
}

std::span<const Family* const> families() {
  static const Family* const kFamilies[] = {&deepseek_dsml(), &minimax_m2(), &seed_oss(), &kimi_k2(),
                                            &gemma(),         &harmony(),    &deepseek(), &glm(),
                                            &qwen_xml(),      &mistral(),    &hermes(),   &llama3()};
  return kFamilies;
}

const Family* family_named(std::string_view name) {
  for (const Family* family : families())
    if (family->name == name) return family;
  return nullptr;
}

const Family* family_of(std::string_view chat_template) {
  for (const Family* family : families())
    if (std::ranges::all_of(family->signs,
                            [&](std::string_view sign) { return chat_template.contains(sign); }))
      return family;
  return nullptr;
}

}  // namespace reprise::calls
