// One file a block type: where in a block of a GGUF file its codes and scales are. A reader fills a
// WeightBlock in natural order; what the numbers mean is said by kernels/weight_type.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace reprise::kernels {

struct WeightBlock {
  uint8_t code[256];      // one per element
  uint8_t scale[16];      // s of each run; of kSigned the byte of an int8
  uint8_t minimum[16];    // t of each run
  uint16_t d = 0, m = 0;  // fp16
};

// `block` holds the format's bytes, unaligned. Fields that the format does not have stay as they are.
using BlockReader = void (*)(const std::byte* block, WeightBlock& out);
void read_q8_0(const std::byte* block, WeightBlock& out);
void read_q4_0(const std::byte* block, WeightBlock& out);
void read_q4_1(const std::byte* block, WeightBlock& out);
void read_q5_0(const std::byte* block, WeightBlock& out);
void read_q5_1(const std::byte* block, WeightBlock& out);
void read_q2_k(const std::byte* block, WeightBlock& out);
void read_q3_k(const std::byte* block, WeightBlock& out);
void read_q4_k(const std::byte* block, WeightBlock& out);
void read_q5_k(const std::byte* block, WeightBlock& out);
void read_q6_k(const std::byte* block, WeightBlock& out);
void read_iq4_nl(const std::byte* block, WeightBlock& out);
void read_iq4_xs(const std::byte* block, WeightBlock& out);
void read_mxfp4(const std::byte* block, WeightBlock& out);

// ---- parts that formats share

inline uint16_t load_u16(const std::byte* p) {
  uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// 2 * `half` codes from `half` bytes: low nibbles first, then high ones.
inline void read_nibbles(const std::byte* p, int half, uint8_t* code) {
  for (int i = 0; i < half; ++i) {
    const auto byte = static_cast<uint8_t>(p[i]);
    code[i] = byte & 15;
    code[i + half] = byte >> 4;
  }
}

// Bit 4 of 32 codes from a 32-bit word, the first in its lowest bit.
inline void read_fifth_bits(const std::byte* p, uint8_t* code) {
  uint32_t bits;
  std::memcpy(&bits, p, sizeof bits);
  for (int i = 0; i < 32; ++i) code[i] |= static_cast<uint8_t>((bits >> i & 1) << 4);
}

// Eight pairs of 6 bits in 12 bytes: 0 .. 3 in the low bits of bytes 0 .. 3 (s) and 4 .. 7 (t); 4 .. 7 with
// their low nibbles in bytes 8 .. 11 and their high bits atop bytes 0 .. 7.
inline void read_six_bit_pairs(const std::byte* p, uint8_t* s, uint8_t* t) {
  uint8_t b[12];
  std::memcpy(b, p, sizeof b);
  for (int i = 0; i < 4; ++i) {
    s[i] = b[i] & 63;
    t[i] = b[i + 4] & 63;
    s[i + 4] = static_cast<uint8_t>((b[i + 8] & 15) | b[i] >> 6 << 4);
    t[i + 4] = static_cast<uint8_t>(b[i + 8] >> 4 | b[i + 4] >> 6 << 4);
  }
}

}  // namespace reprise::kernels
