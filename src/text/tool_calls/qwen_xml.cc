// Qwen3-Coder, Qwen3-Next, Qwen3.5 and later, Step-3.5:
//   <tool_call>\n<function=f>\n<parameter=key>\nvalue\n</parameter>\n</function>\n</tool_call>
// Tolerated: no <tool_call> around it, closing tags that are missing, several functions in one pair of tags.
#include "text/tool_calls/families.h"
#include "text/tool_calls/xml_calls.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {"<think>",      "</think>",    "<tool_call>",  "<function=",
                                         "</tool_call>", "<parameter=", "</parameter>", "</function>"};

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t opener) {
  const XmlDialect dialect{.section_open = markers[2],
                           .section_close = markers[4],
                           .call_open = markers[3],
                           .argument_open = markers[5],
                           .name_close = ">",
                           .argument_close = markers[6],
                           .call_close = markers[7],
                           .padded = true};
  Parse calls = read_xml_calls(in, out, dialect, opener == 1);
  co_await calls;
}

}  // namespace

const Family& qwen_xml() {
  static constexpr Family family{.name = "qwen_xml",
                                 .signs = {"<tool_call>", "<function="},
                                 .markers = kMarkers,
                                 .openers = 2,
                                 .calls = calls};
  return family;
}

}  // namespace reprise::calls
