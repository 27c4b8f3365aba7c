// The order: configuration, weights, text. The weight files are those of model.safetensors.index.json where
// there is one, else model.safetensors; each tensor the index names must be in the file it names.
#include "model/huggingface/folder.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "model/huggingface/config.h"
#include "model/huggingface/json.h"
#include "model/huggingface/safetensors.h"
#include "model/huggingface/tensor_names.h"
#include "model/vocabulary.h"

namespace reprise {
namespace json = boost::json;
namespace {

constexpr size_t kMaxShards = 4096;
constexpr uint64_t kMaxTokens = 1 << 24;
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSingle = "model.safetensors";

const GgufType* type_of(const std::string& safetensors_type) {
  constexpr std::pair<const char*, uint32_t> kTypes[] = {{"F32", 0}, {"F16", 1}, {"BF16", 30}};
  for (const auto& [name, id] : kTypes)
    if (safetensors_type == name) return gguf_type(id);
  return nullptr;
}

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  Result<ModelFile> read() && {
    file_.set_container("safetensors");
    const auto config = TRY(read_object(path_ / "config.json"));
    if (!config)
      return fail(
          ErrorKind::kNotFound,
          "{}: no config.json in this folder: give a GGUF file or a folder as Hugging Face's hub has them",
          path_.string());
    config_ = TRY(at("config.json", read_huggingface_config(*config, file_)));
    const auto generation = TRY(read_object(path_ / "generation_config.json"));
    TRY(at("generation_config.json",
           read_generation_config(generation ? &*generation : nullptr, *config, file_)));
    TRY(read_weights());
    TRY(read_text_files());
    // A cache of keys and values belongs to the whole configuration, as to a GGUF file's whole header.
    file_.add_header(std::as_bytes(std::span(file_.keep(json::serialize(*config)))), 0);
    return std::move(file_);
  }

 private:
  template <typename T>
  Result<T> at(const char* name, Result<T> result) const {
    if (!result && !result.error().message.starts_with(name))
      result.error().message = fmt::format("{}: {}", name, result.error().message);
    if (!result) result.error().message = fmt::format("{}/{}", path_.string(), result.error().message);
    return result;
  }

  Result<void> read_weights() {
    std::map<std::string, std::set<std::string, std::less<>>> shards;  // file -> the tensors it should hold
    if (const auto index = TRY(read_object(path_ / kIndex))) {
      const json::value* map = index->if_contains("weight_map");
      if (!map || !map->is_object()) return invalid("{}: weight_map is missing or no object", shown(kIndex));
      for (const auto& [tensor, shard] : map->get_object()) {
        if (!shard.is_string()) return invalid("{}: {} is in no file", shown(kIndex), printable(tensor));
        const std::string name(shard.get_string());
        // The index must not reach outside the folder.
        if (name.find('/') != name.npos || name.empty() || name[0] == '.')
          return invalid("{}: \"{}\" is no file name", shown(kIndex), printable(name));
        shards[name].emplace(tensor);
      }
      if (shards.size() > kMaxShards)
        return invalid("{}: {} files are too many", shown(kIndex), shards.size());
    } else {
      shards[kSingle];
    }
    for (const auto& [name, wanted] : shards) TRY(read_shard(name, wanted));
    TRY(add_stacks());
    if (other_parts_ > 0)
      file_.note(
          fmt::format("{} tensors for images are not used: this is the text model only", other_parts_));
    if (config_.tied) return {};
    if (!file_.tensor("output.weight") && file_.tensor("token_embd.weight"))
      return invalid_param("lm_head.weight",
                           "{}: tensor lm_head.weight is missing, and tie_word_embeddings is not true",
                           path_.string());
    return {};
  }

  Result<void> read_shard(const std::string& name, const std::set<std::string, std::less<>>& wanted) {
    std::error_code error;
    if (!std::filesystem::exists(path_ / name, error))
      return fail(ErrorKind::kNotFound, "{}: the weight file {} {}", path_.string(), printable(name),
                  error ? "cannot be had: " + error.message() : "is missing");
    MappedFile mapped = TRY(MappedFile::open(path_ / name));
    auto parsed = parse_safetensors(mapped.bytes());
    if (!parsed) return at(name.c_str(), Result<void>(std::unexpected(parsed.error())));
    size_t found = 0;
    for (const SafeTensor& tensor : parsed->tensors) {
      // Without an index all that the file holds is the model; with one, what the index says.
      if (!wanted.empty() && !wanted.contains(tensor.name)) continue;
      ++found;
      TRY(at(name.c_str(), add(tensor)));
    }
    if (found < wanted.size()) {
      for (const std::string& tensor : wanted)
        if (std::ranges::find(parsed->tensors, tensor, &SafeTensor::name) == parsed->tensors.end())
          return invalid_param(printable(tensor), "{}/{}: tensor {} is missing, which {} says is here",
                               path_.string(), printable(name), printable(tensor), kIndex);
    }
    file_.add_header(parsed->header, mapped.bytes().size());
    file_.keep(std::move(mapped));
    return {};
  }

  Result<void> add(const SafeTensor& source) {
    std::optional<std::string> name = source.name;
    if (config_.nested) name = name_in_text_model(source.name);
    if (!name) {
      ++other_parts_;
      return {};
    }
    for (const GgufName& named : TRY(gguf_tensor_names(*config_.family, *name, config_.layers)))
      TRY(add(source, named));
    return {};
  }

  Result<void> add(const SafeTensor& source, const GgufName& named) {
    const std::string& name = named.name;
    if (config_.tied && name == "output.weight") return {};
    const std::string shown_name = printable(source.name);
    GgufTensor tensor{.name = file_.keep(name), .type = type_of(source.type)};
    if (!tensor.type)
      return std::unexpected(Error{ErrorKind::kUnsupported,
                                   fmt::format("tensor {} has type {} (supported in folders: F32, F16, BF16)",
                                               shown_name, source.type),
                                   shown_name});
    if (source.shape.empty() || source.shape.size() > 4)
      return invalid_param(shown_name, "tensor {} has {} dimensions, wanted 1 to 4", shown_name,
                           source.shape.size());
    tensor.dimensions = static_cast<uint32_t>(source.shape.size());
    tensor.elements = 1;
    for (uint32_t d = 0; d < tensor.dimensions; ++d) {
      tensor.size[d] = source.shape[tensor.dimensions - 1 - d];
      if (tensor.size[d] == 0) return invalid_param(shown_name, "tensor {} has a dimension of 0", shown_name);
      tensor.elements *= tensor.size[d];  // fits: the byte count was checked
    }
    tensor.bytes = source.bytes;
    if (named.of_columns) TRY(take_columns(*named.of_columns, shown_name, tensor));
    if (named.expert) {
      if (!stacks_[name].emplace(*named.expert, std::move(tensor)).second)
        return invalid_param(shown_name, "tensor {} occurs twice", shown_name);
      return {};
    }
    if (config_.family->unit_norms && name.ends_with("norm.weight")) TRY(add_one(tensor));
    if (!file_.add_tensor(tensor)) return invalid_param(shown_name, "tensor {} occurs twice", shown_name);
    return {};
  }

  static Result<void> take_columns(const TensorName& part, const std::string& shown_name,
                                   GgufTensor& tensor) {
    if (tensor.size[0] % part.every != 0 || (part.transposed && tensor.dimensions < 2))
      return invalid_param(shown_name, "tensor {} does not have {} parts of matrices", shown_name,
                           part.every);
    tensor.size[0] /= part.every;
    tensor.elements /= part.every;
    tensor.columns = {.outputs = tensor.size[0], .every = part.every, .first = part.first};
    if (!part.transposed) return {};
    tensor.columns->inputs = tensor.size[1];
    std::swap(tensor.size[0], tensor.size[1]);
    return {};
  }

  // Experts' matrices one on the other, as GGUF has them.
  Result<void> add_stacks() {
    for (auto& [name, experts] : stacks_) {
      GgufTensor stack = experts.begin()->second;
      const GgufTensor& first = experts.begin()->second;
      stack.bytes = {};
      for (const auto& [expert, tensor] : experts) {
        if (expert != stack.parts.size())
          return invalid_param(name, "{}: expert {} of {} is missing", path_.string(), stack.parts.size(),
                               name);
        if (tensor.type != first.type || tensor.dimensions != 2 ||
            !std::ranges::equal(tensor.size, first.size))
          return invalid_param(name, "{}: experts 0 and {} of {} differ in type or shape", path_.string(),
                               expert, name);
        stack.parts.push_back(tensor.bytes);
      }
      stack.dimensions = 3;
      stack.size[2] = experts.size();
      stack.elements *= experts.size();
      file_.add_tensor(std::move(stack));
    }
    return {};
  }

  // The weights of norms that compute x (1 + w), as GGUF stores them: 1 + w in fp32.
  Result<void> add_one(GgufTensor& tensor) {
    std::vector<float> values(tensor.elements);
    const auto type = *tensor.type->weight;
    if (values.size() > (1 << 20))
      return invalid_param(std::string(tensor.name), "tensor {} is too long", tensor.name);
    TaskPool alone(1, /*pin=*/false);
    const kernels::Table& ref = kernels::ref_table();
    ref.unpack_row(ref.pack(alone, {type, 1, static_cast<uint32_t>(values.size()), tensor.bytes.data()}), 0,
                   values.data());
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    for (float& v : values) v += 1;
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensor.type = gguf_type(0);
    tensor.bytes = file_.keep(std::move(bytes));
    return {};
  }

  Result<void> read_text_files() {
    if (auto tokenizer = TRY(read_text(path_ / "tokenizer.json"))) {
      const json::object parsed = TRY(at("tokenizer.json", parse_object(*tokenizer)));
      add_closing_tokens(parsed);
      file_.add_key("tokenizer.huggingface.json", file_.keep(std::move(*tokenizer)));
    }
    auto chat_template = TRY(read_text(path_ / "chat_template.jinja"));
    const auto tokenizer_config = TRY(read_object(path_ / "tokenizer_config.json"));
    if (tokenizer_config && !chat_template)
      if (const json::value* inner = tokenizer_config->if_contains("chat_template"))
        chat_template = template_of(*inner);
    if (chat_template) file_.add_key("tokenizer.chat_template", file_.keep(std::move(*chat_template)));
    if (auto config = TRY(read_text(path_ / "tokenizer_config.json")))
      file_.add_key("tokenizer.huggingface.config_json", file_.keep(std::move(*config)));
    if (tokenizer_config)
      if (const json::value* add = tokenizer_config->if_contains("add_bos_token"); add && add->is_bool())
        file_.add_key("tokenizer.ggml.add_bos_token", add->get_bool());
    return {};
  }

  // Special added tokens that end a turn by their name: eos_token_id often has only one of several.
  void add_closing_tokens(const json::object& tokenizer) {
    const json::value* added = tokenizer.if_contains("added_tokens");
    if (!added || !added->is_array()) return;
    std::vector<uint64_t> ids;
    for (const json::value& token : added->get_array()) {
      const json::object* fields = token.if_object();
      const json::value* id = fields ? fields->if_contains("id") : nullptr;
      const json::value* text = fields ? fields->if_contains("content") : nullptr;
      const json::value* special = fields ? fields->if_contains("special") : nullptr;
      if (!id || !text || !text->is_string() || !special || *special != true) continue;
      const auto number = to_unsigned(*id);
      if (number && *number < kMaxTokens &&
          ends_generation(std::string_view(text->get_string()), config_.family->architecture))
        ids.push_back(*number);
    }
    add_token_ids("tokenizer.huggingface.closing_token_ids", ids, file_);
  }

  // A text, or a list of named ones of which "default" counts.
  static std::optional<std::string> template_of(const json::value& value) {
    if (value.is_string()) return std::string(value.get_string());
    if (!value.is_array()) return std::nullopt;
    for (const json::value& entry : value.get_array()) {
      const json::object* fields = entry.if_object();
      const json::value* name = fields ? fields->if_contains("name") : nullptr;
      const json::value* text = fields ? fields->if_contains("template") : nullptr;
      if (name && *name == "default" && text && text->is_string()) return std::string(text->get_string());
    }
    return std::nullopt;
  }

  std::string shown(const char* name) const { return (path_ / name).string(); }

  std::filesystem::path path_;
  ModelFile file_;
  HuggingFaceConfig config_;
  size_t other_parts_ = 0;                                        // tensors of
  std::map<std::string, std::map<uint32_t, GgufTensor>> stacks_;  // by name and expert
};

}  // namespace

Result<ModelFile> open_huggingface(const std::filesystem::path& folder) { return Folder(folder).read(); }

}  // namespace reprise
