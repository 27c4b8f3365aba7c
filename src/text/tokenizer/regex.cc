// Design: compiled with JIT; without JIT support PCRE2's interpreter matches the same. Patterns with nested
// repeats keep a frame for each repeat, so the JIT's stack may grow to what a long run of one character
// needs; and a repeat that gives back what it took is as many steps as the run is long, so the limit of steps
// grows with the text.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/tokenizer/regex.h"

#include <algorithm>

#include <pcre2.h>

#include "base/check.h"
#include "text/tokenizer/oniguruma.h"

namespace reprise {
namespace {

constexpr size_t kMaxStack = size_t{256} << 20;
constexpr size_t kMaxSteps = 10'000'000;  // of a match in a short text
constexpr size_t kMaxStepsPerByte = 8;
constexpr size_t kWindow = size_t{64} << 10;

// Where the window that begins at `from` ends: not inside a character.
size_t window_end(std::string_view text, size_t from) {
  if (text.size() - from <= kWindow) return text.size();
  size_t end = from + kWindow;
  while ((static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

pcre2_compile_context* compile_context() {
  static pcre2_compile_context* const context = [] {
    pcre2_compile_context* made = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(made, PCRE2_NEWLINE_LF);
    pcre2_set_bsr(made, PCRE2_BSR_UNICODE);
    return made;
  }();
  return context;
}

// A thread's own: stacks cannot be shared.
pcre2_match_context* match_context() {
  struct Context {
    pcre2_match_context* match = pcre2_match_context_create(nullptr);
    pcre2_jit_stack* stack = pcre2_jit_stack_create(32 << 10, kMaxStack, nullptr);
    Context() {
      if (stack != nullptr) pcre2_jit_stack_assign(match, nullptr, stack);
      pcre2_set_heap_limit(match, kMaxStack >> 10);
    }
    ~Context() {
      pcre2_match_context_free(match);
      pcre2_jit_stack_free(stack);
    }
  };
  thread_local const Context context;
  return context.match;
}

}  // namespace

void Regex::Free::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }
void Regex::Search::Free::operator()(pcre2_real_match_data_8* data) const { pcre2_match_data_free(data); }

Result<Regex> Regex::compile(std::string_view pattern) {
  return compile_pcre2(TRY(pcre2_pattern(pattern)), pattern);
}

Regex Regex::literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == '\0') {
      pattern += "\\x{0}";
    } else if (word || static_cast<uint8_t>(c) >= 0x80 || static_cast<uint8_t>(c) <= ' ') {
      pattern += c;
    } else {
      pattern += '\\';
      pattern += c;
    }
  }
  auto made = compile_pcre2(pattern, text);
  CHECK(made.has_value(), "a literal pattern: {}", made.error().message);
  made->literal_ = true;
  return std::move(*made);
}

Result<Regex> Regex::compile_pcre2(std::string_view pattern, std::string_view source) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  Regex regex;
  regex.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE, &error,
                                  &offset, compile_context()));
  if (regex.code_ == nullptr) {
    PCRE2_UCHAR text[160] = {};
    pcre2_get_error_message(error, text, sizeof text);
    return fail(ErrorKind::kUnsupported, "the pattern {} is not understood: {}", source,
                reinterpret_cast<const char*>(text));
  }
  pcre2_jit_compile(regex.code_.get(), PCRE2_JIT_COMPLETE);
  return regex;
}

bool Regex::matches(uint32_t character) const {
  std::string text;
  append_utf8(text, literal_ ? character : stand_in(character));
  return find(text, 0).has_value();
}

Regex::Search::Search(const Regex& regex)
    : regex_(&regex), data_(pcre2_match_data_create_from_pattern(regex.code_.get(), nullptr)) {}

std::optional<Regex::Match> Regex::Search::find(std::string_view text, size_t from) {
  pcre2_match_context* const context = match_context();
  for (;;) {
    const size_t end = windows_ ? window_end(text, from) : text.size();
    const size_t steps = std::min<size_t>(kMaxSteps + (end - from) * kMaxStepsPerByte, UINT32_MAX);
    pcre2_set_match_limit(context, static_cast<uint32_t>(steps));
    const int found = pcre2_match(regex_->code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), end, from,
                                  PCRE2_NO_UTF_CHECK, data_.get(), context);
    if (found >= 0) break;
    if (found != PCRE2_ERROR_NOMATCH) {
      if (windows_) return std::nullopt;
      windows_ = true;
    } else if (end == text.size()) {
      return std::nullopt;
    } else {
      from = end;
    }
  }
  const PCRE2_SIZE* at = pcre2_get_ovector_pointer(data_.get());
  return Match{at[0], at[1]};
}

}  // namespace reprise
