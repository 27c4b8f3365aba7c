// Inflated in pieces into a string that grows with what really comes out, so a small body that claims to be
// huge costs no more memory than the limit.
#include "http/content_coding.h"

#include <algorithm>
#include <array>

#include <zlib.h>

#include "http/headers.h"

namespace reprise::http {
namespace {

constexpr size_t kPiece = size_t{64} << 10;
constexpr int kDetectFormat = 15 + 32;  // gzip or zlib, by its first bytes

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, kDetectFormat) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::string> run(std::string_view coded, size_t limit, BodyShare& share) {
    if (!ready_) return fail(ErrorKind::kInternal, "no memory to decompress a request body");
    std::string out;
    auto* next = reinterpret_cast<const unsigned char*>(coded.data());
    size_t left = coded.size();
    while (true) {
      stream_.next_in = const_cast<unsigned char*>(next);
      stream_.avail_in = static_cast<unsigned>(std::min(left, size_t{1} << 30));
      stream_.next_out = piece_.data();
      stream_.avail_out = static_cast<unsigned>(piece_.size());
      const unsigned given = stream_.avail_in;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      next += given - stream_.avail_in;
      left -= given - stream_.avail_in;
      const size_t made = piece_.size() - stream_.avail_out;
      if (made > limit - out.size()) {
        return fail(ErrorKind::kTooLarge, "the request body is larger than the limit of {} bytes", limit);
      }
      if (!share.grow_to(coded.size() + out.size() + made)) {
        return fail(ErrorKind::kUnavailable, "too many large requests are in hand; try again in a moment");
      }
      out.append(reinterpret_cast<const char*>(piece_.data()), made);
      if (status == Z_STREAM_END) {
        if (left == 0) return out;
        inflateReset(&stream_);  // members may follow each other (RFC 1952 §2.2)
      } else if (status != Z_OK && !(status == Z_BUF_ERROR && left > 0 && made > 0)) {
        return invalid("the request body is no valid compressed data: {}", status == Z_BUF_ERROR
                                                                               ? "it ends too early"
                                                                           : stream_.msg ? stream_.msg
                                                                                         : "broken");
      }
    }
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
  std::array<unsigned char, kPiece> piece_;
};

}  // namespace

Result<std::string> decode_content(std::string_view coding, std::string body, size_t limit,
                                   BodyShare& share) {
  if (coding.empty() || equal_ignoring_case(coding, "identity")) return body;
  if (!equal_ignoring_case(coding, "gzip") && !equal_ignoring_case(coding, "x-gzip") &&
      !equal_ignoring_case(coding, "deflate")) {
    return fail(ErrorKind::kUnsupported,
                "the content coding '{}' is not supported: send the body with gzip, deflate or plain",
                coding.substr(0, 40));
  }
  std::string plain = TRY(Inflater().run(body, limit, share));
  share.shrink_to(plain.size());
  return plain;
}

}  // namespace reprise::http
