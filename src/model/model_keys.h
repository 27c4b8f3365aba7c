// The metadata of one architecture in a model file, ARCHITECTURE.*, by the names that follow the prefix. It
// remembers what was read: a key that changes the computation and that nobody read is an error, not silence.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf.h"

namespace reprise {

class ModelKeys {
 public:
  // `file` must outlive it.
  ModelKeys(const ModelFile& file, std::string_view architecture)
      : file_(file), prefix_(std::string(architecture) + ".") {}

  std::string full(std::string_view name) const { return prefix_ + std::string(name); }
  bool has(std::string_view name) const { return file_.value(full(name)) != nullptr; }

  bool is_array(std::string_view name) const {
    const GgufValue* value = file_.value(full(name));
    return value && std::holds_alternative<GgufArray>(*value);
  }

  // As ModelFile's; the errors name the full key.
  template <typename T>
  Result<T> require(std::string_view name) {
    return file_.require<T>(read(name));
  }
  template <typename T>
  Result<std::optional<T>> find(std::string_view name) {
    return file_.find<T>(read(name));
  }
  template <typename T>
  Result<T> get_or(std::string_view name, T fallback) {
    return file_.get_or<T>(read(name), fallback);
  }
  // An integer of 1 .. limit.
  Result<uint32_t> size(std::string_view name, uint32_t limit, std::optional<uint32_t> fallback = {});

  // Call last. Error: a key that was not read asks for a computation of other results. Notes tell of keys
  // that nobody knows.
  Result<void> check_unread(std::vector<std::string>& notes) const;

 private:
  std::string read(std::string_view name) {
    read_.emplace(name);
    return full(name);
  }

  const ModelFile& file_;
  std::string prefix_;
  std::set<std::string, std::less<>> read_;
};

// What a key holds is understood, but not supported.
std::unexpected<Error> unsupported_key(const std::string& key, std::string_view why);

}  // namespace reprise
