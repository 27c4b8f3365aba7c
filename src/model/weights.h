// Takes tensors out of a model file by name, checked against the shape the architecture expects, and repacks
// them for the kernel table. The loader keeps account of what was used: a tensor that no layer asked for is
// an error, because ignoring it would compute another model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/task_pool.h"
#include "kernels/table.h"
#include "model/gguf.h"
#include "model/load.h"

namespace reprise {

// One or several weight matrices that read the same input, as columns of one output, computed in one parallel
// loop: y[r] = [A x[r] | B x[r] | ...] + bias.
struct Projection {
  static constexpr size_t kMaxParts = 4;
  struct Part {
    kernels::Matrix matrix;
    uint32_t column = 0;  // of y
  };
  std::vector<Part> parts;
  std::vector<float> bias;  // [width], or empty when no part has one
  uint32_t width = 0;

  void apply(TaskPool& pool, const kernels::Table& table, const kernels::Input& input, float* y, size_t ldy,
             kernels::Epilogue epilogue) const;
};

// What was handed out, for costs. A token reads of a stack of experts those that it uses.
struct WeightSums {
  size_t bytes = 0, layer_bytes = 0;        // packed, and of these the layers' (blk.*)
  size_t token_bytes = 0;                   // what one token reads
  uint64_t layer_macs = 0, float_macs = 0;  // a token's multiply-adds in the layers, and in those of their
                                            // matrices that are F32, F16 or BF16
};

class WeightLoader {
 public:
  enum class Mode {
    kPack,
    kCheck,  // checks names, types and shapes; matrices are returned empty, vectors are read
  };
  WeightLoader(const ModelFile& file, TaskPool& pool, const kernels::Table& table, Mode mode,
               std::function<void(const LoadProgress&)> progress = {});

  bool has(std::string_view name) const { return file_.tensor(name) != nullptr; }

  // Errors of all: the tensor is missing, has another shape, or a type that is not supported; named.
  Result<kernels::Matrix> matrix(const std::string& name, uint32_t rows, uint32_t cols);
  // Matrices of one shape: [count][rows][cols], of which a token uses `used`.
  struct Stack {
    uint32_t count = 1, used = 1;
  };
  Result<kernels::Matrix> stack(const std::string& name, Stack stack, uint32_t rows, uint32_t cols);
  // F32, F16 or BF16, row after row.
  Result<std::vector<float>> floats(const std::string& name, uint32_t rows, uint32_t cols);
  Result<std::vector<float>> vector(const std::string& name, uint32_t size) { return floats(name, 1, size); }

  // Whether to read a part, by what the architecture or the configuration says of it. What a file may have,
  // it has in all layers alike or in none: one of which some are lost would otherwise compute another model.
  enum class Presence : uint8_t { kOptional, kRequired, kNone };
  Result<bool> has_part(const std::string& name, Presence presence);

  struct Member {
    std::string name;  // "blk.0.attn_q": of NAME.weight [rows][cols] and NAME.bias [rows]
    uint32_t rows = 0;
  };
  // Of several members all have a bias or none.
  Result<Projection> projection(const std::vector<Member>& members, uint32_t cols,
                                Presence bias = Presence::kOptional);

  // The tensors whose names begin so are not needed.
  void skip(std::string_view prefix);
  // Call last: the error names a tensor that was not used.
  Result<void> finish();
  const WeightSums& sums() const { return sums_; }

 private:
  Result<const GgufTensor*> take(const std::string& name, uint32_t rows, uint32_t cols, uint32_t count = 1);

  const ModelFile& file_;
  TaskPool& pool_;
  const kernels::Table& table_;
  const Mode mode_;
  std::function<void(const LoadProgress&)> progress_;
  std::unordered_set<std::string_view> used_;
  std::map<std::string, std::string> parts_;  // optional ones, less the block: the first that was asked for
  WeightSums sums_;
  size_t undropped_ = 0;  // file bytes read since their pages were last let go
  LoadProgress done_;
};

}  // namespace reprise
