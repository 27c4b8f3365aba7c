#include "http/url.h"

#include <algorithm>
#include <charconv>

#include "http/headers.h"

namespace reprise::http {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// No control character, no space, no '#' (a fragment never reaches a server). Bytes beyond ASCII pass: some
// clients send UTF-8 unescaped.
bool is_clean(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c <= 0x20 || c == 0x7f || c == '#'; });
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  std::string_view rest = text;
  if (const size_t at = rest.find("://"); at != std::string_view::npos) {
    if (!equal_ignoring_case(rest.substr(0, at), "http")) {
      return fail(ErrorKind::kUnsupported, "'{}': only http:// URLs are supported", text);
    }
    rest.remove_prefix(at + 3);
  }
  Url url;
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  if (url.path.find('?') != std::string::npos || authority.find_first_of("@?") != std::string_view::npos ||
      !is_clean(rest)) {
    return invalid("'{}': give only host, port and path, like http://127.0.0.1:8000", text);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return invalid("'{}': the bracket after '[' is missing", text);
    url.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
    if (!authority.empty() && !authority.starts_with(':')) return invalid("'{}': ':' must follow ']'", text);
    if (!authority.empty()) port = authority.substr(1);
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    if (colon < authority.size()) port = authority.substr(colon + 1);
  }
  if (url.host.empty()) return invalid("'{}' names no host; a URL looks like http://127.0.0.1:8000", text);
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port == 0) {
      return invalid("'{}': the port must be a number from 1 to 65535", text);
    }
  }
  return url;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex(text[i + 1]), low = hex(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::optional<Target> parse_target(std::string_view target) {
  if (!is_clean(target)) return std::nullopt;
  if (target == "*") return Target{"*", ""};
  if (!target.starts_with('/')) {  // the absolute form, which proxies send
    const size_t at = target.find("://");
    if (at == std::string_view::npos || target.find_first_of("/?") < at) return std::nullopt;
    target.remove_prefix(at + 3);
    target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
  }
  const size_t question = std::min(target.find('?'), target.size());
  auto path = percent_decode(target.substr(0, question));
  if (!path) return std::nullopt;
  if (path->empty()) *path = "/";
  return Target{std::move(*path), std::string(target.substr(std::min(question + 1, target.size())))};
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    if (percent_decode(pair.substr(0, equals), true) != name) continue;
    return percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
  }
  return std::nullopt;
}

}  // namespace reprise::http
