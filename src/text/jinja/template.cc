#include "text/jinja/template.h"

#include <exception>
#include <new>

#include "text/jinja/interpreter.h"
#include "text/jinja/json.h"
#include "text/jinja/parser.h"

namespace reprise::jinja {
namespace {

Error to_error(const Failure& failure, Position fallback) {
  if (failure.verbatim) return {failure.kind, failure.message, {}};
  const Position where = failure.where.line != 0 ? failure.where : fallback;
  if (where.line == 0) return {failure.kind, fmt::format("chat template: {}", failure.message), {}};
  return {failure.kind,
          fmt::format("chat template, line {}, column {}: {}", where.line, where.column, failure.message),
          {}};
}

Value to_value(Runtime& rt, const Variable& variable) {
  if (const auto* flag = std::get_if<bool>(&variable.value)) return Value::boolean(*flag);
  if (const auto* text = std::get_if<std::string_view>(&variable.value)) return Value::string(*text);
  if (const auto* json = std::get_if<const boost::json::value*>(&variable.value))
    return from_json(rt, **json);
  if (const auto* array = std::get_if<const boost::json::array*>(&variable.value))
    return from_json(rt, **array);
  return Value::none();
}

// Makes the texts of one member of a list of dicts the template's own.
void adopt(Runtime& rt, Value list, std::string_view member) {
  if (!list.is(Kind::kList)) return;
  for (const Value& item : list.list()->span()) {
    Value* text = item.is(Kind::kDict) ? item.dict()->find(member) : nullptr;
    if (text == nullptr || !text->is_string()) continue;
    *text = rt.heap.string(text->text());
    rt.heap.provenance.mark(text->text());
  }
}

}  // namespace

Compiled::Compiled(std::unique_ptr<const Template> parsed) : template_(std::move(parsed)) {}
Compiled::Compiled(Compiled&&) noexcept = default;
Compiled& Compiled::operator=(Compiled&&) noexcept = default;
Compiled::~Compiled() = default;

Result<Compiled> Compiled::compile(std::string_view source) {
  try {
    return Compiled(std::make_unique<const Template>(parse_template(source)));
  } catch (const Failure& failure) {
    return std::unexpected(to_error(failure, {}));
  }
}

Result<MarkedText> Compiled::render(const std::vector<Variable>& variables, int64_t now,
                                    const Limits& limits) const {
  Interpreter interpreter(*template_, limits, now);
  Provenance& provenance = interpreter.heap.provenance;
  provenance.trust(template_->text->source);
  provenance.trust(template_->text->decoded);
  try {
    for (const Variable& variable : variables) {
      if (const auto* text = std::get_if<std::string_view>(&variable.value)) provenance.trust(*text);
      const Value value = to_value(interpreter, variable);
      if (!variable.checked_member.empty()) adopt(interpreter, value, variable.checked_member);
      interpreter.define(variable.name, value);
    }
    return interpreter.run();
  } catch (const Failure& failure) {
    return std::unexpected(to_error(failure, interpreter.where()));
  }
}

}  // namespace reprise::jinja
