// What of a path can be used: the longest position at which every KV group has what is needed to go on, and
// its pages.
//
// Where two nodes of a path meet inside a page, the deeper one's page is preferred, as it has the rows of
// both; the shallower one's rows end at the border, whatever else its page holds.
#include <algorithm>
#include <optional>

#include "cache/radix_tree.h"

namespace reprise {
namespace {

struct Rows {
  const PageRef* page = nullptr;
  uint32_t end = 0;  // rows [page start, end) belong to the path
};

}  // namespace

// Per page of [0, tokens): the best page of a row group (any but kState).
static std::vector<Rows> rows_of(const Path& path, uint32_t group, uint32_t tokens, uint32_t page_tokens) {
  std::vector<Rows> rows((tokens + page_tokens - 1) / page_tokens);
  for (const Node* node : path.nodes) {
    const uint32_t first = node->begin / page_tokens;
    const std::vector<Slot>& slots = node->slots[group];
    for (size_t j = 0; j < slots.size() && first + j < rows.size(); ++j) {
      if (slots[j].page) rows[first + j] = {&slots[j].page, slots[j].end};
    }
  }
  return rows;
}

// The longest m <= tokens whose last `window` positions all have rows. One pass downwards.
static uint32_t usable_window(const std::vector<Rows>& rows, uint32_t window, uint32_t tokens,
                              uint32_t page_tokens) {
  uint32_t m = tokens;
  while (m > 0) {
    const uint32_t needed_from = m > window ? m - window : 0;
    uint32_t shorter = m;
    for (uint32_t page = (m - 1) / page_tokens;; --page) {
      const uint32_t begin = page * page_tokens;
      const uint32_t have = rows[page].page ? rows[page].end : begin;
      if (have < std::min(m, begin + page_tokens)) {
        shorter = std::max(have, begin);
        break;
      }
      if (begin <= needed_from) return m;
    }
    m = shorter;
  }
  return 0;
}

// The last checkpoint at or before `tokens`.
static const Slot* last_state(const Path& path, uint32_t group, uint32_t tokens) {
  for (size_t i = path.nodes.size(); i-- > 0;) {
    const std::vector<Slot>& slots = path.nodes[i]->slots[group];
    for (size_t j = slots.size(); j-- > 0;) {
      if (slots[j].page && slots[j].end <= tokens) return &slots[j];
    }
  }
  return nullptr;
}

uint32_t PrefixCache::Tree::usable(const Path& path) const {
  uint32_t m = path.matched;
  std::array<std::vector<Rows>, kMaxKvGroups> rows;
  for (uint32_t g = 0; g < groups; ++g) {
    if (spec.groups[g].kind == KvKind::kWindow) rows[g] = rows_of(path, g, m, page_tokens);
  }
  for (uint32_t before = m + 1; before != m;) {  // until all groups agree; m only falls
    before = m;
    for (uint32_t g = 0; g < groups; ++g) {
      const KvGroup& group = spec.groups[g];
      if (group.kind == KvKind::kWindow) m = usable_window(rows[g], group.window, m, page_tokens);
      if (group.kind == KvKind::kState) {
        const Slot* state = last_state(path, g, m);
        m = state ? state->end : 0;
      }
    }
  }
  return m;
}

KvPages PrefixCache::Tree::pages(const Path& path, uint32_t tokens) const {
  KvPages pages;
  const uint32_t count = page_count(tokens);
  if (count == 0) return pages;
  for (uint32_t g = 0; g < groups; ++g) {
    const KvGroup& group = spec.groups[g];
    if (group.kind == KvKind::kState) {
      const Slot* state = last_state(path, g, tokens);
      CHECK(state && state->end == tokens);
      pages[g].set(count - 1, state->page.held_by(PageHolder::kSequence));
      continue;
    }
    const std::vector<Rows> rows = rows_of(path, g, tokens, page_tokens);
    uint32_t first = 0;
    if (group.kind == KvKind::kWindow && tokens > group.window) first = (tokens - group.window) / page_tokens;
    if (group.kind == KvKind::kDraft) {
      bool complete = true;
      for (uint32_t page = 0; page < count; ++page) {
        complete = complete && rows[page].page && rows[page].end >= std::min(tokens, page_end(page));
      }
      if (!complete) continue;
    }
    for (uint32_t page = first; page < count; ++page) {
      pages[g].set(page, rows[page].page->held_by(PageHolder::kSequence));
    }
  }
  return pages;
}

}  // namespace reprise
