// Our side of the tokenizer benchmark: encodes a corpus, cold, in a loop driven by lines on standard input.
//   tokenizer_bench VOCABULARY CORPUS
// VOCABULARY: as tools/bench/tokenizer.py writes it: five lines of header (model, pre, number of tokens, of
// merges), then one token a line with its type, then one merge a line. CORPUS: documents, each a line with
// its size in bytes and then the bytes. For each line "run" on standard input: builds a new tokenizer
// (nothing cached), encodes every document, and prints {"seconds": CPU time of encoding only, "bytes",
// "tokens", "hash": of all ids as little-endian int32}.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "text/tokenizer/tokenizer.h"

namespace reprise {
namespace {

Vocabulary read_vocabulary(const char* path) {
  std::ifstream in(path, std::ios::binary);
  Vocabulary vocabulary;
  std::string line;
  std::getline(in, vocabulary.model);
  std::getline(in, vocabulary.pre);
  std::getline(in, line);
  vocabulary.tokens.resize(std::stoul(line));
  vocabulary.types.resize(vocabulary.tokens.size());
  std::getline(in, line);
  vocabulary.merges.resize(std::stoul(line));
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    std::getline(in, line);  // "TYPE TEXT"
    vocabulary.types[i] = static_cast<TokenType>(line.at(0) - '0');
    vocabulary.tokens[i] = line.substr(2);
  }
  for (std::string& merge : vocabulary.merges) std::getline(in, merge);
  return vocabulary;
}

std::vector<std::string> read_corpus(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> documents;
  for (std::string line; std::getline(in, line);) {
    std::string& document = documents.emplace_back(std::stoul(line), '\0');
    in.read(document.data(), static_cast<std::streamsize>(document.size()));
  }
  return documents;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string sha256(const std::vector<TokenId>& tokens) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(tokens.data(), tokens.size() * sizeof(TokenId), digest, &size, EVP_sha256(), nullptr);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

int run(const char* vocabulary_path, const char* corpus_path) {
  const Vocabulary vocabulary = read_vocabulary(vocabulary_path);
  const std::vector<std::string> documents = read_corpus(corpus_path);
  size_t bytes = 0;
  for (const std::string& document : documents) bytes += document.size();
  for (std::string line; std::getline(std::cin, line);) {
    const auto tokenizer = Tokenizer::create(vocabulary);
    if (!tokenizer) {
      fmt::print(stderr, "{}\n", tokenizer.error().message);
      return 1;
    }
    std::vector<std::vector<TokenId>> encoded(documents.size());
    const double start = cpu_seconds();
    for (size_t i = 0; i < documents.size(); ++i) {
      encoded[i] = (*tokenizer)->encode(documents[i]);
    }
    const double seconds = cpu_seconds() - start;
    std::vector<TokenId> all;
    for (const auto& tokens : encoded) all.insert(all.end(), tokens.begin(), tokens.end());
    fmt::print("{{\"seconds\": {}, \"bytes\": {}, \"tokens\": {}, \"hash\": \"{}\"}}\n", seconds, bytes,
               all.size(), sha256(all));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: tokenizer_bench VOCABULARY CORPUS\n");
    return 2;
  }
  return reprise::run(argv[1], argv[2]);
}
