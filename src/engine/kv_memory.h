// How much memory the KV cache may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "core/kv.h"

namespace reprise {

// Bytes this process may still allocate: MemAvailable of /proc/meminfo, or what the tightest memory limit
// among the process's cgroups (v2, or v1's memory controller) leaves, whichever is less. Reclaimable file
// cache counts as free in both. `root` is for tests: the folder taken for "/". Error: neither can be read.
Result<size_t> available_memory(const std::filesystem::path& root = "/");

// The default for KV pages: 60 % of `available`, asked for once the weights are resident.
inline size_t default_kv_memory(size_t available) { return available / 10 * 6; }

// Pages that fit in `bytes` when each costs one page of every group (a sequence uses all groups in step). 0 =
// none fits.
uint32_t pages_for(const KvSpec& spec, size_t bytes);

}  // namespace reprise
