// Texts are built front to back in the newest block, so a mark nearly always extends or follows the last run
// of its block. Addresses of unrelated objects are compared as std::less does, which orders all pointers.
#include "text/jinja/provenance.h"

#include <algorithm>
#include <functional>

namespace reprise::jinja {
namespace {
constexpr std::less<const char*> kBefore;
}

void Provenance::trust(std::string_view memory) {
  if (memory.empty()) return;
  add_block(memory.data(), memory.data() + memory.size());
  mark(memory);
}

void Provenance::add_block(const char* begin, const char* end) {
  const auto at = std::ranges::upper_bound(blocks_, begin, kBefore, &Block::begin);
  blocks_.insert(at, Block{begin, end, {}});
}

const Provenance::Block* Provenance::block_of(const char* p) const {
  const Block* first = blocks_.data();
  size_t count = blocks_.size();
  while (count > 1) {  // of blocks from `first` on, the last that begins at or before p
    const size_t half = count / 2;
    if (!kBefore(p, first[half].begin)) first += half;
    count -= half;
  }
  return count == 1 && !kBefore(p, first->begin) && kBefore(p, first->end) ? first : nullptr;
}

void Provenance::mark(std::string_view text) {
  const auto* found = text.empty() ? nullptr : block_of(text.data());
  if (found == nullptr) return;
  std::vector<Run>& own = blocks_[static_cast<size_t>(found - blocks_.data())].own;
  Run run{text.data(), text.data() + text.size()};
  if (own.empty() || own.back().end < run.begin) {
    own.push_back(run);
    return;
  }
  if (own.back().end == run.begin) {
    own.back().end = run.end;
    return;
  }
  // All runs that touch the new one become one with it.
  const auto first = std::ranges::lower_bound(own, run.begin, {}, &Run::end);
  auto last = first;
  for (; last != own.end() && last->begin <= run.end; ++last) {
    run.begin = std::min(run.begin, last->begin);
    run.end = std::max(run.end, last->end);
  }
  if (first == last) {
    own.insert(first, run);
  } else {
    *first = run;
    own.erase(first + 1, last);
  }
}

void Provenance::own_parts(std::string_view text, size_t offset, std::vector<TextSpan>& spans) const {
  if (text.empty()) return;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const Block* block = block_of(begin);
  if (block == nullptr || block->own.empty() || block->own.back().end <= begin) return;
  if (block->own.back().begin <= begin) {  // the last run, as for all of the template's source
    append_span(spans, {offset, offset + static_cast<size_t>(std::min(block->own.back().end, end) - begin)});
    return;
  }
  for (auto run = std::ranges::upper_bound(block->own, begin, {}, &Run::end);
       run != block->own.end() && run->begin < end; ++run) {
    const auto from = static_cast<size_t>(std::max(run->begin, begin) - begin);
    const auto to = static_cast<size_t>(std::min(run->end, end) - begin);
    append_span(spans, {offset + from, offset + to});
  }
}

bool Provenance::is_own(std::string_view text) const {
  std::vector<TextSpan> spans;
  own_parts(text, 0, spans);
  return text.empty() || (spans.size() == 1 && spans[0] == TextSpan{0, text.size()});
}

}  // namespace reprise::jinja
