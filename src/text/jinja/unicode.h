// Text as Python sees it: code points, their classes and case. All functions take UTF-8 and tolerate
// malformed bytes (a code point then ends where its continuation bytes do, and reads as U+FFFD).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise::jinja::unicode {

size_t length(std::string_view s);          // code points
size_t next(std::string_view s, size_t i);  // where the code point after the one at byte i starts
size_t offset(std::string_view s,
              size_t index);                    // byte where code point `index` starts; s.size() past the end
char32_t decode(std::string_view s, size_t i);  // the code point at byte i
void append(std::string& out, char32_t c);
bool valid(std::string_view s);

bool is_space(char32_t c);  // str.isspace, \s
bool is_word(char32_t c);   // \w
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_printable(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
bool is_cased(char32_t c);

std::string upper(std::string_view s);
std::string lower(std::string_view s);
std::string capitalize(std::string_view s);
std::string title(std::string_view s);  // str.title, not the filter
std::string swapcase(std::string_view s);
std::string casefold(std::string_view s);

// Python's str.strip family with the default or given set of characters; views of the argument.
std::string_view strip_left(std::string_view s);
std::string_view strip_right(std::string_view s);

}  // namespace reprise::jinja::unicode
