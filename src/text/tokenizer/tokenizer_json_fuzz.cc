// A tokenizer.json of anyone's: it is refused with one line, or it encodes and decodes any text with ids that
// it has. The input is the file; behind a NUL, a text to encode. Mutations change the JSON's values as often
// as its bytes, so that most of them are still read.
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/check.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr const char* kNames[] = {"BPE",
                                  "Unigram",
                                  "WordPiece",
                                  "Sequence",
                                  "ByteLevel",
                                  "Metaspace",
                                  "Split",
                                  "Digits",
                                  "Punctuation",
                                  "Whitespace",
                                  "WhitespaceSplit",
                                  "BertPreTokenizer",
                                  "FixedLength",
                                  "CharDelimiterSplit",
                                  "NFC",
                                  "NFKD",
                                  "Lowercase",
                                  "StripAccents",
                                  "Strip",
                                  "Nmt",
                                  "Replace",
                                  "Prepend",
                                  "BertNormalizer",
                                  "Precompiled",
                                  "ByteFallback",
                                  "Fuse",
                                  "BPEDecoder",
                                  "TemplateProcessing",
                                  "RobertaProcessing",
                                  "Isolated",
                                  "Removed",
                                  "MergedWithNext",
                                  "Contiguous",
                                  "first",
                                  "never",
                                  "▁",
                                  " ",
                                  "",
                                  "<0x41>",
                                  "\\p{L}+|[^a&&[b-d]]",
                                  "##",
                                  "</w>"};

// One value somewhere in the tree becomes another.
void mutate(json::value& root, std::mt19937& random) {
  json::value* at = &root;
  for (int depth = 0; depth < 12; ++depth) {
    if (auto* object = at->if_object(); object != nullptr && !object->empty()) {
      auto member = object->begin() + static_cast<ptrdiff_t>(random() % object->size());
      if (random() % 16 == 0) {
        object->erase(member->key());
        return;
      }
      at = &member->value();
    } else if (auto* array = at->if_array(); array != nullptr && !array->empty()) {
      const size_t index = random() % array->size();
      if (random() % 8 == 0) {
        const json::value copy = (*array)[index];
        array->push_back(copy);
        return;
      }
      if (random() % 16 == 0) {
        array->erase(array->begin() + static_cast<ptrdiff_t>(index));
        return;
      }
      at = &(*array)[index];
    } else {
      break;
    }
  }
  switch (random() % 6) {
    case 0:
      *at = static_cast<int64_t>(random() % 300) - 20;
      break;
    case 1:
      *at = random() % 2 == 0;
      break;
    case 2:
      *at = nullptr;
      break;
    case 3:
      *at = -1e9 + static_cast<double>(random());
      break;
    default:
      *at = kNames[random() % std::size(kNames)];
  }
}

}  // namespace
}  // namespace reprise

// Present in fuzz builds only.
extern "C" __attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  using namespace reprise;
  std::mt19937 random(seed);
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view text = all.substr(0, all.find('\0'));
  boost::system::error_code error;
  json::value root = json::parse({text.data(), text.size()}, error);
  if (!error && random() % 2 == 0) {
    for (unsigned i = 1 + random() % 3; i > 0; --i) mutate(root, random);
    const std::string made = json::serialize(root) + std::string(all.substr(text.size()));
    if (made.size() <= max_size) {
      std::copy(made.begin(), made.end(), data);
      return made.size();
    }
  }
  return LLVMFuzzerMutate != nullptr ? LLVMFuzzerMutate(data, size, max_size) : size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace reprise;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  Vocabulary vocabulary;
  vocabulary.tokenizer_json = all.substr(0, all.find('\0'));
  if (vocabulary.tokenizer_json.empty()) return 0;
  const std::string_view rest = all.substr(vocabulary.tokenizer_json.size());
  const std::string text = "Hi, <s> 12 é 中\n" + std::string(rest.substr(0, 40));
  const auto made = Tokenizer::create(vocabulary);
  if (!made) {
    CHECK(!made.error().message.empty(), "refused without a reason");
    return 0;
  }
  const Tokenizer& tokenizer = **made;
  for (const bool special : {false, true}) {
    const std::vector<TokenId> ids =
        tokenizer.encode(text, {.parse_special = special, .add_bos_eos = special});
    for (const TokenId id : ids)
      CHECK(id >= 0 && static_cast<size_t>(id) < tokenizer.size(), "id {} of {}", id, tokenizer.size());
    CHECK(ids == tokenizer.encode(text, {.parse_special = special, .add_bos_eos = special}),
          "not the same twice");
    tokenizer.decode(ids, special);
  }
  return 0;
}
