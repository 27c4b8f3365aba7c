// What templates see of loops and macros: loop.index and its kin, macro.name and its kin.
#include <algorithm>
#include <array>

#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"

namespace reprise::jinja {
namespace {

Value cycle(Runtime&, Value self, const Args& args) {
  if (args.positional.empty()) raise("no items for cycling given");
  const auto index = static_cast<size_t>(std::max<int64_t>(self.as<Loop>()->index0, 0));
  return args.positional[index % args.positional.size()];
}

Value changed(Runtime& rt, Value self, const Args& args) {
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
    for (const Signature::Parameter& parameter : definition.signature.parameters) {
      names.list()->push(rt, Value::string(parameter.name));
    }
    return new_tuple(rt, names.list()->span());
  }
  return {};
}

}  // namespace

LoopMember find_loop_member(std::string_view name) {
  static constexpr std::pair<std::string_view, LoopMember> kMembers[] = {
      {"index", LoopMember::kIndex},         {"index0", LoopMember::kIndex0},
      {"first", LoopMember::kFirst},         {"last", LoopMember::kLast},
      {"length", LoopMember::kLength},       {"revindex", LoopMember::kRevindex},
      {"revindex0", LoopMember::kRevindex0}, {"depth", LoopMember::kDepth},
      {"depth0", LoopMember::kDepth0},       {"previtem", LoopMember::kPrevitem},
      {"nextitem", LoopMember::kNextitem},   {"cycle", LoopMember::kCycle},
      {"changed", LoopMember::kChanged}};
  const auto* found = std::ranges::find(kMembers, name, [](const auto& member) { return member.first; });
  return found == std::end(kMembers) ? LoopMember::kNone : found->second;
}

Value Interpreter::pull_filtered(Loop& loop) {
  const For::Condition& condition = *loop.statement->condition;
  Scope* const outer = std::exchange(scope_, loop.filter);
  Value v;
  while (v.is(Kind::kMissing) && loop.next < loop.source.size()) {
    charge(condition.test->extent.steps + 1);
    const Value element = loop.source.at(loop.next++);
    assign(condition.target, element);
    if (test(*condition.test)) v = element;
  }
  scope_ = outer;
  return v;
}

uint64_t Interpreter::loop_length(Loop& loop) {
  if (loop.filter != nullptr) {  // the rest must be tested to be counted
    const Value rest = new_list(*this);
    for (Value v = pull(loop); !v.is(Kind::kMissing); v = pull(loop)) rest.list()->push(*this, v);
    loop.source = Sequence(rest.list());
    loop.next = 0;
    loop.filter = nullptr;
  }
  const size_t ahead = loop.following.is(Kind::kMissing) ? 0 : 1;
  return static_cast<uint64_t>(loop.index0) + 1 + ahead +
         (loop.source.size() - std::min(loop.next, loop.source.size()));
}

Value Interpreter::object_attribute(Value object, const MemberName& name) {
  return object.is(Kind::kMacro) ? macro_attribute(*this, *object.as<Macro>(), name.text)
                                 : loop_member(object, name.loop);
}

Value Interpreter::loop_member(Value object, LoopMember member) {
  Loop& loop = *object.as<Loop>();
  const auto following = [&] {
    if (loop.following.is(Kind::kMissing)) loop.following = pull(loop);
    return loop.following;
  };
  const auto count = [&] { return static_cast<int64_t>(loop_length(loop)); };
  const auto method = [&](const Method& m) {
    return Value::object(Kind::kMethod, heap.make<BoundMethod>(object, &m));
  };
  switch (member) {
    case LoopMember::kNone:
      break;
    case LoopMember::kIndex:
      return Value::integer(loop.index0 + 1);
    case LoopMember::kIndex0:
      return Value::integer(loop.index0);
    case LoopMember::kFirst:
      return Value::boolean(loop.index0 == 0);
    case LoopMember::kLast:
      return Value::boolean(following().is(Kind::kMissing));
    case LoopMember::kLength:
      return Value::integer(count());
    case LoopMember::kRevindex:
      return Value::integer(count() - loop.index0);
    case LoopMember::kRevindex0:
      return Value::integer(count() - loop.index0 - 1);
    case LoopMember::kDepth:
      return Value::integer(loop.depth0 + 1);
    case LoopMember::kDepth0:
      return Value::integer(loop.depth0);
    case LoopMember::kPrevitem:
      return loop.index0 > 0 ? loop.previous : Value::undefined("there is no previous item", Absence::kText);
    case LoopMember::kNextitem: {
      const Value v = following();
      return v.is(Kind::kMissing) ? Value::undefined("there is no next item", Absence::kText) : v;
    }
    case LoopMember::kCycle:
      return method(kCycle);
    case LoopMember::kChanged:
      return method(kChanged);
  }
  return {};
}

}  // namespace reprise::jinja
