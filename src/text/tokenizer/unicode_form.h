// Unicode's normalization forms, as Hugging Face's library has them.
#pragma once

#include <string>
#include <string_view>

namespace reprise::normalize {

enum class Form { kNfc, kNfd, kNfkc, kNfkd };

// `text` is valid UTF-8. Linear, but for the sorting of a long run of combining marks (n log n).
std::string in_form(std::string_view text, Form form);

}  // namespace reprise::normalize
