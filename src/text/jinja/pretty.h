// The pprint filter: Python's pprint.pformat for containers (80 columns, dicts sorted by key); strings are
// never broken.
#pragma once

#include "text/jinja/runtime.h"

namespace reprise::jinja {

Value pretty_print(Runtime& rt, Value v);

}  // namespace reprise::jinja
