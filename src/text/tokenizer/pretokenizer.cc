#include "text/tokenizer/pretokenizer.h"

#include <algorithm>

#include "text/tokenizer/byte_alphabet.h"
#include "text/utf8.h"

namespace reprise {

// One run of the steps over one text: a piece that step i cuts goes on to step i + 1 at once.
struct Pretokenizer::Run {
  const std::vector<Step>& steps;
  PieceSink& sink;

  void go(size_t level, std::string_view text, bool at_start) {
    if (text.empty()) return;
    if (level == steps.size()) {
      sink.piece(text);
      return;
    }
    const std::pair<Run*, size_t> here{this, level + 1};  // small enough for Next to keep in place
    const auto next = [&here](std::string_view piece, bool piece_at_start) {
      here.first->go(here.second, piece, piece_at_start);
    };
    steps[level](text, at_start, next);
  }
};

void Pretokenizer::split(std::string_view text, bool at_start, PieceSink& sink) const {
  if (text.empty()) return;
  if (scanner_ != nullptr) {
    scanner_(text, sink);
  } else if (patterns_) {
    patterns_->split(text, sink);
  } else if (steps_.empty()) {
    sink.piece(text);
  } else {
    Run{steps_, sink}.go(0, text, at_start);
  }
}

namespace pretokenize {
namespace {

struct Part {
  size_t begin, end;
  bool match;
};

// Joins and drops parts as `behavior` says; the parts cover the text.
void apply(std::vector<Part>& parts, Behavior behavior) {
  const auto join = [&](auto belongs) {  // belongs(before, part, previous was a match): to the part before it
    std::vector<Part> joined;
    bool previous = false;
    for (const Part& part : parts) {
      if (!joined.empty() && belongs(part.match, previous)) {
        joined.back().begin = std::min(joined.back().begin, part.begin);
        joined.back().end = std::max(joined.back().end, part.end);
      } else {
        joined.push_back(part);
      }
      previous = part.match;
    }
    parts = std::move(joined);
  };
  const auto match_after_gap = [](bool match, bool previous) { return match && !previous; };
  switch (behavior) {
    case Behavior::kIsolated:
      break;
    case Behavior::kRemoved:
      std::erase_if(parts, [](const Part& part) { return part.match; });
      break;
    case Behavior::kContiguous:
      join([](bool match, bool previous) { return match == previous; });
      break;
    case Behavior::kMergedWithPrevious:
      join(match_after_gap);
      break;
    case Behavior::kMergedWithNext:
      std::ranges::reverse(parts);
      join(match_after_gap);
      std::ranges::reverse(parts);
      break;
  }
}

void give_out(std::vector<Part>& parts, Behavior behavior, std::string_view text, bool at_start,
              const Pretokenizer::Next& next) {
  apply(parts, behavior);
  for (const Part& part : parts)
    next(text.substr(part.begin, part.end - part.begin), at_start && part.begin == 0);
}

}  // namespace

Pretokenizer::Step split(Regex pattern, Behavior behavior, bool invert) {
  return [pattern = std::make_shared<const Regex>(std::move(pattern)), behavior, invert](
             std::string_view text, bool at_start, const Pretokenizer::Next& next) {
    std::vector<Part> parts;
    Regex::Search search(*pattern);
    search.for_each(text, [&](size_t begin, size_t end, bool match) {
      parts.push_back({begin, end, match != invert});
    });
    give_out(parts, behavior, text, at_start, next);
  };
}

Pretokenizer::Step split(std::function<bool(uint32_t)> pattern, Behavior behavior) {
  return [pattern = std::move(pattern), behavior](std::string_view text, bool at_start,
                                                  const Pretokenizer::Next& next) {
    std::vector<Part> parts;
    size_t gap = 0;
    const char* const end = text.data() + text.size();
    for (const char* p = text.data(); p < end;) {
      const Utf8Step step = utf8_step(p, end);
      const auto begin = static_cast<size_t>(p - text.data());
      p += step.length;
      if (!pattern(step.code_point)) continue;
      if (gap < begin) parts.push_back({gap, begin, false});
      gap = begin + step.length;
      parts.push_back({begin, gap, true});
    }
    if (gap < text.size()) parts.push_back({gap, text.size(), false});
    give_out(parts, behavior, text, at_start, next);
  };
}

Pretokenizer::Step metaspace(std::string replacement, Prepend scheme, bool cut) {
  return [replacement = std::move(replacement), scheme, cut](std::string_view text, bool at_start,
                                                             const Pretokenizer::Next& next) {
    std::string out;
    out.reserve(text.size() + text.size() / 4);
    const bool wanted = scheme == Prepend::kAlways || (scheme == Prepend::kFirst && at_start);
    if (wanted && !text.starts_with(' ') && !text.starts_with(replacement)) out += replacement;
    for (const char c : text) {
      if (c == ' ') {
        out += replacement;
      } else {
        out += c;
      }
    }
    size_t begin = 0;
    if (cut) {
      for (size_t at = out.find(replacement, 1); at != std::string::npos;
           at = out.find(replacement, at + 1)) {
        next(std::string_view(out).substr(begin, at - begin), at_start && begin == 0);
        begin = at;
      }
    }
    next(std::string_view(out).substr(begin), at_start && begin == 0);
  };
}

Pretokenizer::Step prefix_space() {
  return [](std::string_view text, bool at_start, const Pretokenizer::Next& next) {
    if (text.starts_with(' ')) {
      next(text, at_start);
    } else {
      next(" " + std::string(text), at_start);
    }
  };
}

Pretokenizer::Step scan(PieceScanner scanner) {
  return [scanner](std::string_view text, bool at_start, const Pretokenizer::Next& next) {
    struct Sink final : PieceSink {
      void piece(std::string_view piece) override { (*next)(piece, at_start && piece.data() == begin); }
      const Pretokenizer::Next* next;
      const char* begin;
      bool at_start;
    } sink;
    sink.next = &next;
    sink.begin = text.data();
    sink.at_start = at_start;
    scanner(text, sink);
  };
}

Pretokenizer::Step byte_letters() {
  return [](std::string_view text, bool at_start, const Pretokenizer::Next& next) {
    next(letters_of_bytes(text), at_start);
  };
}

Pretokenizer::Step fixed_length(size_t characters) {
  return [characters](std::string_view text, bool at_start, const Pretokenizer::Next& next) {
    const char* const end = text.data() + text.size();
    for (const char* p = text.data(); p < end;) {
      const char* const begin = p;
      for (size_t i = 0; i < characters && p < end; ++i) p += utf8_step(p, end).length;
      next({begin, static_cast<size_t>(p - begin)}, at_start && begin == text.data());
    }
  };
}

}  // namespace pretokenize
}  // namespace reprise
