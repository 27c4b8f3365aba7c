// The operations a transformer's forward pass is made of, as one table of function pointers per instruction
// set.
//
// One table is chosen at start (select()) and used for everything. All tables implement the same contract:
//   * Activations are fp32, row-major, `ld` floats from row to row. Weights are W[rows = out][cols = in].
//   * Row invariance: a result row depends only on its own inputs and absolute position, bit for bit,
//     never on how many rows are computed together, how a prompt is cut, or how many threads there are. So
//     each output element has one fixed order of fp32 operations for any row count: matrix-vector and
//     matrix-matrix agree exactly.
//   * `ref` computes in fp32 from dequantised weights with fp32 KV: the oracle. Fast tables may quantise
//     activations to integers per group of 32 and keep KV in bf16 (with bf16_attention, and multiply it by
//     queries and weights in bf16). With KV in int8, `ref` rounds what it keeps in fp32 to the same values.
//   * Functions parallelise over the given pool and return when done. They need no memory but the scratch
//     in their arguments, which grows to the largest shape seen (`ref` keeps a row a thread besides).
//   * Pointers need no alignment unless stated. How long their arrays are is the caller's promise; shapes,
//     types, layers and page counts that do not fit together abort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/task_pool.h"
#include "kernels/buffer.h"
#include "kernels/kv_type.h"
#include "kernels/weight_type.h"

namespace reprise::kernels {

const char* name(WeightType type);       // GGUF's
size_t block_elements(WeightType type);  // 1, 32 or 256: a row's length is a multiple of it
size_t block_bytes(WeightType type);

struct MatrixSource {
  WeightType type = WeightType::kF32;
  uint32_t rows = 0, cols = 0;
  const std::byte* data = nullptr;          // rows * cols / block_elements * block_bytes bytes, row after row
  uint32_t count = 1;                       // matrices of this shape, one after the other (a layer's experts)
  const std::byte* const* parts = nullptr;  // instead of data: where each of them begins

  // Matrix i, where one takes `bytes`.
  const std::byte* matrix(size_t i, size_t bytes) const { return parts ? parts[i] : data + i * bytes; }
};

// A weight matrix, or a stack of them of one shape, in the layout of the table that packed it: only that
// table may use it.
struct Matrix {
  WeightType type = WeightType::kF32;
  uint32_t rows = 0, cols = 0;  // of each
  Buffer data;
  uint32_t count = 1;
  size_t bytes() const { return data.size(); }
};

// Activation rows as matmul reads them, prepared once per layer input and reused by every matrix that reads
// them. The buffers grow to the largest shape seen and stay.
struct Input {
  const float* x = nullptr;  // the rows themselves; must outlive the uses
  uint32_t rows = 0, cols = 0;
  size_t ld = 0;
  Buffer quantized;  // table's own: integers, scales, sums
};

// One of the matrices that a layer input is multiplied with: y[r][n] for n in [0, w->rows), ldy floats from
// row to row.
struct Product {
  const Matrix* w = nullptr;
  float* y = nullptr;
  size_t ldy = 0;
};

enum class Epilogue : uint8_t {
  kStore,  // y = x W^T
  kAdd,    // y += x W^T   (residual stream)
};

// How a gated MLP combines its two inputs.
enum class Gating : uint8_t {
  kSilu,  // silu(gate) * up, silu(x) = x / (1 + e^-x)              (SwiGLU, Shazeer 2020)
  kGelu,  // gelu(gate) * up, gelu by its tanh approximation          (GeGLU, Hendrycks and Gimpel 2016)
  kClampedSilu,  // g / (1 + e^(-1.702 g)) * (u + 1), g = min(gate, 7), u = up within +-7         (gpt-oss)
};

// The routed experts of a layer (Shazeer et al. 2017): expert e computes D_e gated(G_e x + g_e, U_e x + u_e)
// + d_e. All stacks have as many matrices as there are experts.
struct Experts {
  Matrix gate, up;                                   // [experts][inner][cols]
  Matrix down;                                       // [experts][cols][inner]
  std::vector<float> gate_bias, up_bias, down_bias;  // [experts][rows of each], or empty: none
  Gating gating = Gating::kSilu;
};

// Rows and the experts that each of them is sent to.
struct ExpertsArgs {
  const Experts* experts = nullptr;
  const float* x = nullptr;  // [rows][cols], ldx floats from row to row
  size_t ldx = 0;
  uint32_t rows = 0;
  uint32_t used = 0;                 // experts a row
  const uint32_t* chosen = nullptr;  // [rows][used], distinct within a row
  const float* weights = nullptr;    // [rows][used]
  float* y = nullptr;                // [rows][cols], ldy floats from row to row; does not overlap x
  size_t ldy = 0;
  Buffer* scratch = nullptr;  // grown as needed, kept by the caller
};

// KV memory of one full-attention group. Page layout is the table's own; a page holds all layers.
struct KvShape {
  uint32_t page_tokens = 0;  // multiple of 16; divides 512
  uint32_t layers = 0, kv_heads = 0, head_dim = 0;
  KvType type = KvType::kBF16;
};

// Rows [first_row, first_row + rows) of the batch belong to one sequence, at absolute positions position ..
// position + rows - 1.
struct Slice {
  uint32_t first_row = 0, rows = 0, position = 0;
  std::span<std::byte* const> pages;  // page i holds positions [i * page_tokens, (i + 1) * page_tokens)
};

struct AttentionArgs {
  const KvShape* shape = nullptr;
  uint32_t layer = 0;
  uint32_t heads = 0;  // query heads, a multiple of kv_heads
  float scale = 0;
  uint32_t window = 0;           // keys a row sees, its own included: the last `window` ones; 0 = all
  const float* sinks = nullptr;  // [heads]: logits (not scaled) that take part in each row's softmax as a key
                                 // without a value; null = none
  std::span<const Slice> slices;
  const float* q = nullptr;  // [row][heads * head_dim], already rotated
  size_t q_ld = 0;
  float* out = nullptr;  // [row][heads * head_dim]
  size_t out_ld = 0;
  Buffer* scratch = nullptr;  // grown as needed, kept by the caller
};

struct Table {
  const char* name;  // one of kTableNames
  // About how many multiply-adds a prefill does in the time of reading a byte of weights from memory
  // (docs/kernels.md); machines differ by a small factor.
  double macs_per_byte;
  bool bf16_attention;  // queries and weights are rounded to bf16 as well, where keys and values are bf16

  // Repacks a file's matrix (into memory of its own). Every WeightType is supported; cols must be whole
  // blocks.
  Matrix (*pack)(TaskPool& pool, const MatrixSource& source);
  // Row `row` of the matrix as fp32 [cols]: the dequantised value exactly (also the token embedding look-up).
  // Rows of a stack are numbered through.
  void (*unpack_row)(const Matrix& matrix, uint32_t row, float* out);

  void (*prepare)(TaskPool& pool, const float* x, uint32_t rows, uint32_t cols, size_t ld, Input& input);
  // y[r][n] (+)= sum_k x[r][k] * W[n][k] for all rows of input and all products, in one parallel loop: give
  // matrices that read the same input (q, k, v; gate, up) together. The outputs must not overlap.
  // A NaN or an infinity in a row of x makes all of that row's results NaN or infinite.
  void (*products)(TaskPool& pool, const Input& input, std::span<const Product> products, Epilogue epilogue);
  void matmul(TaskPool& pool, const Input& input, const Matrix& w, float* y, size_t ldy,
              Epilogue epilogue) const {
    const Product product{&w, y, ldy};
    products(pool, input, {&product, 1}, epilogue);
  }

  // out[r] (+)= x[r] / sqrt(mean(x[r]^2) + eps) * weight   (Zhang and Sennrich 2019)
  void (*rms_norm)(TaskPool& pool, const float* x, size_t ldx, const float* weight, float eps, uint32_t rows,
                   uint32_t cols, float* out, size_t ldo, Epilogue epilogue);
  // In place on x[row][heads * dim]: each head normalised by itself, all with the same weight [dim].
  void (*head_norm)(TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads, uint32_t dim,
                    const float* weight, float eps);
  // In place on x[row][heads * dim]: rotates pairs by (cos, sin)[row][rotary / 2]; pairs are (2i, 2i + 1)
  // when interleaved, else (i, i + rotary / 2); elements past `rotary` of each head stay.
  void (*rope)(TaskPool& pool, float* x, size_t ld, uint32_t rows, uint32_t heads, uint32_t dim,
               uint32_t rotary, const float* cos, const float* sin, bool interleaved);
  // gate[r][i] = gating(gate[r][i], up[r][i])
  void (*glu)(TaskPool& pool, Gating gating, float* gate, const float* up, size_t ld, uint32_t rows,
              uint32_t cols);

  // y[r] += sum over i of weights[r][i] * expert chosen[r][i] of x[r], summed in the order of i. Fast
  // tables read an expert's weights once for each 96 of the rows that chose it.
  void (*experts)(TaskPool& pool, const ExpertsArgs& args);

  size_t (*kv_page_bytes)(const KvShape& shape);
  // Stores k and v [row][kv_heads * head_dim] (k already rotated) at the slices' positions.
  void (*kv_write)(TaskPool& pool, const KvShape& shape, uint32_t layer, std::span<const Slice> slices,
                   const float* k, const float* v, size_t ld);
  // Causal softmax(q k^T * scale) v over pages (Dao et al. 2022, online softmax), over the last keys only
  // when there is a window (Beltagy et al. 2020), with sinks (Xiao et al. 2023) where given. KV is split at
  // absolute multiples of 512 positions, the parts merged in ascending order, for every row alike. The
  // slices' own rows must have been written. Bytes of positions past a row's own, or of 16-token tiles before
  // its window, never influence it, whatever they hold (NaN included); pages wholly before it are not read.
  void (*attention)(TaskPool& pool, const AttentionArgs& args);
};

const Table& ref_table();
inline constexpr const char* kTableNames = "ref, avx2, avx512 or avx512bf16";
// The table for this CPU, or the one named. Error: unknown, or not supported by this CPU.
Result<const Table*> select(std::string_view forced = {});

}  // namespace reprise::kernels
