// Test data: the vocabulary inside a GGUF file, plain or zstd-compressed. Trusts the file; product code reads
// GGUF in model/.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <zstd.h>

#include "core/vocabulary.h"

namespace reprise {

class GgufVocabularyReader {
 public:
  explicit GgufVocabularyReader(std::string bytes) : bytes_(std::move(bytes)) {}

  Vocabulary read() {
    at_ = 4 + 4 + 8;  // magic, version, tensor count
    for (uint64_t keys = number<uint64_t>(); keys > 0; --keys) {
      const std::string key = string();
      value(key, number<uint32_t>());
    }
    return std::move(vocabulary_);
  }

 private:
  template <typename T>
  T number() {
    T value;
    if (at_ + sizeof(T) > bytes_.size()) throw std::runtime_error("GGUF file cut off");
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string string() {
    const auto size = number<uint64_t>();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  void value(const std::string& key, uint32_t type) {
    static constexpr int kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
      std::string text = string();
      if (key == "tokenizer.ggml.model") vocabulary_.model = text;
      if (key == "tokenizer.ggml.pre") vocabulary_.pre = text;
    } else if (type == 9) {
      const auto element = number<uint32_t>();
      for (auto count = number<uint64_t>(); count > 0; --count) {
        if (key == "tokenizer.ggml.tokens") {
          vocabulary_.tokens.push_back(string());
        } else if (key == "tokenizer.ggml.merges") {
          vocabulary_.merges.push_back(string());
        } else if (key == "tokenizer.ggml.token_type") {
          vocabulary_.types.push_back(static_cast<TokenType>(number<int32_t>()));
        } else if (key == "tokenizer.ggml.scores") {
          vocabulary_.scores.push_back(number<float>());
        } else if (key == "tokenizer.ggml.precompiled_charsmap") {
          vocabulary_.precompiled_charsmap += static_cast<char>(number<uint8_t>());
        } else {
          value("", element);
        }
      }
    } else if (type == 4 && key == "tokenizer.ggml.bos_token_id") {
      vocabulary_.bos = static_cast<TokenId>(number<uint32_t>());
    } else if (type == 4 && key == "tokenizer.ggml.eos_token_id") {
      vocabulary_.eos = static_cast<TokenId>(number<uint32_t>());
    } else if (type == 4 && key == "tokenizer.ggml.unknown_token_id") {
      vocabulary_.unk = static_cast<TokenId>(number<uint32_t>());
    } else if (type == 7) {
      const bool set = number<uint8_t>() != 0;
      if (key == "tokenizer.ggml.add_bos_token") vocabulary_.add_bos = set;
      if (key == "tokenizer.ggml.add_space_prefix") vocabulary_.add_space_prefix = set;
      if (key == "tokenizer.ggml.remove_extra_whitespaces") vocabulary_.remove_extra_whitespaces = set;
    } else {
      at_ += static_cast<size_t>(kSizes[type]);
    }
  }

  std::string bytes_;
  size_t at_ = 0;
  Vocabulary vocabulary_;
};

inline std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::string bytes(static_cast<size_t>(in.tellg()), '\0');
  in.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline Vocabulary gguf_vocabulary(const std::string& path) {
  return GgufVocabularyReader(file_bytes(path)).read();
}

inline Vocabulary packed_vocabulary(const std::string& path) {  // of a .gguf.zst
  const std::string packed = file_bytes(path);
  std::string bytes(64 << 20, '\0');
  const size_t size = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
  bytes.resize(size);
  return GgufVocabularyReader(std::move(bytes)).read();
}

}  // namespace reprise
