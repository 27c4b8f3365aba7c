// MiniMax-M2:
//   <minimax:tool_call>\n<invoke name="f">\n<parameter
//   name="key">value</parameter>\n</invoke>\n</minimax:tool_call>,
// several invokes in one section.
#include "text/tool_calls/families.h"
#include "text/tool_calls/xml_calls.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {
    "<think>",         "</think>",           "<minimax:tool_call>", "</minimax:tool_call>",
    "<invoke name=\"", "<parameter name=\"", "</parameter>",        "</invoke>"};

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t) {
  const XmlDialect dialect{.section_open = markers[2],
                           .section_close = markers[3],
                           .call_open = markers[4],
                           .argument_open = markers[5],
                           .name_close = "\">",
                           .argument_close = markers[6],
                           .call_close = markers[7]};
  Parse calls = read_xml_calls(in, out, dialect, false);
  co_await calls;
}

}  // namespace

const Family& minimax_m2() {
  static constexpr Family family{.name = "minimax_m2",
                                 .signs = {"<minimax:tool_call>"},
                                 .markers = kMarkers,
                                 .openers = 1,
                                 .calls = calls};
  return family;
}

}  // namespace reprise::calls
