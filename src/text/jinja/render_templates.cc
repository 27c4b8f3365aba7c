// Renders templates for the comparison with jinja2 (tools/template_property.py): each line of standard input,
// {"template", "context"}, gives a line {"output"} or {"error"} on standard output.
#include <iostream>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "text/jinja/template.h"

namespace {

constexpr int64_t kNow = 1767268800;  // 2026-01-01 12:00:00 UTC, as in the golden files

reprise::Result<reprise::MarkedText> render(const boost::json::object& job) {
  const auto compiled = TRY(reprise::jinja::Compiled::compile(job.at("template").as_string()));
  std::vector<reprise::jinja::Variable> variables;
  for (const auto& [name, value] : job.at("context").as_object()) {
    variables.push_back({std::string_view(name), &value});
  }
  return compiled.render(variables, kNow);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto result = render(boost::json::parse(line).as_object());
    boost::json::object answer;
    if (result) {
      answer["output"] = result->text;
    } else {
      answer["error"] = result.error().message;
    }
    fmt::print("{}\n", boost::json::serialize(answer));
  }
  return 0;
}
