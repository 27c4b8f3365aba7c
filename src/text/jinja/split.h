// Cutting text the ways Python does. Pieces are views of the argument.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise::jinja {

constexpr int64_t kNoLimit = -1;

std::vector<std::string_view> split_words(std::string_view s, int64_t limit = kNoLimit);  // str.split()
std::vector<std::string_view> split_words_right(std::string_view s,
                                                int64_t limit = kNoLimit);  // str.rsplit()
std::vector<std::string_view> split_on(std::string_view s, std::string_view separator,
                                       int64_t limit = kNoLimit);
std::vector<std::string_view> split_on_right(std::string_view s, std::string_view separator, int64_t limit);
std::vector<std::string_view> split_lines(std::string_view s, bool keep_ends = false);  // str.splitlines()

}  // namespace reprise::jinja
