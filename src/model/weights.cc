#include "model/weights.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace reprise {
namespace {

using kernels::Matrix;
using kernels::MatrixSource;
using kernels::WeightType;

constexpr size_t kDropEvery = 256 << 20;  // file bytes read between two calls that let their pages go

}  // namespace

void Projection::apply(TaskPool& pool, const kernels::Table& table, const kernels::Input& input, float* y,
                       size_t ldy, kernels::Epilogue epilogue) const {
  for (const Part& part : parts) table.matmul(pool, input, part.matrix, y + part.column, ldy, epilogue);
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

Matrix WeightLoader::pack(std::span<const GgufTensor* const> stacked) {
  if (mode_ == Mode::kCheck) return {};
  const GgufTensor& first = *stacked.front();
  MatrixSource source{*first.type->weight, static_cast<uint32_t>(first.size[1]),
                      static_cast<uint32_t>(first.size[0]), first.bytes.data()};
  std::vector<std::byte> joined;
  size_t bytes = first.bytes.size();
  if (stacked.size() > 1) {
    source.rows = 0;
    for (const GgufTensor* tensor : stacked) {
      joined.insert(joined.end(), tensor->bytes.begin(), tensor->bytes.end());
      source.rows += static_cast<uint32_t>(tensor->size[1]);
    }
    source.data = joined.data();
    bytes = joined.size();
  }
  Matrix matrix = table_.pack(pool_, source);
  packed_bytes_ += matrix.bytes();
  undropped_ += bytes;
  if (undropped_ >= kDropEvery) {
    file_.drop_pages();
    undropped_ = 0;
  }
  done_.bytes_done += bytes;
  if (progress_) progress_(done_);
  return matrix;
}

Result<Matrix> WeightLoader::matrix(const std::string& name, uint32_t rows, uint32_t cols) {
  const GgufTensor* tensor = TRY(take(name, rows, cols));
  return pack({&tensor, 1});
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
  Projection projection;
  std::vector<const GgufTensor*> tensors;
  for (const Member& member : members) {
    tensors.push_back(TRY(take(member.name + ".weight", member.rows, cols)));
    if (has(member.name + ".bias")) {
      projection.bias.resize(projection.width);
      std::ranges::copy(TRY(vector(member.name + ".bias", member.rows)), std::back_inserter(projection.bias));
    }
    projection.width += member.rows;
  }
  if (!projection.bias.empty()) projection.bias.resize(projection.width);

  uint32_t column = 0;
  for (size_t begin = 0; begin < tensors.size();) {
    size_t end = begin + 1;
    while (end < tensors.size() && tensors[end]->type == tensors[begin]->type) ++end;
    projection.parts.push_back({pack(std::span(tensors).subspan(begin, end - begin)), column});
    for (; begin < end; ++begin) column += static_cast<uint32_t>(tensors[begin]->size[1]);
  }
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
