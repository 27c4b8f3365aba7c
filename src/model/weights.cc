#include "model/weights.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace reprise {
namespace {

using kernels::Matrix;
using kernels::WeightType;

constexpr size_t kDropEvery = 256 << 20;  // file bytes read between two calls that let their pages go

}  // namespace

void Projection::apply(TaskPool& pool, const kernels::Table& table, const kernels::Input& input, float* y,
                       size_t ldy, kernels::Epilogue epilogue) const {
  kernels::Product products[kMaxParts];
  for (size_t i = 0; i < parts.size(); ++i) products[i] = {&parts[i].matrix, y + parts[i].column, ldy};
  table.products(pool, input, {products, parts.size()}, epilogue);
  if (bias.empty()) return;
  for (uint32_t row = 0; row < input.rows; ++row)
    for (uint32_t i = 0; i < width; ++i) y[row * ldy + i] += bias[i];
}

WeightLoader::WeightLoader(const GgufFile& file, TaskPool& pool, const kernels::Table& table, Mode mode,
                           std::function<void(const LoadProgress&)> progress)
    : file_(file), pool_(pool), table_(table), mode_(mode), progress_(std::move(progress)) {
  for (const GgufTensor& tensor : file.tensors()) done_.bytes_total += tensor.bytes.size();
}

Result<const GgufTensor*> WeightLoader::take(const std::string& name, uint32_t rows, uint32_t cols) {
  const GgufTensor* tensor = file_.tensor(name);
  if (!tensor) return invalid_param(name, "tensor {} is missing", name);
  if (tensor->size[0] != cols || tensor->size[1] != rows || tensor->size[2] != 1 || tensor->size[3] != 1)
    return invalid_param(name, "tensor {} is [{}, {}, {}, {}], wanted [{}, {}]", name, tensor->size[0],
                         tensor->size[1], tensor->size[2], tensor->size[3], cols, rows);
  if (!tensor->type->weight)
    return std::unexpected(
        Error{ErrorKind::kUnsupported,
              fmt::format("tensor {} has type {} (supported: F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q6_K)", name,
                          tensor->type->name),
              name});
  used_.insert(tensor->name);
  return tensor;
}

Result<Matrix> WeightLoader::matrix(const std::string& name, uint32_t rows, uint32_t cols) {
  const GgufTensor& tensor = *TRY(take(name, rows, cols));
  if (mode_ == Mode::kCheck) return Matrix{};
  Matrix matrix = table_.pack(pool_, {*tensor.type->weight, rows, cols, tensor.bytes.data()});
  packed_bytes_ += matrix.bytes();
  if (name.starts_with("blk.")) {
    layer_elements_ += uint64_t{rows} * cols;
    if (kernels::block_elements(matrix.type) == 1) float_elements_ += uint64_t{rows} * cols;
  }
  undropped_ += tensor.bytes.size();
  if (undropped_ >= kDropEvery) {
    file_.drop_pages();
    undropped_ = 0;
  }
  done_.bytes_done += tensor.bytes.size();
  if (progress_) progress_(done_);
  return matrix;
}

Result<std::vector<float>> WeightLoader::vector(const std::string& name, uint32_t size) {
  const GgufTensor* tensor = TRY(take(name, 1, size));
  const WeightType type = *tensor->type->weight;
  if (kernels::block_elements(type) != 1)
    return std::unexpected(Error{
        ErrorKind::kUnsupported,
        fmt::format("tensor {} is a vector of type {} (supported: F32, F16, BF16)", name, tensor->type->name),
        name});
  std::vector<float> values(size);
  const Matrix row = kernels::ref_table().pack(pool_, {type, 1, size, tensor->bytes.data()});
  kernels::ref_table().unpack_row(row, 0, values.data());
  done_.bytes_done += tensor->bytes.size();
  return values;
}

Result<Projection> WeightLoader::projection(const std::vector<Member>& members, uint32_t cols) {
  CHECK(members.size() <= Projection::kMaxParts);
  Projection projection;
  for (const Member& member : members) {
    projection.parts.push_back({TRY(matrix(member.name + ".weight", member.rows, cols)), projection.width});
    if (has(member.name + ".bias")) {
      projection.bias.resize(projection.width);
      std::ranges::copy(TRY(vector(member.name + ".bias", member.rows)), std::back_inserter(projection.bias));
    }
    projection.width += member.rows;
  }
  if (!projection.bias.empty()) projection.bias.resize(projection.width);
  return projection;
}

Result<void> WeightLoader::finish() {
  for (const GgufTensor& tensor : file_.tensors())
    if (!used_.contains(tensor.name))
      return std::unexpected(Error{
          ErrorKind::kUnsupported,
          fmt::format("tensor {} is not part of this architecture as supported here", printable(tensor.name)),
          printable(tensor.name)});
  return {};
}

}  // namespace reprise
