// What one instruction set provides: the inner loops, as plain functions over pointers and integers. The
// drivers around them (cpu/gemm.cc, cpu/attention.cc, cpu/elementwise.cc) split work into tasks and know no
// instruction set; the weight layout (cpu/panels.h) and the KV layout (cpu/kv_pages.h) are the same for all
// of them.
//
// This header is compiled with each instruction set's own flags. It must stay free of std containers and of
// any function that could be emitted out of line: the linker would keep one copy, perhaps one this CPU cannot
// run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kv_type.h"
#include "kernels/weight_type.h"

namespace reprise::kernels::cpu {

inline constexpr uint32_t kPanel = 16;     // output channels side by side in a packed matrix
inline constexpr uint32_t kGroup = 32;     // consecutive k that share an activation scale
inline constexpr uint32_t kKvTile = 16;    // tokens of one K or V tile
inline constexpr uint32_t kKvBlock = 128;  // keys between two rescalings of the softmax
inline constexpr uint32_t kKvSplit = 512;  // positions per independently computed part of the softmax

// One group of 32 k of six activation rows, quantised per row to 15 bits: x ~ scale * q. (8 bits alone cost
// SmolLM2 a mean KL of 3e-3: docs/kernels.md.) Sums are over q, exact in int32. The zero points of unsigned
// weights are taken off inside the integer accumulator. An input is [row / 6][group] of these, so that a
// register tile reads everything from one pointer.
inline constexpr uint32_t kActRows = 6;
inline constexpr int kLowBits = 7;
struct ActivationGroup {
  // q as the products of the instruction set take it (Isa::kWords).
  struct Bytes {  // q = 128 high + low, |high| <= 127, -64 <= low <= 63
    int8_t high[kActRows][kGroup];
    int8_t low[kActRows][kGroup];
  };
  union {
    Bytes bytes;
    int16_t words[kActRows][kGroup];  // of each four k in the order 0, 2, 1, 3
  };
  float scale[kActRows];
  float scaled_sum[kActRows];      // scale * sum q: multiplies a weight's minimum
  float scaled_half[2][kActRows];  // the same of each half of the group
  int32_t minus8[kActRows];        // -8 * sum q
  int32_t minus128[kActRows];      // -128 * sum q
  int32_t minus32[2][kActRows];    // -32 * sum q over each half of the group
};

// y[r][n] (+)= sum_k x[r][k] W[n][k] for `rows` rows and `channels` channels that start at a panel.
// fp32 order of one output: ascending groups (quantised) or ascending k, one accumulator, then the optional
// addition to y. The same for any rows and channels.
struct GemmTask {
  const std::byte* panels;  // first panel; panel_bytes to the next
  // Panels of the same size that this thread is likely to multiply after these, to be fetched; null: not
  // known.
  const std::byte* next;
  size_t panel_bytes;
  uint32_t cols, channels, rows;
  const ActivationGroup* quant;  // of the first row, which is a multiple of kActRows
  const float* x;                // the same rows in fp32, x_ld apart
  size_t x_ld;
  float* y;  // at the first row and channel
  size_t y_ld;
  bool add;
};

// Where the keys and values of one kv head and layer are: tile i (16 tokens) of a page at k_offset + i *
// tile_bytes.
struct KvHead {
  std::byte* const* pages;
  uint32_t page_tokens;
  size_t k_offset, v_offset, tile_bytes;
  uint32_t dim;  // padded to a multiple of 16
};

// Softmax state of query rows over some range of keys: out = o / sum after the last key. Scores are in
// base 2.
struct SoftmaxState {
  float* max;  // [row]
  float* sum;  // [row]
  float* o;    // [row][dim]
};

struct AttentionTask {
  KvHead kv;
  const float* q;         // [row][dim], times scale * log2(e)
  const uint32_t* start;  // [row]: keys start .. limit - 1 are seen, at least one; both ascending
  const uint32_t* limit;
  uint32_t rows;
  // Keys of this part: begin is a multiple of 128, end <= the next multiple of 512 and <= the last limit.
  uint32_t begin, end;
  // Keys that this thread is likely to multiply after these, to be fetched: from next_begin to next_end,
  // which is next_begin where they are not known.
  KvHead next;
  uint32_t next_begin, next_end;
  SoftmaxState state;  // overwritten
  float* scratch;      // [rows][dim]
};

// By the type of the weights.
struct GemmKernels {
  void (*of[kWeightTypes])(const GemmTask& task);
};

struct MicroKernels {
  const char* name;
  const GemmKernels* gemm;

  // One row to integers, cols a multiple of 32: row `row` of groups[cols / 32].
  void (*quantize_row)(const float* x, uint32_t cols, ActivationGroup* groups, uint32_t row);

  void (*attend[kKvTypes])(const AttentionTask& task);  // by KvType
  // into := the state over both parts, `part` being the later one.
  void (*merge)(const SoftmaxState& into, const SoftmaxState& part, uint32_t rows, uint32_t dim);

  // out (+)= x normalised, times weight; out may be x.
  void (*rms_norm)(const float* x, const float* weight, float eps, uint32_t cols, float* out, bool add);
  // Rotates one head: pairs (i, i + half), or (2i, 2i + 1).
  void (*rope)(float* head, uint32_t half, const float* cos, const float* sin);
  void (*rope_interleaved)(float* head, uint32_t half, const float* cos, const float* sin);
  // The Gatings of kernels/table.h, in place of gate.
  void (*silu_gate)(float* gate, const float* up, uint32_t cols);
  void (*gelu_gate)(float* gate, const float* up, uint32_t cols);
  void (*clamped_silu_gate)(float* gate, const float* up, uint32_t cols);
  // y += weights[0] * parts[0] + weights[1] * parts[1] + ..., the sum first.
  void (*add_weighted)(float* y, const float* const* parts, const float* weights, uint32_t count,
                       uint32_t cols);
};

extern const GemmKernels kAvx2Gemm;
extern const GemmKernels kAvx512Gemm;
extern const MicroKernels kAvx2;
extern const MicroKernels kAvx512;
extern const MicroKernels kAvx512Bf16;

}  // namespace reprise::kernels::cpu
