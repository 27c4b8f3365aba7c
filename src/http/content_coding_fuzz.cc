// Any bytes as a coded body: the first byte chooses the coding. And any bytes, coded, come back.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <zlib.h>

#include "base/check.h"
#include "http/content_coding.h"

namespace reprise::http {
namespace {

constexpr size_t kLimit = 200'000;
constexpr size_t kBudget = 250'000;
constexpr std::array<const char*, 6> kCodings = {"", "gzip", "X-GZIP", "deflate", "br", "identity"};

void decode(std::string_view coding, const std::string& body) {
  const auto budget = std::make_shared<BodyBudget>(kBudget);
  {
    BodyShare share(budget);
    if (!share.grow_to(body.size())) return;
    const Result<std::string> plain = decode_content(coding, body, kLimit, share);
    CHECK(budget->held <= kBudget);
    if (plain) {
      CHECK(plain->size() <= std::max(kLimit, body.size()));
      CHECK(budget->held >= plain->size(), "{} of {} bytes are counted", budget->held.load(), plain->size());
    } else {
      const ErrorKind kind = plain.error().kind;
      CHECK((kind == ErrorKind::kUnsupported) == (coding == "br"));
      CHECK(kind != ErrorKind::kInternal && !plain.error().message.empty());
    }
  }
  CHECK(budget->held == 0);
}

void round_trip(const std::string& text) {
  std::string coded(compressBound(text.size()), '\0');
  uLongf size = coded.size();
  CHECK(compress2(reinterpret_cast<Bytef*>(coded.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                  text.size(), 1) == Z_OK);
  coded.resize(size);
  BodyShare share;
  const Result<std::string> plain = decode_content("deflate", coded, kLimit, share);
  CHECK(plain ? *plain == text : text.size() > kLimit);
}

}  // namespace
}  // namespace reprise::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  reprise::http::decode(reprise::http::kCodings[data[0] % reprise::http::kCodings.size()], body);
  reprise::http::round_trip(body);
  return 0;
}
