#include "model/weights.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace reprise {
namespace {

using kernels::Matrix;
using kernels::WeightType;

std::string type_names() {
  std::string names;
  for (const kernels::WeightFormat& format : kernels::kWeightFormats) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

constexpr size_t kDropEvery = 256 << 20;  // file bytes read between two calls that let their pages go
constexpr size_t kSerialBias = 32 << 10;  // additions that take less than a parallel loop costs

}  // namespace

void Projection::apply(TaskPool& pool, const kernels::Table& table, const kernels::Input& input, float* y,
                       size_t ldy, kernels::Epilogue epilogue) const {
  kernels::Product products[kMaxParts];
  for (size_t i = 0; i < parts.size(); ++i) products[i] = {&parts[i].matrix, y + parts[i].column, ldy};
  table.products(pool, input, {products, parts.size()}, epilogue);
  if (bias.empty()) return;
  const auto add_bias = [&](size_t row, int) {
    for (uint32_t i = 0; i < width; ++i) y[row * ldy + i] += bias[i];
  };
  if (size_t{input.rows} * width > kSerialBias) {
    pool.run(input.rows, add_bias);
  } else {
    for (uint32_t row = 0; row < input.rows; ++row) add_bias(row, 0);
  }
}

WeightLoader::WeightLoader(const ModelFile& file, TaskPool& pool, const kernels::Table& table, Mode mode,
                           std::function<void(const LoadProgress&)> progress)
    : file_(file), pool_(pool), table_(table), mode_(mode), progress_(std::move(progress)) {
  for (const GgufTensor& tensor : file.tensors()) done_.bytes_total += tensor.byte_count();
}

Result<const GgufTensor*> WeightLoader::take(const std::string& name, uint32_t rows, uint32_t cols,
                                             uint32_t count) {
  const GgufTensor* tensor = file_.tensor(name);
  if (!tensor) return invalid_param(name, "tensor {} is missing", name);
  if (tensor->size[0] != cols || tensor->size[1] != rows || tensor->size[2] != count || tensor->size[3] != 1)
    return invalid_param(name, "tensor {} is [{}, {}, {}, {}], wanted [{}, {}{}]", name, tensor->size[0],
                         tensor->size[1], tensor->size[2], tensor->size[3], cols, rows,
                         count > 1 ? fmt::format(", {}", count) : "");
  if (!tensor->type->weight)
    return std::unexpected(Error{
        ErrorKind::kUnsupported,
        fmt::format("tensor {} has type {} (supported: {})", name, tensor->type->name, type_names()), name});
  used_.insert(tensor->name);
  return tensor;
}

Result<Matrix> WeightLoader::matrix(const std::string& name, uint32_t rows, uint32_t cols) {
  return stack(name, {}, rows, cols);
}

Result<Matrix> WeightLoader::stack(const std::string& name, Stack stack, uint32_t rows, uint32_t cols) {
  const GgufTensor& tensor = *TRY(take(name, rows, cols, stack.count));
  if (mode_ == Mode::kCheck) return Matrix{};
  std::vector<std::byte> copy;
  std::vector<const std::byte*> parts;
  for (const auto part : tensor.parts) parts.push_back(part.data());
  kernels::MatrixSource source{*tensor.type->weight, rows, cols, nullptr, stack.count};
  if (parts.size() == stack.count)
    source.parts = parts.data();
  else
    source.data = tensor.whole(copy).data();
  Matrix matrix = table_.pack(pool_, source);
  sums_.bytes += matrix.bytes();
  sums_.token_bytes += matrix.bytes() / stack.count * stack.used;
  if (name.starts_with("blk.")) {
    const uint64_t macs = uint64_t{rows} * cols * stack.used;
    sums_.layer_bytes += matrix.bytes();
    sums_.layer_macs += macs;
    if (kernels::block_elements(matrix.type) == 1) sums_.float_macs += macs;
  }
  undropped_ += tensor.byte_count();
  if (undropped_ >= kDropEvery) {
    file_.drop_pages();
    undropped_ = 0;
  }
  done_.bytes_done += tensor.byte_count();
  if (progress_) progress_(done_);
  return matrix;
}

Result<std::vector<float>> WeightLoader::floats(const std::string& name, uint32_t rows, uint32_t cols) {
  const GgufTensor* tensor = TRY(take(name, rows, cols));
  const WeightType type = *tensor->type->weight;
  if (kernels::block_elements(type) != 1)
    return std::unexpected(Error{
        ErrorKind::kUnsupported,
        fmt::format("tensor {} is a vector of type {} (supported: F32, F16, BF16)", name, tensor->type->name),
        name});
  std::vector<float> values(size_t{rows} * cols);
  std::vector<std::byte> copy;
  const Matrix packed = kernels::ref_table().pack(pool_, {type, rows, cols, tensor->whole(copy).data()});
  for (uint32_t row = 0; row < rows; ++row)
    kernels::ref_table().unpack_row(packed, row, values.data() + size_t{row} * cols);
  done_.bytes_done += tensor->byte_count();
  return values;
}

Result<bool> WeightLoader::has_part(const std::string& name, Presence presence) {
  const bool here = has(name);
  if (presence == Presence::kNone) return false;  // one that is there is left over for finish()
  if (presence == Presence::kRequired && !here) return invalid_param(name, "tensor {} is missing", name);
  constexpr std::string_view kBlock = "blk.";
  const size_t dot = name.starts_with(kBlock) ? name.find('.', kBlock.size()) : name.npos;
  if (dot == name.npos) return here;
  const std::string& first = parts_.try_emplace(name.substr(dot), name).first->second;
  if (has(first) != here)
    return invalid_param(here ? first : name, "tensor {} is missing: the file has {}", here ? first : name,
                         here ? name : first);
  return here;
}

Result<Projection> WeightLoader::projection(const std::vector<Member>& members, uint32_t cols,
                                            Presence bias) {
  CHECK(members.size() <= Projection::kMaxParts);
  Projection projection;
  for (const Member& member : members) {
    projection.parts.push_back({TRY(matrix(member.name + ".weight", member.rows, cols)), projection.width});
    projection.width += member.rows;
    const std::string name = member.name + ".bias";
    const bool here = TRY(has_part(name, bias));
    const std::string first = members.front().name + ".bias";
    if (bias != Presence::kNone && here != has(first))
      return invalid_param(here ? first : name, "tensor {} is missing: the file has {}", here ? first : name,
                           here ? name : first);
    if (here) std::ranges::copy(TRY(vector(name, member.rows)), std::back_inserter(projection.bias));
  }
  return projection;
}

void WeightLoader::skip(std::string_view prefix) {
  for (const GgufTensor& tensor : file_.tensors())
    if (tensor.name.starts_with(prefix) && used_.insert(tensor.name).second)
      done_.bytes_done += tensor.byte_count();
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
