// Design: tables are listed from the fastest down; the first that this CPU can run is taken.
#include "kernels/table.h"

namespace reprise::kernels {

Result<const Table*> select(std::string_view forced) {
  if (forced.empty() || forced == "ref") return &ref_table();
  return fail(ErrorKind::kUnsupported, "unknown kernel table '{}': use ref", forced);
}

}  // namespace reprise::kernels
