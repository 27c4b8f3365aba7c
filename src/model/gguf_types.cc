// The tensor types of GGUF by number (ggml.h's enum ggml_type): block sizes for all, so that any file can be
// inspected; a WeightType for those the kernels read.
#include "model/gguf.h"

namespace reprise {
namespace {

using kernels::WeightType;

constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, WeightType::kF32},
    {1, "F16", 1, 2, WeightType::kF16},
    {2, "Q4_0", 32, 18, WeightType::kQ4_0},
    {3, "Q4_1", 32, 20, WeightType::kQ4_1},
    {6, "Q5_0", 32, 22, WeightType::kQ5_0},
    {7, "Q5_1", 32, 24, WeightType::kQ5_1},
    {8, "Q8_0", 32, 34, WeightType::kQ8_0},
    {9, "Q8_1", 32, 36, {}},
    {10, "Q2_K", 256, 84, WeightType::kQ2_K},
    {11, "Q3_K", 256, 110, WeightType::kQ3_K},
    {12, "Q4_K", 256, 144, WeightType::kQ4_K},
    {13, "Q5_K", 256, 176, WeightType::kQ5_K},
    {14, "Q6_K", 256, 210, WeightType::kQ6_K},
    {15, "Q8_K", 256, 292, {}},
    {16, "IQ2_XXS", 256, 66, {}},
    {17, "IQ2_XS", 256, 74, {}},
    {18, "IQ3_XXS", 256, 98, {}},
    {19, "IQ1_S", 256, 50, {}},
    {20, "IQ4_NL", 32, 18, WeightType::kIQ4_NL},
    {21, "IQ3_S", 256, 110, {}},
    {22, "IQ2_S", 256, 82, {}},
    {23, "IQ4_XS", 256, 136, WeightType::kIQ4_XS},
    {24, "I8", 1, 1, {}},
    {25, "I16", 1, 2, {}},
    {26, "I32", 1, 4, {}},
    {27, "I64", 1, 8, {}},
    {28, "F64", 1, 8, {}},
    {29, "IQ1_M", 256, 56, {}},
    {30, "BF16", 1, 2, WeightType::kBF16},
    {34, "TQ1_0", 256, 54, {}},
    {35, "TQ2_0", 256, 66, {}},
    {39, "MXFP4", 32, 17, WeightType::kMXFP4},
    {40, "NVFP4", 64, 36, {}},
};

}  // namespace

const GgufType* gguf_type(uint32_t id) {
  for (const GgufType& type : kTypes)
    if (type.id == id) return &type;
  return nullptr;
}

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (out.size() >= limit) return out + "...";
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    bool whole = length > 0 && i + length <= text.size() && c >= 0x20 && c != 0x7f;
    for (size_t j = 1; whole && j < length; ++j)
      whole = (static_cast<unsigned char>(text[i + j]) & 0xc0) == 0x80;
    // U+0080..U+009F are control characters too.
    if (whole && c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) whole = false;
    if (whole) {
      out.append(text.substr(i, length));
      i += length;
    } else {
      out += c == '\n' ? "\\n" : fmt::format("\\x{:02x}", c);
      ++i;
    }
  }
  return out;
}

}  // namespace reprise
