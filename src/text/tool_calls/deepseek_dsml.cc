// DeepSeek-V3.2 and V4:
//   <｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="key"
//   string="true">value</｜DSML｜parameter> \n</｜DSML｜invoke>\n</｜DSML｜function_calls>; V4 calls the
//   section tool_calls. Values that are no strings are JSON.
#include "text/tool_calls/families.h"
#include "text/tool_calls/xml_calls.h"

namespace reprise::calls {
namespace {

constexpr std::string_view kMarkers[] = {"<think>",
                                         "</think>",
                                         "<｜DSML｜function_calls>",
                                         "<｜DSML｜tool_calls>",
                                         "</｜DSML｜function_calls>",
                                         "</｜DSML｜tool_calls>",
                                         "<｜DSML｜invoke name=\"",
                                         "<｜DSML｜parameter name=\"",
                                         "</｜DSML｜parameter>",
                                         "</｜DSML｜invoke>"};

Parse calls(Scanner& in, AnswerSink& out, const Markers& markers, size_t opener) {
  const XmlDialect dialect{.section_open = markers[2 + opener],
                           .section_close = markers[4 + opener],
                           .call_open = markers[6],
                           .argument_open = markers[7],
                           .name_close = "\"",
                           .argument_close = markers[8],
                           .call_close = markers[9],
                           .typed = true};
  Parse calls = read_xml_calls(in, out, dialect, false);
  co_await calls;
}

}  // namespace

const Family& deepseek_dsml() {
  static constexpr Family family{
      .name = "deepseek_dsml", .signs = {"｜DSML｜"}, .markers = kMarkers, .openers = 2, .calls = calls};
  return family;
}

}  // namespace reprise::calls
