// Calls: of functions, methods and macros, of filters and tests.
#include <algorithm>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"

namespace reprise::jinja {

void Interpreter::collect(const Arguments& arguments, ArgBuffer& buffer) {
  for (const ExprPtr& e : arguments.positional) buffer.add(eval(*e));
  if (arguments.more_positional) {
    const Sequence more = iterate(*this, eval(*arguments.more_positional));
    for (size_t i = 0; i < more.size(); ++i) {
      charge();
      buffer.add(more.at(i));
    }
  }
  for (const auto& [name, e] : arguments.named) buffer.add(name, eval(*e));
  if (arguments.more_named) {
    const Value more = eval(*arguments.more_named);
    if (!more.is(Kind::kDict)) raise("argument after ** must be a mapping, not {}", type_name(more));
    const Dict& dict = *more.dict();
    for (uint32_t i = 0; i < dict.end; ++i) {
      const Dict::Entry& e = dict.entries[i];
      if (e.key.is(Kind::kMissing)) continue;
      if (!e.key.is_string()) raise("keywords must be strings");
      charge();
      buffer.add(e.key.text(), e.value);
    }
  }
}

Value Interpreter::eval_call(const Expr& e, const Value* caller) {
  const auto& n = std::get<Call>(e.node);
  ArgBuffer buffer;
  const auto collect_all = [&] {
    collect(n.arguments, buffer);
    if (caller != nullptr) buffer.add("caller", *caller);
    at_ = &e;
  };
  // A method called at once needs no object for the bound method.
  if (const auto* access = std::get_if<Member>(&n.callee->node); access != nullptr && !access->is_item) {
    const Value self = eval(*access->object);
    if (const Method* method = access->name.methods.of(self)) {
      collect_all();
      charge();
      return method->call(*this, self, buffer.args());
    }
    at_ = n.callee.get();
    const Value callee = attribute(*this, self, access->name);
    collect_all();
    return call(callee, buffer.args());
  }
  const Value callee = eval(*n.callee);
  collect_all();
  return call(callee, buffer.args());
}

Value Interpreter::eval_node(const Call&, const Expr& e) { return eval_call(e, nullptr); }

Value Interpreter::eval_node(const Filter& n, const Expr& e) {
  ArgBuffer buffer;
  buffer.add(n.operand ? eval(*n.operand) : block_text_);
  if (n.filter == nullptr) raise_at(e.where, "No filter named '{}'.", n.name);
  collect(n.arguments, buffer);
  at_ = &e;
  return n.filter(*this, buffer.args());
}

Value Interpreter::eval_node(const Test& n, const Expr& e) {
  ArgBuffer buffer;
  buffer.add(eval(*n.operand));
  if (n.test == nullptr) raise_at(e.where, "No test named '{}'.", n.name);
  collect(n.arguments, buffer);
  at_ = &e;
  return n.test(*this, buffer.args());
}

// ---- macros ----

Value Interpreter::call_macro(const Macro& macro, const Args& args) {
  const MacroDefinition& definition = *macro.definition;
  const Signature& signature = definition.signature;
  const size_t count = signature.parameters.size();
  boost::container::small_vector<NamedArg, 4> named(args.named.begin(), args.named.end());
  const auto take = [&](std::string_view name) {
    const auto found = std::ranges::find(named, name, &NamedArg::name);
    if (found == named.end()) return Value();
    const Value v = found->value;
    named.erase(found);
    return v;
  };

  Scope* const outer = scope_;
  Scope* const scope = new_scope(macro.scope, definition.body.scope);
  scope_ = scope;
  for (size_t i = 0; i < count; ++i) {
    const auto& [name, slot] = signature.parameters[i];
    scope->slot(slot) = i < args.positional.size() ? args.positional[i] : take(name);
  }
  if (signature.uses_caller) {
    const Value caller = take("caller");
    scope->slot(Signature::kCallerSlot) =
        caller.is(Kind::kMissing) ? Value::undefined("No caller defined", Absence::kText) : caller;
  }
  if (signature.uses_kwargs) {
    const Value kwargs = new_dict(*this);
    for (const NamedArg& arg : named) kwargs.dict()->set(*this, arg.name, arg.value);
    scope->slot(Signature::kKwargsSlot) = kwargs;
  } else if (!named.empty()) {
    raise("macro '{}' takes no keyword argument '{}'", definition.name, named.front().name);
  }
  if (signature.uses_varargs) {
    const auto rest = args.positional.subspan(std::min(count, args.positional.size()));
    scope->slot(Signature::kVarargsSlot) = new_tuple(*this, rest);
  } else if (args.positional.size() > count) {
    raise("macro '{}' takes not more than {} argument(s)", definition.name, count);
  }
  const size_t first_default = count - signature.defaults.size();
  for (size_t i = 0; i < count; ++i) {
    const auto& [name, slot] = signature.parameters[i];
    if (!scope->slot(slot).is(Kind::kMissing)) continue;
    if (i < first_default) {
      scope->slot(slot) = Value::undefined(name, Absence::kParameter);
      continue;
    }
    const Expr& fallback = *signature.defaults[i - first_default];
    charge(fallback.extent.steps);
    const Nesting nesting(*this, fallback.extent.height);
    scope->slot(slot) = eval(fallback);
  }
  const Value text = capture([&] { run_body(definition.body); });
  scope_ = outer;
  return text;
}

Value Interpreter::call(Value callee, const Args& args) {
  charge();
  switch (callee.kind()) {
    case Kind::kFunction:
      return callee.as<const Function>()->call(*this, args);
    case Kind::kMethod: {
      const auto* bound = callee.as<const BoundMethod>();
      return bound->method->call(*this, bound->self, args);
    }
    case Kind::kMacro: {
      const Nesting nesting(*this);
      return call_macro(*callee.as<Macro>(), args);
    }
    case Kind::kLoop: {
      Loop& loop = *callee.as<Loop>();
      if (!loop.statement->recursive) {
        raise("The loop must have the 'recursive' marker to be called recursively.");
      }
      const Value iterable = bind<1>("loop", args, {"iterable"}, 1).at(0);
      return capture([&] { run_loop(*loop.statement, iterable, loop.around, loop.depth0 + 1); });
    }
    case Kind::kJoiner:
      return call_joiner(callee, args);
    case Kind::kUndefined:
      raise_undefined(callee);
    default:
      raise("'{}' object is not callable", type_name(callee));
  }
}

}  // namespace reprise::jinja
