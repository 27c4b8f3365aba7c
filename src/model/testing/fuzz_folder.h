// The folder in which a fuzz target lays down the files of an input: its own, removed at exit. Header only:
// fuzz targets link the module alone.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace reprise::testing {

class FuzzFolder {
 public:
  explicit FuzzFolder(std::string_view name)
      : path_(std::filesystem::temp_directory_path() / fmt::format("reprise_{}_fuzz_{}", name, getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~FuzzFolder() { std::filesystem::remove_all(path_); }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, std::string_view bytes) const {
    std::FILE* file = std::fopen((path_ / name).c_str(), "wb");
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) std::abort();
    std::fclose(file);
  }
  void remove(const std::string& name) const { std::filesystem::remove(path_ / name); }

 private:
  std::filesystem::path path_;
};

// One a process; the name is the first caller's.
inline const FuzzFolder& fuzz_folder(std::string_view name) {
  static const FuzzFolder folder(name);
  return folder;
}

}  // namespace reprise::testing
