// Our side of the differential test of tokenizers (tools/oracle/compare_tokenizers.py): encodes and decodes
// documents.
//   tokenizer_ids VOCABULARY CORPUS OUT [plain]
// VOCABULARY: a GGUF file (its tokenizer keys are read) or a tokenizer.json (a name that ends in .json).
// CORPUS: documents, each a line with its size in bytes and then the bytes. OUT: for each document the number
// of ids, the ids (int32), the number of bytes of the decoded text (control tokens left out), the text, all
// numbers little-endian. `plain`: control tokens are not looked for.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/vocabulary_for_test.h"

int main(int argc, char** argv) {
  using namespace reprise;
  if (argc != 4 && !(argc == 5 && std::string_view(argv[4]) == "plain")) {
    fmt::print(stderr, "usage: tokenizer_ids VOCABULARY CORPUS OUT [plain]\n");
    return 2;
  }
  const std::string path = argv[1];
  Vocabulary vocabulary;
  if (path.ends_with(".json")) {
    vocabulary.tokenizer_json = file_bytes(path);
  } else {
    vocabulary = gguf_vocabulary(path);
  }
  const auto tokenizer = Tokenizer::create(vocabulary);
  if (!tokenizer) {
    fmt::print(stderr, "{}\n", tokenizer.error().message);
    return 1;
  }
  std::ifstream corpus(argv[2], std::ios::binary);
  std::ofstream out(argv[3], std::ios::binary);
  const auto put_number = [&](uint32_t number) { out.write(reinterpret_cast<const char*>(&number), 4); };
  for (std::string line; std::getline(corpus, line);) {
    std::string document(std::stoul(line), '\0');
    corpus.read(document.data(), static_cast<std::streamsize>(document.size()));
    const std::vector<TokenId> ids = (*tokenizer)->encode(document, {.parse_special = argc == 4});
    const std::string decoded = (*tokenizer)->decode(ids);
    put_number(static_cast<uint32_t>(ids.size()));
    for (const TokenId id : ids) put_number(static_cast<uint32_t>(id));
    put_number(static_cast<uint32_t>(decoded.size()));
    out.write(decoded.data(), static_cast<std::streamsize>(decoded.size()));
  }
  return out.good() ? 0 : 1;
}
