// Calls written as tags: a tag that names the function, in it one for each argument, whose text is the value
// as it is, without quotes or escapes; what type it has the tool's schema says.
//
// Which closing tags close and which are part of a value cannot be told from the tag alone (files that agents
// write contain them): a tag closes where something follows that may follow it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "text/tool_calls/answer_sink.h"
#include "text/tool_calls/parse.h"
#include "text/tool_calls/scanner.h"

namespace reprise::calls {

// The tags as the vocabulary spells them (family.h).
struct XmlDialect {
  std::string_view section_open;  // around one call or several; it was read before
  std::string_view section_close;
  std::string_view call_open;       // `<function=`
  std::string_view argument_open;   // `<parameter=`
  std::string_view name_close;      // `>`: behind the name in either
  std::string_view argument_close;  // `</parameter>`
  std::string_view call_close;      // `</function>`
  bool padded = false;  // one line break behind the opening tag and before the closing one are markup
  bool typed = false;   // ` string="true">` or ` string="false">` follows the name's closing
};

// Reads the calls behind section_open, or, where `in_call`, behind call_open.
Parse read_xml_calls(Scanner& in, AnswerSink& out, const XmlDialect& dialect, bool in_call);

}  // namespace reprise::calls
