#include "text/tokenizer/normalizer.h"

#include <utf8proc.h>

#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/char_class.h"
#include "text/tokenizer/character_map.h"
#include "text/tokenizer/unicode_versions.h"
#include "text/utf8.h"

namespace reprise::normalize {
namespace {

// Rebuilds `text` from what put(code point, its bytes, out) appends for each character.
template <typename Put>
void rebuild(std::string& text, Put put) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const Utf8Step step = utf8_step(p, end);
    put(step.code_point, std::string_view(p, step.length), out);
    p += step.length;
  }
  text = std::move(out);
}

bool is_chinese(uint32_t c) {  // the blocks that BERT sets apart, its slip (2B920) included
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_bert_control(uint32_t c) { return c != '\t' && c != '\n' && c != '\r' && is_library_control(c); }

}  // namespace

Normalizer::Step prepend(std::string prefix) {
  return [prefix = std::move(prefix)](std::string& text) {
    if (!text.empty()) text.insert(0, prefix);
  };
}

Normalizer::Step replace(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](std::string& text) {
    size_t at = text.find(from);
    if (at == std::string::npos) return;
    std::string out;
    out.reserve(text.size() + text.size() / 4);
    size_t done = 0;
    for (; at != std::string::npos; at = text.find(from, done)) {
      out.append(text, done, at - done).append(to);
      done = at + from.size();
    }
    out.append(text, done);
    text = std::move(out);
  };
}

Normalizer::Step replace(Regex pattern, std::string to) {
  return
      [pattern = std::make_shared<const Regex>(std::move(pattern)), to = std::move(to)](std::string& text) {
        if (text.empty()) return;
        std::string out;
        Regex::Search search(*pattern);
        search.for_each(text, [&](size_t begin, size_t end, bool match) {
          if (match) {
            out += to;
          } else {
            out.append(text, begin, end - begin);
          }
        });
        text = std::move(out);
      };
}

Normalizer::Step unicode(Form form) {
  return [form](std::string& text) { text = in_form(text, form); };
}

Normalizer::Step lowercase() {
  return [](std::string& text) {
    rebuild(text, [](uint32_t c, std::string_view, std::string& out) { append_lowercase(out, c); });
  };
}

Normalizer::Step strip_accents() {
  return [](std::string& text) {
    rebuild(text, [](uint32_t c, std::string_view bytes, std::string& out) {
      if (!is_library_mark(c)) out += bytes;
    });
  };
}

Normalizer::Step strip(bool left, bool right) {
  return [left, right](std::string& text) {
    const char* begin = text.data();
    const char* const end = begin + text.size();
    const char* last = begin;  // past the last character that is no space
    bool leading = true;
    for (const char* p = begin; p < end;) {
      const Utf8Step step = utf8_step(p, end);
      p += step.length;
      if (is_space(step.code_point)) {
        if (leading && left) begin = p;
      } else {
        leading = false;
        last = p;
      }
    }
    const char* const stop = right ? std::max(last, begin) : end;
    text = std::string(begin, stop);
  };
}

Normalizer::Step nmt() {
  return [](std::string& text) {
    rebuild(text, [](uint32_t c, std::string_view bytes, std::string& out) {
      if ((c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
          c == 0x9F)
        return;
      const bool space = c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                         c == 0xFEFF || c == 0xFFFD;
      out += space ? " " : bytes;
    });
  };
}

Normalizer::Step byte_letters() {
  return [](std::string& text) { text = letters_of_bytes(text); };
}

Normalizer::Step bert(Bert options) {
  return [options](std::string& text) {
    if (options.clean_text) {
      rebuild(text, [](uint32_t c, std::string_view bytes, std::string& out) {
        if (c == 0 || c == 0xFFFD || is_bert_control(c)) return;
        out += is_space(c) ? " " : bytes;
      });
    }
    if (options.handle_chinese_chars) {
      rebuild(text, [](uint32_t c, std::string_view bytes, std::string& out) {
        if (is_chinese(c)) {
          out.append(" ").append(bytes).append(" ");
        } else {
          out += bytes;
        }
      });
    }
    if (options.strip_accents) {
      text = in_form(text, Form::kNfd);
      rebuild(text, [](uint32_t c, std::string_view bytes, std::string& out) {
        if (!is_library_accent(c)) out += bytes;
      });
    }
    if (options.lowercase)
      rebuild(text, [](uint32_t c, std::string_view, std::string& out) { append_lowercase(out, c); });
  };
}

Normalizer::Step sentencepiece(std::shared_ptr<const CharacterMap> map, bool merge_spaces,
                               bool prefix_space) {
  return [map = std::move(map), merge_spaces, prefix_space](std::string& text) {
    std::string mapped;
    if (map) {
      for (size_t at = 0; at < text.size();) {
        const std::string_view rest = std::string_view(text).substr(at);
        if (const auto match = map->longest(rest)) {
          mapped += match->replacement;
          at += match->length;
        } else {
          const size_t length = utf8_step(rest.data(), rest.data() + rest.size()).length;
          mapped += rest.substr(0, length);
          at += length;
        }
      }
    } else {
      mapped = std::move(text);
    }
    if (merge_spaces) {
      std::string merged;
      for (const char c : mapped)
        if (c != ' ' || (!merged.empty() && merged.back() != ' ')) merged += c;
      if (merged.ends_with(' ')) merged.pop_back();
      mapped = std::move(merged);
    }
    text.clear();
    if (prefix_space && !mapped.empty()) text += "\u2581";
    for (const char c : mapped) {
      if (c == ' ') {
        text += "\u2581";
      } else {
        text += c;
      }
    }
  };
}

Normalizer::Step precompiled(std::shared_ptr<const CharacterMap> map) {
  return [map = std::move(map)](std::string& text) {
    std::string out;
    out.reserve(text.size());
    const auto put = [&](std::string_view character) {
      const auto match = map->shortest(character);
      out += match ? match->replacement : character;
    };
    const char* const end = text.data() + text.size();
    for (const char* p = text.data(); p < end;) {
      // The grapheme cluster that begins here.
      const char* cluster = p;
      utf8proc_int32_t state = 0;
      Utf8Step step = utf8_step(p, end);
      p += step.length;
      while (p < end) {
        const Utf8Step next = utf8_step(p, end);
        if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(step.code_point),
                                             static_cast<utf8proc_int32_t>(next.code_point), &state))
          break;
        step = next;
        p += next.length;
      }
      const std::string_view grapheme(cluster, static_cast<size_t>(p - cluster));
      if (grapheme.size() < 6) {
        if (const auto match = map->shortest(grapheme)) {
          out += match->replacement;
          continue;
        }
      }
      for (const char* q = cluster; q < p;) {
        const size_t length = utf8_step(q, p).length;
        put({q, length});
        q += length;
      }
    }
    text = std::move(out);
  };
}

}  // namespace reprise::normalize
