// Where the numbers come from: proc_meminfo(5) MemAvailable; the kernel's cgroup-v2.rst memory.max,
// memory.current and memory.stat; cgroup-v1/memory.rst memory.limit_in_bytes, memory.usage_in_bytes and
// memory.stat. A limit holds for a whole subtree, so every ancestor is asked. Inside a container the paths in
// /proc/self/cgroup may be the host's: folders that do not exist are passed over, and the mount's root, which
// is then the container's own, is asked last.
#include "engine/kv_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

namespace {
namespace fs = std::filesystem;
constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// The number after `key` at the start of a line ("" = of the file's first line). None: no such file, line or
// number.
std::optional<size_t> read_number(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const char* begin = line.data() + key.size();
    const char* end = line.data() + line.size();
    while (begin != end && *begin == ' ') ++begin;
    size_t value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc()) return std::nullopt;  // "max": no limit
    return value;
  }
  return std::nullopt;
}

struct MemoryFiles {
  const char *limit, *usage, *inactive, *active;
};
constexpr MemoryFiles kV2 = {"memory.max", "memory.current", "inactive_file ", "active_file "};
constexpr MemoryFiles kV1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
                             "total_active_file "};

size_t left_in(const fs::path& folder, const MemoryFiles& files) {
  const auto limit = read_number(folder / files.limit, "");
  const auto usage = read_number(folder / files.usage, "");
  if (!limit || !usage) return kNoLimit;
  const size_t cache = read_number(folder / "memory.stat", files.inactive).value_or(0) +
                       read_number(folder / "memory.stat", files.active).value_or(0);
  const size_t used = *usage - std::min(cache, *usage);
  return *limit - std::min(used, *limit);
}

// The least that is left in the group `path` or an ancestor of it, below the mount point.
size_t left_in_tree(const fs::path& mount, const fs::path& path, const MemoryFiles& files) {
  size_t left = kNoLimit;
  for (fs::path group = path.relative_path().lexically_normal();; group = group.parent_path()) {
    left = std::min(left, left_in(mount / group, files));
    if (group.empty()) return left;
  }
}
}  // namespace

Result<size_t> available_memory(const fs::path& root) {
  size_t available = kNoLimit;
  if (const auto kib = read_number(root / "proc/meminfo", "MemAvailable:")) available = *kib * 1024;

  // Lines "ID:CONTROLLERS:PATH"; version 2 has the ID 0 and no controllers.
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = line.substr(second + 1);
    if (controllers == ",,") available = std::min(available, left_in_tree(root / "sys/fs/cgroup", path, kV2));
    if (controllers.find(",memory,") != std::string::npos)
      available = std::min(available, left_in_tree(root / "sys/fs/cgroup/memory", path, kV1));
  }
  if (available == kNoLimit)
    return fail(ErrorKind::kNotFound, "cannot read how much memory is available; set the KV memory by hand");
  return available;
}

uint32_t pages_for(const KvSpec& spec, size_t bytes) {
  size_t page = 0;
  for (const KvGroup& group : spec.groups) page += group.page_bytes;
  if (page == 0) return 0;
  return static_cast<uint32_t>(std::min<size_t>(bytes / page, kNoPage - 1));
}

}  // namespace reprise
