// Design: utf8proc's parts without its way to order marks, which swaps neighbours until all are in order: in
// the square of the marks on one character, and any client may send a long run of them.
#include "text/tokenizer/unicode_form.h"

#include <algorithm>
#include <vector>

#include <utf8proc.h>

#include "base/check.h"
#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

namespace reprise::normalize {
namespace {

int combining_class(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

// Marks behind a character in the order of their classes; those of one class keep theirs.
void order_marks(std::vector<utf8proc_int32_t>& characters) {
  for (auto at = characters.begin(); at != characters.end();) {
    if (combining_class(*at) == 0) {
      ++at;
      continue;
    }
    const auto end = std::find_if(at, characters.end(), [](auto c) { return combining_class(c) == 0; });
    if (!std::ranges::is_sorted(at, end, {}, combining_class))
      std::ranges::stable_sort(at, end, {}, combining_class);
    at = end;
  }
}

class Writer {
 public:
  Writer(Form form, size_t size) {
    const bool compose = form == Form::kNfc || form == Form::kNfkc;
    const bool compatible = form == Form::kNfkc || form == Form::kNfkd;
    options_ =
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                       (compatible ? UTF8PROC_COMPAT : 0));
    out_.reserve(size);
  }

  void add(uint32_t c) {
    utf8proc_int32_t parts[32];  // the longest decomposition has 18
    const utf8proc_ssize_t count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts,
                                                           std::ssize(parts), options_, nullptr);
    CHECK(count >= 0 && count <= std::ssize(parts), "decomposition of {:x}: {}", c, count);
    pending_.insert(pending_.end(), parts, parts + count);
  }
  // Writes what has been added: nothing is ordered or composed across this place.
  void flush() {
    if (pending_.empty()) return;
    order_marks(pending_);
    const utf8proc_ssize_t count = utf8proc_normalize_utf32(pending_.data(), std::ssize(pending_), options_);
    CHECK(count >= 0, "utf8proc: {}", utf8proc_errmsg(count));
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      append_utf8(out_, static_cast<uint32_t>(pending_[static_cast<size_t>(i)]));
    pending_.clear();
  }
  void append(std::string_view bytes) { out_ += bytes; }
  std::string finish() {
    flush();
    return std::move(out_);
  }

 private:
  utf8proc_option_t options_;
  std::vector<utf8proc_int32_t> pending_;
  std::string out_;
};

}  // namespace

std::string in_form(std::string_view text, Form form) {
  Writer writer(form, text.size() + text.size() / 8);
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    // ASCII stays as it is, but a mark may follow its last character.
    const char* ascii = p;
    while (ascii < end && static_cast<uint8_t>(*ascii) < 0x80) ++ascii;
    if (ascii > p) {
      writer.flush();
      if (ascii == end) {
        writer.append({p, static_cast<size_t>(end - p)});
        break;
      }
      writer.append({p, static_cast<size_t>(ascii - p) - 1});
      writer.add(static_cast<uint8_t>(ascii[-1]));
      p = ascii;
    }
    const Utf8Step step = utf8_step(p, end);
    if (is_inert(step.code_point)) {
      writer.flush();
      writer.append({p, step.length});
    } else {
      writer.add(step.code_point);
    }
    p += step.length;
  }
  return writer.finish();
}

}  // namespace reprise::normalize
