// JSON text as answers carry it (RFC 8259). Pure, any thread.
#pragma once

#include <string>

#include <boost/json.hpp>

namespace reprise {

// Compact; members in their order; text as it is in UTF-8, only what must be escaped is, and U+FFFD for bytes
// that are no UTF-8. Numbers read as
// people write them, 9.516 where Boost.JSON prints 9.516E0, and a floating-point number keeps its point
// (1.0), so that typed clients see one type. NaN and infinities, which JSON lacks, become null.
std::string json_text(const boost::json::value& value);

// The same for the two kinds that are no value yet.
std::string json_text(const boost::json::object& object);

}  // namespace reprise
