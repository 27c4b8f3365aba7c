// Takes tensors out of a model file by name, checked against the shape the architecture expects, and repacks
// them for the kernel table. The loader keeps account of what was used: a tensor that no layer asked for is
// an error, because ignoring it would compute another model.
#pragma once

#include <cstdint>
#include <functional>
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

class WeightLoader {
 public:
  enum class Mode {
    kPack,
    kCheck,  // checks names, types and shapes; matrices are returned empty, vectors are read
  };
  WeightLoader(const GgufFile& file, TaskPool& pool, const kernels::Table& table, Mode mode,
               std::function<void(const LoadProgress&)> progress = {});

  bool has(std::string_view name) const { return file_.tensor(name) != nullptr; }

  // Errors of all four: the tensor is missing, has another shape, or a type that is not supported; named.
  Result<kernels::Matrix> matrix(const std::string& name, uint32_t rows, uint32_t cols);
  Result<std::vector<float>> vector(const std::string& name, uint32_t size);  // F32, F16 or BF16

  struct Member {
    std::string
        name;  // "blk.0.attn_q": of NAME.weight [rows][cols] and, where the file has it, NAME.bias [rows]
    uint32_t rows = 0;
  };
  Result<Projection> projection(const std::vector<Member>& members, uint32_t cols);

  // Call last: the error names a tensor that was not used.
  Result<void> finish();
  // Of the matrices handed out: memory, and the part of the layers' (blk.*) elements that are F32, F16 or
  // BF16.
  size_t packed_bytes() const { return packed_bytes_; }
  double float_share() const {
    return layer_elements_ ? double(float_elements_) / double(layer_elements_) : 0;
  }

 private:
  Result<const GgufTensor*> take(const std::string& name, uint32_t rows, uint32_t cols);

  const GgufFile& file_;
  TaskPool& pool_;
  const kernels::Table& table_;
  const Mode mode_;
  std::function<void(const LoadProgress&)> progress_;
  std::unordered_set<std::string_view> used_;
  size_t packed_bytes_ = 0;
  uint64_t layer_elements_ = 0, float_elements_ = 0;
  size_t undropped_ = 0;  // file bytes read since their pages were last let go
  LoadProgress done_;
};

}  // namespace reprise
