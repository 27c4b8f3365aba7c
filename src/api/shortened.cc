#include "api/shortened.h"

#include "text/utf8.h"

namespace reprise {

std::string shortened(std::string_view text, size_t characters) {
  const char* const end = text.data() + text.size();
  const char* p = text.data();
  for (; p < end && characters > 0; --characters) p += utf8_step(p, end).length;
  return as_utf8(text.substr(0, static_cast<size_t>(p - text.data())));
}

}  // namespace reprise
