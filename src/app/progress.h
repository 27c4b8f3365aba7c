// A progress line on a terminal for anything that takes longer than a moment; silent when standard error is
// no terminal.
#pragma once

#include <string>

#include "base/clock.h"

namespace reprise {

class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(size_t done, size_t total);  // bytes; redraws at most ten times a second

 private:
  std::string what_;
  Nanos start_, drawn_ = 0;
  bool terminal_;
};

}  // namespace reprise
