// The types of stored weights and how the numbers of each come from its integers, for readers of files, for
// packing and for the kernels alike. A type of blocks holds small codes with shared scales (ggml's block_*
// structures):
//
//   w = scale * (level(code) - zero) [+ minimum]
//
// where runs of 16 or 32 codes share a scale, and level(code) is the code itself or its place in a table.
// Compiled with every instruction set's flags: constants only, nothing that could be emitted out of line.
#pragma once

#include <cstdint>

namespace reprise::kernels {

enum class WeightType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kMXFP4,
};
inline constexpr int kWeightTypes = 16;

// How a run's scale and minimum are stored. d and m are fp16, one per block; s and t are bytes, one per run.
enum class Scaling : uint8_t {
  kNone,        // no codes: the weight itself
  kHalf,        // scale = d
  kHalfMin,     // scale = d, minimum = m
  kSigned,      // scale = d s, s in [-128, 127]
  kPair,        // scale = d s, minimum = -m t; s and t in [0, 255]
  kNibblePair,  // the same, s and t in [0, 15]
  kPower,       // scale = 2^(s - 128)
};

// What a code stands for: itself, or its place in a table of 16.
enum class Levels : uint8_t {
  kCode,
  kIq4,
  kE2m1,  // sign, 2 bits of exponent, 1 of mantissa; doubled
};
inline constexpr uint8_t kLevels[3][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241},
    {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4},
};

struct WeightFormat {
  const char* name;       // GGUF's
  uint16_t block, bytes;  // elements and bytes of a block in a file: a row is whole blocks
  uint8_t code_bits = 0;  // 0: floats
  uint8_t zero = 0;       // subtracted from the level
  uint8_t run = 32;       // codes that share a scale
  Scaling scaling = Scaling::kNone;
  Levels levels = Levels::kCode;
};

// In the order of WeightType. The layouts of blocks: formats/<name>.cc.
inline constexpr WeightFormat kWeightFormats[kWeightTypes] = {
    {"F32", 1, 4},
    {"F16", 1, 2},
    {"BF16", 1, 2},
    {"Q8_0", 32, 34, 8, 128, 32, Scaling::kHalf},
    {"Q4_0", 32, 18, 4, 8, 32, Scaling::kHalf},
    {"Q4_1", 32, 20, 4, 0, 32, Scaling::kHalfMin},
    {"Q5_0", 32, 22, 5, 16, 32, Scaling::kHalf},
    {"Q5_1", 32, 24, 5, 0, 32, Scaling::kHalfMin},
    {"Q2_K", 256, 84, 2, 0, 16, Scaling::kNibblePair},
    {"Q3_K", 256, 110, 3, 4, 16, Scaling::kSigned},
    {"Q4_K", 256, 144, 4, 0, 32, Scaling::kPair},
    {"Q5_K", 256, 176, 5, 0, 32, Scaling::kPair},
    {"Q6_K", 256, 210, 6, 32, 16, Scaling::kSigned},
    {"IQ4_NL", 32, 18, 4, 128, 32, Scaling::kHalf, Levels::kIq4},
    {"IQ4_XS", 256, 136, 4, 128, 32, Scaling::kSigned, Levels::kIq4},
    {"MXFP4", 32, 17, 4, 16, 32, Scaling::kPower, Levels::kE2m1},
};

[[gnu::always_inline]] constexpr const WeightFormat& format_of(WeightType type) {
  return kWeightFormats[static_cast<int>(type)];
}

}  // namespace reprise::kernels
