// fp32 matrix multiply over panels of F32, F16 or BF16 weights (lane = channel).
// Invariant: output (r, n) is acc = fma(w, x, acc) for ascending k in one accumulator, for any rows and
// channels. Included by ISA files only.
#pragma once

#include "kernels/cpu/micro.h"
#include "kernels/cpu/quant_tile.h"

namespace reprise::kernels::cpu {

template <class Isa>
struct LoadF32 {
  static constexpr int kBytes = 4;
  static typename Isa::V load(const std::byte* p) { return Isa::load(reinterpret_cast<const float*>(p)); }
};
template <class Isa>
struct LoadF16 {
  static constexpr int kBytes = 2;
  static typename Isa::V load(const std::byte* p) { return Isa::load_half(p); }
};
template <class Isa>
struct LoadBF16 {
  static constexpr int kBytes = 2;
  static typename Isa::V load(const std::byte* p) { return Isa::load_bf16(p); }
};

template <class Isa, class Load>
struct FloatGemm {
  static constexpr uint32_t kColumn = kPanel * Load::kBytes;  // bytes of a panel
  static constexpr uint32_t kAhead = 4096 / kColumn;          // columns
  template <int R>
  struct Tile {
    template <int P>
    static void multiply(const GemmTask& t, uint32_t row, uint32_t vector) {
      using V = typename Isa::V;
      constexpr uint32_t kPerPanel = kPanel / Isa::kLanes;
      const std::byte *w[P], *next[P];
      for (int p = 0; p < P; ++p) {
        const uint32_t panel = (vector + p) / kPerPanel;
        w[p] = t.panels + panel * t.panel_bytes + (vector + p) % kPerPanel * Isa::kLanes * Load::kBytes;
        next[p] = panel_after<Isa>(t, panel);
      }
      const float* x = t.x + row * t.x_ld;
      V acc[R][P];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
        for (int p = 0; p < P; ++p) acc[r][p] = Isa::zero();
      const uint32_t turn =
          t.cols > kAhead ? t.cols - kAhead : 0;  // from here on the next panels are fetched
      for (uint32_t k = 0; k < t.cols; ++k) {
        V weights[P];
#pragma GCC unroll 2
        for (int p = 0; p < P; ++p) {
          weights[p] = Load::load(w[p] + size_t{k} * kColumn);
          const std::byte* later =
              k < turn ? w[p] + size_t{k + kAhead} * kColumn : next[p] + size_t{k - turn} * kColumn;
          if (leads_panel<Isa>(p)) __builtin_prefetch(later, 0, 2);  // to L2: see Packed::prefetch
        }
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
          const V value = Isa::set1(x[r * t.x_ld + k]);
#pragma GCC unroll 2
          for (int p = 0; p < P; ++p) acc[r][p] = Isa::fma(weights[p], value, acc[r][p]);
        }
      }
      const uint32_t channel = vector * Isa::kLanes;
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
        for (int p = 0; p < P; ++p)
          store_result<Isa>(t.y + (row + r) * t.y_ld + channel + p * Isa::kLanes, acc[r][p],
                            t.channels - channel - p * Isa::kLanes, t.add);
    }
    static void run(const GemmTask& t, uint32_t row, uint32_t vector, uint32_t vectors) {
      if (vectors == 2) {
        multiply<2>(t, row, vector);
      } else {
        multiply<1>(t, row, vector);
      }
    }
  };

  static void run(const GemmTask& t) {
    const uint32_t vectors = (t.channels + Isa::kLanes - 1) / Isa::kLanes;
    for (uint32_t v = 0; v < vectors; v += 2)
      for (uint32_t row = 0; row < t.rows; row += Isa::kFloatRows) {
        const uint32_t rows = t.rows - row < Isa::kFloatRows ? t.rows - row : Isa::kFloatRows;
        with_rows<Tile, Isa::kFloatRows>(rows, t, row, v, vectors - v < 2 ? 1u : 2u);
      }
  }
};

}  // namespace reprise::kernels::cpu
