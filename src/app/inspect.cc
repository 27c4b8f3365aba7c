#include "app/inspect.h"

#include <cstdio>

#include "model/inspect.h"
#include "text/tokenizer/tokenizer.h"

namespace reprise {
namespace {
Result<void> has_tokenizer(const Vocabulary& vocabulary) {
  TRY(Tokenizer::create(vocabulary));
  return {};
}
}  // namespace

int run_inspect(const std::string& file) {
  const auto report = inspect_model_file(file, has_tokenizer);
  if (!report) {
    std::fprintf(stderr, "reprise inspect: %s\n", report.error().message.c_str());
    return 1;
  }
  std::fputs(report->c_str(), stdout);
  return 0;
}
}  // namespace reprise
