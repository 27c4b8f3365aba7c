// A blocking socket for tests that send exact bytes: malformed, pipelined, slow, or half of a request.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/check.h"

namespace reprise::http {

class RawSocket {
 public:
  explicit RawSocket(uint16_t port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    CHECK(fd_ >= 0, "no socket");
    if (receive_buffer > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  RawSocket(RawSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connected_(other.connected_),
        received_(std::move(other.received_)) {}
  RawSocket(const RawSocket&) = delete;
  ~RawSocket() { close(); }

  bool connected() const { return connected_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Closes with a reset (RST) instead of an orderly end.
  void reset() {
    const linger hard{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  // Everything up to and including `mark`; what was received before the end when it never comes.
  std::string read_until(std::string_view mark) {
    size_t searched = 0, found;
    while ((found = received_.find(mark, searched)) == std::string::npos) {
      searched = received_.size() - std::min(received_.size(), mark.size() - 1);
      if (!receive()) return std::exchange(received_, {});
    }
    std::string result = received_.substr(0, found + mark.size());
    received_.erase(0, result.size());
    return result;
  }
  std::string read_exactly(size_t size) {
    while (received_.size() < size && receive()) {
    }
    std::string result = received_.substr(0, size);
    received_.erase(0, result.size());
    return result;
  }
  // Until the server closes.
  std::string read_all() {
    while (receive()) {
    }
    return std::exchange(received_, {});
  }

 private:
  bool receive() {
    char piece[65536];
    const ssize_t count = ::recv(fd_, piece, sizeof piece, 0);
    CHECK(count >= 0 || errno != EAGAIN, "nothing came for 20 s after: {}", received_);
    if (count <= 0) return false;
    received_.append(piece, static_cast<size_t>(count));
    return true;
  }
  int fd_;
  bool connected_ = false;
  std::string received_;
};

}  // namespace reprise::http
