// AVX-512 (F, BW, DQ, VL, VNNI) as the vector type the tile templates are written in: 16 lanes of fp32 or
// int32.
#pragma once

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace reprise::kernels::cpu {

// A tag for each instruction set that builds on this one: files compiled for different ones must share no
// function.
template <class Tag>
struct Avx512Of {
  using V = __m512;
  using I = __m512i;
  static constexpr int kLanes = 16;
  static constexpr int kGemmRows = 6;    // rows of a quantised register tile (two vectors of channels wide)
  static constexpr int kFloatRows = 12;  // rows of an fp32 register tile (two vectors wide)
  static constexpr int kAttentionRows = 12;  // query rows of an attention register tile
  static constexpr int kAccumulators = 24;   // fp32 registers that leave room for operands
  static constexpr bool kWords = false;      // activations come in bytes: two products, exact in 32 bits each

  static V zero() { return _mm512_setzero_ps(); }
  static V set1(float x) { return _mm512_set1_ps(x); }
  static V load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, V x) { _mm512_storeu_ps(p, x); }
  static V load_first(const float* p, uint32_t n) { return _mm512_maskz_loadu_ps(first(n), p); }
  static void store_first(float* p, V x, uint32_t n) { _mm512_mask_storeu_ps(p, first(n), x); }
  static V keep_first(V x, uint32_t n, V other) { return _mm512_mask_blend_ps(first(n), other, x); }
  static V add(V a, V b) { return _mm512_add_ps(a, b); }
  static V sub(V a, V b) { return _mm512_sub_ps(a, b); }
  static V mul(V a, V b) { return _mm512_mul_ps(a, b); }
  static V div(V a, V b) { return _mm512_div_ps(a, b); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static V max(V a, V b) { return _mm512_max_ps(a, b); }
  static V abs(V a) { return _mm512_abs_ps(a); }
  static V round(V a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static V scale2(V a, V exponent) { return _mm512_scalef_ps(a, exponent); }  // a * 2^exponent
  static float sum(V a) { return _mm512_reduce_add_ps(a); }
  static float max(V a) { return _mm512_reduce_max_ps(a); }

  // Even lanes a * b - c, odd lanes a * b + c; lanes exchanged within pairs; each of half a vector's values
  // twice.
  static V fma_subtract_add(V a, V b, V c) { return _mm512_fmaddsub_ps(a, b, c); }
  static V swap_pairs(V a) { return _mm512_permute_ps(a, 0xb1); }
  static V load_doubled(const float* p) {
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7),
                                 _mm512_castps256_ps512(_mm256_loadu_ps(p)));
  }

  // bf16 pairs (low, high half of each 32 bits) as fp32, and 16 halves or bf16 in a row.
  static I load_bits(const void* p) { return _mm512_loadu_si512(p); }
  static V low_bf16(I x) { return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)); }
  static V high_bf16(I x) {
    return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
  }
  static I load_int8_pairs(const void* p) {  // two int8 as the two int16 of each lane
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
  }
  static V load_half(const void* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
  }
  static V load_bf16(const void* p) {
    return low_bf16(_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))));
  }
  static V load_int8(const void* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
  }
  static I load_uint8(const void* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  }

  // Integers: byte vectors hold 16 channels x 4 consecutive k.
  static I broadcast(int32_t x) { return _mm512_set1_epi32(x); }
  static V to_float(I x) { return _mm512_cvtepi32_ps(x); }
  static void store_bytes(void* p, I x) { _mm512_storeu_si512(p, x); }
  static I low_nibbles(I x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
  static I high_nibbles(I x) { return low_nibbles(_mm512_srli_epi16(x, 4)); }
  // Of each byte: `Width` bits from bit From on, moved to bit To, all others 0.
  template <int From, int To, int Width>
  static I move_bits(I x) {
    I shifted = x;
    if constexpr (From < To) shifted = _mm512_slli_epi16(x, To - From);
    if constexpr (From > To) shifted = _mm512_srli_epi16(x, From - To);
    return _mm512_and_si512(shifted, _mm512_set1_epi8(((1 << Width) - 1) << To));
  }
  // table[x] of each byte x < 16.
  static I look_up(const uint8_t* table, I x) {
    return _mm512_shuffle_epi8(
        _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), x);
  }
  // acc[lane] += sum of four (unsigned weight) * (signed activation): exact.
  static I dot_bytes(I acc, I w, I a) { return _mm512_dpbusd_epi32(acc, w, a); }

  // Lanes as integers: of fp32 bits, without the sign; the larger; bit by bit.
  static I magnitude(I a) { return _mm512_and_si512(a, _mm512_set1_epi32(0x7fffffff)); }
  static I max(I a, I b) { return _mm512_max_epi32(a, b); }
  static int32_t max(I a) { return _mm512_reduce_max_epi32(a); }
  static I bit_or(I a, I b) { return _mm512_or_si512(a, b); }
  template <int N>
  static I shift_left(I a) {
    return _mm512_slli_epi32(a, N);
  }
  template <int N>
  static I shift_right(I a) {
    return _mm512_srai_epi32(a, N);
  }
  static I bit_xor(I a, I b) { return _mm512_xor_si512(a, b); }
  // From here on the compiler knows nothing of the register's value.
  template <class T>
  [[gnu::always_inline]] static void opaque(T& x) {
    asm volatile("" : "+v"(x));
  }
  static I times128(I a) { return _mm512_slli_epi32(a, 7); }
  static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  // 32 fp32 values times `inverse`, rounded to 128 high + low; gives the sums of the two halves.
  static void quantize32(const float* x, V inverse, int8_t* high, int8_t* low, int32_t sums[2]) {
    for (int h = 0; h < 2; ++h) {
      const I q = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + 16 * h), inverse));
      const I top = _mm512_srai_epi32(_mm512_add_epi32(q, _mm512_set1_epi32(64)), 7);
      const I rest = _mm512_sub_epi32(q, _mm512_slli_epi32(top, 7));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(high + 16 * h), _mm512_cvtsepi32_epi8(top));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(low + 16 * h), _mm512_cvtsepi32_epi8(rest));
      sums[h] = _mm512_reduce_add_epi32(q);
    }
  }

 private:
  static __mmask16 first(uint32_t n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1); }
};

using Avx512 = Avx512Of<struct Avx512Alone>;

}  // namespace reprise::kernels::cpu
