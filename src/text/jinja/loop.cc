// What templates see of loops and macros: loop.index and its kin, macro.name and its kin.
#include <algorithm>
#include <array>

#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"

namespace reprise::jinja {
namespace {

Value cycle(Runtime&, const Value& self, const Args& args) {
  if (args.positional.empty()) raise("no items for cycling given");
  const auto index = static_cast<size_t>(std::max<int64_t>(self.as<Loop>()->index0, 0));
  return args.positional[index % args.positional.size()];
}

Value changed(Runtime& rt, const Value& self, const Args& args) {
  Loop& loop = *self.as<Loop>();
  const Value now = new_tuple(rt, args.positional);
  if (!loop.changed.is(Kind::kMissing) && equal(rt, loop.changed, now)) return Value::boolean(false);
  loop.changed = now;
  return Value::boolean(true);
}

constexpr Method kCycle{"cycle", cycle};
constexpr Method kChanged{"changed", changed};

Value macro_attribute(Runtime& rt, const Macro& macro, std::string_view name) {
  const MacroDefinition& definition = *macro.definition;
  if (name == "name") return Value::string(definition.name);
  if (name == "catch_kwargs") return Value::boolean(definition.signature.uses_kwargs);
  if (name == "catch_varargs") return Value::boolean(definition.signature.uses_varargs);
  if (name == "caller") return Value::boolean(definition.signature.uses_caller);
  if (name == "arguments") {
    const Value names = new_list(rt);
    for (const auto& [symbol, parameter] : definition.signature.parameters) {
      names.list()->push(rt, Value::string(parameter));
    }
    return new_tuple(rt, names.list()->span());
  }
  return {};
}

}  // namespace

uint64_t Interpreter::loop_length(Loop& loop) {
  if (loop.conditional) {  // the rest must be tested to be counted
    const Value rest = new_list(*this);
    for (Value v = pull(loop); !v.is(Kind::kMissing); v = pull(loop)) rest.list()->push(*this, v);
    loop.source = Sequence(rest.list());
    loop.next = 0;
    loop.conditional = false;
  }
  const size_t ahead = loop.following.is(Kind::kMissing) ? 0 : 1;
  return static_cast<uint64_t>(loop.index0) + 1 + ahead +
         (loop.source.size() - std::min(loop.next, loop.source.size()));
}

Value Interpreter::object_attribute(const Value& object, std::string_view name) {
  if (object.is(Kind::kMacro)) return macro_attribute(*this, *object.as<Macro>(), name);
  Loop& loop = *object.as<Loop>();
  const auto following = [&] {
    if (loop.following.is(Kind::kMissing)) loop.following = pull(loop);
    return loop.following;
  };
  const auto count = [&] { return static_cast<int64_t>(loop_length(loop)); };
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(following().is(Kind::kMissing));
  if (name == "length") return Value::integer(count());
  if (name == "revindex") return Value::integer(count() - loop.index0);
  if (name == "revindex0") return Value::integer(count() - loop.index0 - 1);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "previtem") {
    return loop.index0 > 0 ? loop.previous : Value::undefined("there is no previous item", Absence::kText);
  }
  if (name == "nextitem") {
    const Value v = following();
    return v.is(Kind::kMissing) ? Value::undefined("there is no next item", Absence::kText) : v;
  }
  const auto method = [&](const Method& m) {
    return Value::object(Kind::kMethod, heap.make<BoundMethod>(object, &m));
  };
  if (name == "cycle") return method(kCycle);
  if (name == "changed") return method(kChanged);
  return {};
}

}  // namespace reprise::jinja
