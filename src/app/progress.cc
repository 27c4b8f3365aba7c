#include "app/progress.h"

#include <cstdio>

#include <unistd.h>

#include "base/size.h"

namespace reprise {

Progress::Progress(std::string what)
    : what_(std::move(what)), start_(now()), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_ && drawn_ != 0) std::fputs("\r\033[K", stderr);
}

void Progress::update(size_t done, size_t total) {
  const Nanos time = now();
  if (!terminal_ || total == 0 || time - drawn_ < 100 * kMillisecond) return;
  drawn_ = time;
  constexpr int kWidth = 30;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const int filled = static_cast<int>(share * kWidth);
  const double left = share > 0 ? to_seconds(time - start_) * (1 - share) / share : 0;
  std::fputs(fmt::format("\r\033[K{} [{:#<{}}{:.<{}}] {:3.0f} %  {} of {}  {:.0f} s left", what_, "", filled,
                         "", kWidth - filled, share * 100, format_size(done), format_size(total), left)
                 .c_str(),
             stderr);
  std::fflush(stderr);
}

}  // namespace reprise
