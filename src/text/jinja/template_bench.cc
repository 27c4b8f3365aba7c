// Our side of `./dev bench templates`: renders one conversation with each template, over and over.
//   template_bench CONVERSATION ROUNDS TEMPLATE...
// CONVERSATION: {"messages", "tools", "now"} as JSON. For each template one line of JSON on standard output:
// {"name", "seconds": [one each round, CPU time of this thread], "output"} or {"name", "error"}.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <boost/json.hpp>

#include "text/chat_template.h"

namespace reprise {
namespace {

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

boost::json::object measure(const char* path, const ChatInput& input, int rounds) {
  boost::json::object row{{"name", std::filesystem::path(path).stem().string()}};
  const auto parsed = ChatTemplate::parse(read(path), "<|bos|>", "<|eos|>");
  if (!parsed) {
    row["error"] = parsed.error().message;
    return row;
  }
  boost::json::array seconds;
  for (int i = 0; i < rounds; ++i) {
    const double start = cpu_seconds();
    const auto prompt = parsed->render(input);
    seconds.emplace_back(cpu_seconds() - start);
    if (!prompt) {
      row["error"] = prompt.error().message;
      return row;
    }
    if (i == 0) row["output"] = prompt->text;
  }
  row["seconds"] = std::move(seconds);
  return row;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: template_bench CONVERSATION ROUNDS TEMPLATE...\n");
    return 2;
  }
  const auto conversation = boost::json::parse(reprise::read(argv[1])).as_object();
  reprise::ChatInput input;
  input.messages = conversation.at("messages").as_array();
  input.tools = conversation.at("tools").as_array();
  input.now = conversation.at("now").to_number<int64_t>();
  const int rounds = std::max(1, std::atoi(argv[2]));
  for (int i = 3; i < argc; ++i) {
    std::printf("%s\n", boost::json::serialize(reprise::measure(argv[i], input, rounds)).c_str());
  }
  return 0;
}
