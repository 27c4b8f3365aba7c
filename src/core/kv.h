// The shape of a model's KV memory. A page holds `page_tokens` consecutive positions of one sequence, for one
// group. A page is an id; the bytes behind it belong to the executor (one buffer per group and rank).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise {

using PageId = uint32_t;
inline constexpr PageId kNoPage =
    ~PageId{0};  // a table entry without a page: outside the window, not checkpointed

enum class KvKind : uint8_t {
  kFull,    // every earlier position is needed
  kWindow,  // the last `window` positions are needed
  kState,   // recurrent state: usable only at checkpointed positions
  kDraft,   // a drafter's rows; a prefix without them is usable, without drafting
};

struct KvGroup {
  KvKind kind = KvKind::kFull;
  uint32_t window = 0;    // tokens, for kWindow
  size_t page_bytes = 0;  // all layers of the group
};

inline constexpr size_t kMaxKvGroups = 4;

struct KvSpec {
  uint32_t page_tokens = 0;
  std::vector<KvGroup> groups;  // 1 .. kMaxKvGroups
};

// A sequence's page tables, one per group: entry i covers positions [i * page_tokens, (i + 1) * page_tokens).
// kFull: every entry has a page. kWindow: those that hold any of the last `window` positions. kDraft: all or
// none (an empty table: no drafting). kState: a step over [begin, end) reads the state at `begin` from entry
// (begin - 1) / page_tokens and leaves the state at `end` in entry (end - 1) / page_tokens; other entries may
// have no page.
using PageTables = std::array<std::span<const PageId>, kMaxKvGroups>;

}  // namespace reprise
