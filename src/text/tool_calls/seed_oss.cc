// Seed-OSS: Qwen's tags in <seed:tool_call>, values without line breaks around them; reasoning in
// <seed:think>, in it remarks on the budget in <seed:cot_budget_reflect>.
#include "text/tool_calls/families.h"
#include "text/tool_calls/xml_calls.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {
    "<seed:think>", "</seed:think>", "<seed:tool_call>", "</seed:tool_call>",
    "<function=",   "<parameter=",   "</parameter>",     "</function>"};

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t) {
  const XmlDialect dialect{.section_open = markers[2],
                           .section_close = markers[3],
                           .call_open = markers[4],
                           .argument_open = markers[5],
                           .name_close = ">",
                           .argument_close = markers[6],
                           .call_close = markers[7]};
  Parse calls = read_xml_calls(in, out, dialect, false);
  co_await calls;
}

}  // namespace

const Family& seed_oss() {
  static constexpr Family family{
      .name = "seed_oss", .signs = {"<seed:tool_call>"}, .markers = kMarkers, .openers = 1, .calls = calls};
  return family;
}

}  // namespace reprise::calls
