// The interpreter's face to the rest of the module: compile a template once, render it with variables. Errors
// instead of exceptions; a compiled template is immutable and may be rendered by several threads at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json.hpp>

#include "base/result.h"
#include "text/jinja/runtime.h"
#include "text/marked_text.h"

namespace reprise::jinja {

struct Template;

struct Variable {
  std::string_view name;
  // Shared, not copied: text and JSON must outlive the render. monostate is None. A plain text is the
  // program's and counts as the template's own; JSON is the user's.
  std::variant<std::monostate, bool, std::string_view, const boost::json::value*, const boost::json::array*>
      value;
  // Of an array of objects: the member whose strings the caller has checked against a list of its own (a
  // message's role), so that they too count as the template's own.
  std::string_view checked_member = {};
};

class Compiled {
 public:
  static Result<Compiled> compile(std::string_view source);
  Compiled(Compiled&&) noexcept;
  Compiled& operator=(Compiled&&) noexcept;
  ~Compiled();

  // Later variables of the same name win. `now`: seconds since 1970 UTC.
  Result<MarkedText> render(const std::vector<Variable>& variables, int64_t now,
                            const Limits& limits = {}) const;

 private:
  explicit Compiled(std::unique_ptr<const Template> parsed);
  std::unique_ptr<const Template> template_;
};

}  // namespace reprise::jinja
