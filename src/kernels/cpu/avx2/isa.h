// AVX2 with FMA and F16C as the vector type the tile templates are written in: 8 lanes of fp32 or int32.
#pragma once

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace reprise::kernels::cpu {

struct Avx2 {
  using V = __m256;
  using I = __m256i;
  static constexpr int kLanes = 8;
  static constexpr int kGemmRows = 3;
  static constexpr int kFloatRows = 5;
  static constexpr int kAttentionRows = 5;
  static constexpr int kAccumulators = 10;
  static constexpr bool kWords = true;  // activations come in 16 bits: one product, exact

  static V zero() { return _mm256_setzero_ps(); }
  static V set1(float x) { return _mm256_set1_ps(x); }
  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, V x) { _mm256_storeu_ps(p, x); }
  static V load_first(const float* p, uint32_t n) { return _mm256_maskload_ps(p, first(n)); }
  static void store_first(float* p, V x, uint32_t n) { _mm256_maskstore_ps(p, first(n), x); }
  static V keep_first(V x, uint32_t n, V other) {
    return _mm256_blendv_ps(other, x, _mm256_castsi256_ps(first(n)));
  }
  static V add(V a, V b) { return _mm256_add_ps(a, b); }
  static V sub(V a, V b) { return _mm256_sub_ps(a, b); }
  static V mul(V a, V b) { return _mm256_mul_ps(a, b); }
  static V div(V a, V b) { return _mm256_div_ps(a, b); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static V max(V a, V b) { return _mm256_max_ps(a, b); }
  static V abs(V a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
  static V round(V a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  // a * 2^exponent in two exact steps, for whole exponents in [-252, 252]: results below the normal range
  // round once.
  static V scale2(V a, V exponent) {
    const I e = _mm256_cvtps_epi32(exponent), half = _mm256_srai_epi32(e, 1);
    return mul(mul(a, power2(half)), power2(_mm256_sub_epi32(e, half)));
  }
  static float sum(V a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static float max(V a) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
  }

  static V fma_subtract_add(V a, V b, V c) { return _mm256_fmaddsub_ps(a, b, c); }
  static V swap_pairs(V a) { return _mm256_permute_ps(a, 0xb1); }
  static V load_doubled(const float* p) {
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)),
                                    _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
  }

  static I load_bits(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static V low_bf16(I x) { return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)); }
  static V high_bf16(I x) {
    return _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32(static_cast<int>(0xffff0000))));
  }
  static I load_int8_pairs(const void* p) {  // two int8 as the two int16 of each lane
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  }
  static V load_half(const void* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  }
  static V load_bf16(const void* p) {
    return low_bf16(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
  }
  static V load_int8(const void* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))));
  }
  static I load_uint8(const void* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
  }

  static I broadcast(int32_t x) { return _mm256_set1_epi32(x); }
  static V to_float(I x) { return _mm256_cvtepi32_ps(x); }
  static void store_bytes(void* p, I x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }
  static I low_nibbles(I x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
  static I high_nibbles(I x) { return low_nibbles(_mm256_srli_epi16(x, 4)); }
  template <int From, int To, int Width>
  static I move_bits(I x) {
    I shifted = x;
    if constexpr (From < To) shifted = _mm256_slli_epi16(x, To - From);
    if constexpr (From > To) shifted = _mm256_srli_epi16(x, From - To);
    return _mm256_and_si256(shifted, _mm256_set1_epi8(((1 << Width) - 1) << To));
  }
  static I look_up(const uint8_t* table, I x) {
    return _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), x);
  }
  // Of each four bytes the 0th and 2nd, or the 1st and 3rd, as 16 bits; acc[lane] += the sum of two products.
  static I even_bytes(I w) { return _mm256_and_si256(w, _mm256_set1_epi16(0xff)); }
  static I odd_bytes(I w) { return _mm256_srli_epi16(w, 8); }
  static I dot_words(I acc, I w, I a) { return _mm256_add_epi32(acc, _mm256_madd_epi16(w, a)); }
  // Bytes, for the peak loop: vpmaddubsw adds two products in 16 bits with saturation, so w must be below 64.
  static I dot_bytes(I acc, I w, I a) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(w, a), _mm256_set1_epi16(1)));
  }
  static I magnitude(I a) { return _mm256_and_si256(a, _mm256_set1_epi32(0x7fffffff)); }
  static I max(I a, I b) { return _mm256_max_epi32(a, b); }
  static int32_t max(I a) {
    __m128i s = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    s = _mm_max_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
  }
  static I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
  template <int N>
  static I shift_left(I a) {
    return _mm256_slli_epi32(a, N);
  }
  template <int N>
  static I shift_right(I a) {
    return _mm256_srai_epi32(a, N);
  }
  static I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
  template <class T>
  [[gnu::always_inline]] static void opaque(T& x) {
    asm volatile("" : "+x"(x));
  }
  static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  // 32 fp32 values times `inverse`, rounded, of each four in the order 0, 2, 1, 3; gives the sums of the two
  // halves.
  static void quantize32(const float* x, V inverse, int16_t* words, int32_t sums[2]) {
    for (int h = 0; h < 2; ++h) {
      I q[2];
      for (int i = 0; i < 2; ++i)
        q[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 16 * h + 8 * i), inverse));
      const I ascending = _mm256_permute4x64_epi64(_mm256_packs_epi32(q[0], q[1]), 0xd8);
      store_bytes(words + 16 * h, _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(ascending, 0xd8), 0xd8));
      const I total = _mm256_add_epi32(q[0], q[1]);
      __m128i s = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
      s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
      sums[h] = _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
    }
  }

 private:
  static __m256i first(uint32_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n < 8 ? n : 8)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static V power2(I e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
  }
};

}  // namespace reprise::kernels::cpu
