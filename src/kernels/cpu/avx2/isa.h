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
  static constexpr int kGemmRows = 2;
  static constexpr int kFloatRows = 5;
  static constexpr int kAttentionRows = 5;
  static constexpr int kAccumulators = 10;
  static constexpr bool kSignedBytes = true;  // dot_bytes takes the zero point 128 off itself

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
  static V load_half(const void* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  }
  static V load_bf16(const void* p) {
    return low_bf16(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
  }
  static V load_int8(const void* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))));
  }

  static I broadcast(int32_t x) { return _mm256_set1_epi32(x); }
  static V to_float(I x) { return _mm256_cvtepi32_ps(x); }
  static void store_bytes(void* p, I x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }
  static I low_nibbles(I x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
  static I high_nibbles(I x) { return low_nibbles(_mm256_srli_epi16(x, 4)); }
  template <int F>
  static I with_high_bits(I low, I fields) {
    I shifted = fields;
    if constexpr (F == 0) shifted = _mm256_slli_epi16(fields, 4);
    if constexpr (F == 1) shifted = _mm256_slli_epi16(fields, 2);
    if constexpr (F == 3) shifted = _mm256_srli_epi16(fields, 2);
    return _mm256_or_si256(low, _mm256_and_si256(shifted, _mm256_set1_epi8(0x30)));
  }
  // vpmaddubsw adds two products in 16 bits with saturation: 2 * 63 * 127 fits.
  static I dot_small(I acc, I w, I a) { return add_pairs(acc, _mm256_maddubs_epi16(w, a)); }
  // 255 would not fit, so the weight is re-centred to [-128, 127] and its sign moved to the activation (which
  // is in [-127, 127], so can be negated): 2 * 128 * 127 fits.
  static I dot_bytes(I acc, I w, I a) {
    const I centred = _mm256_xor_si256(w, _mm256_set1_epi8(static_cast<char>(0x80)));
    return add_pairs(acc, _mm256_maddubs_epi16(_mm256_abs_epi8(centred), _mm256_sign_epi8(a, centred)));
  }
  static I magnitude(I a) { return _mm256_and_si256(a, _mm256_set1_epi32(0x7fffffff)); }
  static I max(I a, I b) { return _mm256_max_epi32(a, b); }
  static int32_t max(I a) {
    __m128i s = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    s = _mm_max_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
  }
  static I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
  template <class T>
  [[gnu::always_inline]] static void opaque(T& x) {
    asm volatile("" : "+x"(x));
  }
  static I times128(I a) { return _mm256_slli_epi32(a, 7); }
  static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static void quantize32(const float* x, V inverse, int8_t* high, int8_t* low, int32_t sums[2]) {
    for (int h = 0; h < 2; ++h) {
      I q[2], top[2], rest[2];
      for (int i = 0; i < 2; ++i) {
        q[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 16 * h + 8 * i), inverse));
        top[i] = _mm256_srai_epi32(_mm256_add_epi32(q[i], _mm256_set1_epi32(64)), 7);
        rest[i] = _mm256_sub_epi32(q[i], _mm256_slli_epi32(top[i], 7));
      }
      store_bytes16(high + 16 * h, top[0], top[1]);
      store_bytes16(low + 16 * h, rest[0], rest[1]);
      const I total = _mm256_add_epi32(q[0], q[1]);
      __m128i s = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
      s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
      sums[h] = _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
    }
  }

 private:
  static void store_bytes16(int8_t* p, I a, I b) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
  static __m256i first(uint32_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n < 8 ? n : 8)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static V power2(I e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
  }
  static I add_pairs(I acc, __m256i words) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(words, _mm256_set1_epi16(1)));
  }
};

}  // namespace reprise::kernels::cpu
