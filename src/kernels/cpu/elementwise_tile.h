// Row operations of a transformer layer, for any instruction set. Included by ISA files only.
// Invariant: sums run over lanes in ascending vectors with four accumulators, whatever else is computed.
#pragma once

#include "kernels/cpu/exp2.h"
#include "kernels/cpu/micro.h"

namespace reprise::kernels::cpu {

template <class Isa>
struct Elementwise {
  using V = typename Isa::V;
  static constexpr uint32_t kLanes = Isa::kLanes;

  // f(offset, valid lanes) over [0, n).
  template <class F>
  [[gnu::always_inline]] static void for_vectors(uint32_t n, F&& f) {
    uint32_t i = 0;
    for (; i + kLanes <= n; i += kLanes) f(i, kLanes);
    if (i < n) f(i, n - i);
  }
  [[gnu::always_inline]] static V get(const float* p, uint32_t n) {
    return n == kLanes ? Isa::load(p) : Isa::load_first(p, n);
  }
  [[gnu::always_inline]] static void put(float* p, V x, uint32_t n) {
    if (n == kLanes) {
      Isa::store(p, x);
    } else {
      Isa::store_first(p, x, n);
    }
  }

  static void rms_norm(const float* x, const float* weight, float eps, uint32_t cols, float* out, bool add) {
    V sums[4] = {Isa::zero(), Isa::zero(), Isa::zero(), Isa::zero()};
    uint32_t i = 0;
    for (; i + 4 * kLanes <= cols; i += 4 * kLanes)
      for (uint32_t j = 0; j < 4; ++j) {
        const V v = Isa::load(x + i + j * kLanes);
        sums[j] = Isa::fma(v, v, sums[j]);
      }
    for_vectors(cols - i, [&](uint32_t at, uint32_t n) {
      const V v = get(x + i + at, n);
      sums[0] = Isa::fma(v, v, sums[0]);
    });
    const float squares = Isa::sum(Isa::add(Isa::add(sums[0], sums[1]), Isa::add(sums[2], sums[3])));
    const V factor = Isa::set1(1.0f / __builtin_sqrtf(squares / static_cast<float>(cols) + eps));
    for_vectors(cols, [&](uint32_t at, uint32_t n) {
      const V normed = Isa::mul(Isa::mul(get(x + at, n), factor), get(weight + at, n));
      put(out + at, add ? Isa::add(get(out + at, n), normed) : normed, n);
    });
  }

  static void rope(float* head, uint32_t half, const float* cos, const float* sin) {
    for_vectors(half, [&](uint32_t i, uint32_t n) {
      const V a = get(head + i, n), b = get(head + half + i, n), c = get(cos + i, n), s = get(sin + i, n);
      const V minus_b = Isa::sub(Isa::zero(), b);
      put(head + i, Isa::fma(a, c, Isa::mul(minus_b, s)), n);
      put(head + half + i, Isa::fma(a, s, Isa::mul(b, c)), n);
    });
  }

  static void rope_interleaved(float* head, uint32_t half, const float* cos, const float* sin) {
    uint32_t i = 0;
    for (; i + kLanes / 2 <= half; i += kLanes / 2) {
      const V x = Isa::load(head + 2 * i);
      const V crossed = Isa::mul(Isa::swap_pairs(x), Isa::load_doubled(sin + i));
      Isa::store(head + 2 * i, Isa::fma_subtract_add(x, Isa::load_doubled(cos + i), crossed));
    }
    for (; i < half; ++i) {
      const float a = head[2 * i], b = head[2 * i + 1];
      head[2 * i] = __builtin_fmaf(a, cos[i], -(b * sin[i]));
      head[2 * i + 1] = __builtin_fmaf(b, cos[i], a * sin[i]);
    }
  }

  // g / (1 + 2^x)
  [[gnu::always_inline]] static V gated(V g, V x) {
    return Isa::div(g, Isa::add(Isa::set1(1.0f), exp2<Isa>(x)));
  }

  static void silu_gate(float* gate, const float* up, uint32_t cols) {
    for_vectors(cols, [&](uint32_t i, uint32_t n) {
      const V g = get(gate + i, n);
      put(gate + i, Isa::mul(gated(g, Isa::mul(g, Isa::set1(-1.44269504f))), get(up + i, n)), n);
    });
  }

  // (1 + tanh y) / 2 = 1 / (1 + e^-2y), y = sqrt(2 / pi) (g + 0.044715 g^3)
  static void gelu_gate(float* gate, const float* up, uint32_t cols) {
    for_vectors(cols, [&](uint32_t i, uint32_t n) {
      const V g = get(gate + i, n);
      const V inner = Isa::fma(Isa::mul(g, g), Isa::set1(-0.1029432396f), Isa::set1(-2.3022082f));
      put(gate + i, Isa::mul(gated(g, Isa::mul(g, inner)), get(up + i, n)), n);
    });
  }

  static void clamped_silu_gate(float* gate, const float* up, uint32_t cols) {
    const V lowest = Isa::set1(-7.0f);
    const auto negative = [](V x) { return Isa::sub(Isa::zero(), x); };
    const auto at_least = [&](V x) { return Isa::max(lowest, x); };  // in this order a NaN stays one
    for_vectors(cols, [&](uint32_t i, uint32_t n) {
      const V g = negative(at_least(negative(get(gate + i, n))));
      const V u = at_least(negative(at_least(negative(get(up + i, n)))));
      const V combined = gated(g, Isa::mul(g, Isa::set1(-1.702f * 1.44269504f)));
      put(gate + i, Isa::mul(combined, Isa::add(u, Isa::set1(1.0f))), n);
    });
  }

  static void add_weighted(float* y, const float* const* parts, const float* weights, uint32_t count,
                           uint32_t cols) {
    for_vectors(cols, [&](uint32_t i, uint32_t n) {
      V sum = Isa::zero();
      for (uint32_t p = 0; p < count; ++p) sum = Isa::fma(Isa::set1(weights[p]), get(parts[p] + i, n), sum);
      put(y + i, Isa::add(get(y + i, n), sum), n);
    });
  }

  // A group that holds a NaN or an infinity has the scale NaN, and so has every result that it reaches.
  static void quantize_row(const float* x, uint32_t cols, ActivationGroup* groups, uint32_t row) {
    constexpr float kSteps = 127 << kLowBits;
    constexpr int32_t kInfinity = 0x7f800000;
    for (uint32_t g = 0; g < cols / kGroup; ++g) {
      const float* from = x + size_t{g} * kGroup;
      ActivationGroup& to = groups[g];
      // As integers, magnitudes are ordered as they are as numbers, with infinity and NaN above all others.
      typename Isa::I top = Isa::broadcast(0);
      for (uint32_t i = 0; i < kGroup; i += kLanes)
        top = Isa::max(top, Isa::magnitude(Isa::load_bits(from + i)));
      const int32_t largest_bits = Isa::max(top);
      if (largest_bits >= kInfinity) {
        poison(to, row);
        continue;
      }
      const float largest = __builtin_bit_cast(float, largest_bits);
      // Below 1e-30 the inverse could overflow: such a group is zero for any weight of this world.
      const float inverse = largest > 1e-30f ? kSteps / largest : 0.0f;
      int32_t sums[2];
      if constexpr (Isa::kWords) {
        Isa::quantize32(from, Isa::set1(inverse), to.words[row], sums);
      } else {
        Isa::quantize32(from, Isa::set1(inverse), to.bytes.high[row], to.bytes.low[row], sums);
      }
      to.scale[row] = largest > 1e-30f ? largest * (1.0f / kSteps) : 0.0f;
      put_sums(to, row, sums);
    }
  }

 private:
  static void put_sums(ActivationGroup& to, uint32_t row, const int32_t sums[2]) {
    const int32_t sum = sums[0] + sums[1];
    to.scaled_sum[row] = to.scale[row] * static_cast<float>(sum);
    for (int half = 0; half < 2; ++half)
      to.scaled_half[half][row] = to.scale[row] * static_cast<float>(sums[half]);
    to.minus8[row] = -8 * sum;
    to.minus128[row] = -128 * sum;
    to.minus32[0][row] = -32 * sums[0];
    to.minus32[1][row] = -32 * sums[1];
  }
  static void poison(ActivationGroup& to, uint32_t row) {
    for (uint32_t i = 0; i < kGroup; ++i) {
      if constexpr (Isa::kWords) {
        to.words[row][i] = 0;
      } else {
        to.bytes.high[row][i] = to.bytes.low[row][i] = 0;
      }
    }
    to.scale[row] = __builtin_nanf("");
    constexpr int32_t kNone[2] = {};
    put_sums(to, row, kNone);
  }
};

}  // namespace reprise::kernels::cpu
