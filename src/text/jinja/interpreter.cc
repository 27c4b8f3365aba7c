// Statements and variables. All output goes to one string; a captured block is what was appended meanwhile.
#include "text/jinja/interpreter.h"

#include <algorithm>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/print.h"

namespace reprise::jinja {

Interpreter::Interpreter(const Template& source, const Limits& limits, int64_t now)
    : Runtime(limits, now), source_(source), top_(source.symbols.size()) {
  for (const Function& function : global_functions()) {
    define(function.name, Value::object(Kind::kFunction, &function));
  }
}

void Interpreter::define(std::string_view name, const Value& value) {
  const auto found = source_.symbol_of.find(name);
  if (found != source_.symbol_of.end()) top_[found->second] = value;  // else the template does not mention it
}

std::string Interpreter::run() {
  for (const Symbol symbol : source_.own) top_[symbol] = Value();
  run_body(source_.body);
  return std::move(out_);
}

// ---- variables ----

Value Interpreter::lookup(Symbol symbol, std::string_view name) const {
  for (const Scope* s = scope_; s != nullptr; s = s->parent) {
    for (uint32_t i = 0; i < s->size; ++i) {
      if (s->variables[i].symbol == symbol) return s->variables[i].value;
    }
  }
  const Value& v = top_[symbol];
  return v.is(Kind::kMissing) ? Value::undefined(name) : v;
}

void Interpreter::assign(Symbol symbol, const Value& v) {
  if (scope_ == nullptr) {
    top_[symbol] = v;
    return;
  }
  Scope& s = *scope_;
  for (uint32_t i = 0; i < s.size; ++i) {
    if (s.variables[i].symbol == symbol) {
      s.variables[i].value = v;
      return;
    }
  }
  if (s.size == s.capacity) {
    s.capacity = std::max<uint32_t>(4, s.capacity * 2);
    auto* larger = heap.array<Scope::Variable>(s.capacity);
    std::copy_n(s.variables, s.size, larger);
    s.variables = larger;
  }
  new (s.variables + s.size++) Scope::Variable{symbol, v};
}

void Interpreter::assign(const Target& target, const Value& v) {
  if (const auto* symbol = std::get_if<Symbol>(&target.to)) return assign(*symbol, v);
  if (const auto* attribute = std::get_if<NamespaceTarget>(&target.to)) {
    where_ = target.where;
    const Value ns = lookup(attribute->symbol, attribute->name);
    if (!ns.is(Kind::kNamespace)) raise("cannot assign attribute on non-namespace object");
    return ns.dict()->set(*this, attribute->attribute, v);
  }
  const auto& targets = std::get<std::vector<Target>>(target.to);
  where_ = target.where;
  const Sequence items = iterate(*this, v);
  if (items.size() < targets.size()) {
    raise("not enough values to unpack (expected {}, got {})", targets.size(), items.size());
  }
  if (items.size() > targets.size()) raise("too many values to unpack (expected {})", targets.size());
  for (size_t i = 0; i < targets.size(); ++i) assign(targets[i], items.at(i));
}

Scope* Interpreter::new_scope(Scope* parent) {
  auto* scope = heap.make<Scope>();
  scope->parent = parent;
  return scope;
}

// ---- output ----

void Interpreter::emit(std::string_view text) {
  if (text.size() > limits().output_bytes - out_.size()) {
    exceed("the template writes too much text (more than {} MiB)", limits().output_bytes >> 20);
  }
  out_.append(text);
}

void Interpreter::emit_text(const Value& v) {
  if (!v.is_string()) raise("the block gives a value of type {} instead of text", type_name(v));
  emit(v.text());
}

template <typename Produce>
Value Interpreter::capture(const Produce& produce) {
  const size_t mark = out_.size();
  produce();
  const Value text = heap.string(std::string_view(out_).substr(mark));
  out_.resize(mark);
  return text;
}

// ---- statements ----

Interpreter::Flow Interpreter::run_body(const Body& body) {
  const Nesting nesting(*this);
  for (const Stmt& s : body) {
    charge();
    const Flow flow = std::visit([this](const auto& node) { return run(node); }, s.node);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_scoped(const Body& body) {
  Scope* const outer = scope_;
  scope_ = new_scope(outer);
  const Flow flow = run_body(body);
  scope_ = outer;
  return flow;
}

Interpreter::Flow Interpreter::run(const Text& s) {
  emit(s.text);
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run(const Print& s) {
  const Value v = eval(*s.value);
  emit(v.is_string() ? v.text() : str(*this, v));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run(const If& s) {
  for (const auto& [condition, body] : s.branches) {
    if (truthy(eval(*condition))) return run_body(body);
  }
  return run_body(s.otherwise);
}

Interpreter::Flow Interpreter::run(const For& s) {
  const Value iterable = eval(*s.iterable);
  where_ = s.iterable->where;
  return run_loop(s, iterable, scope_, 0);
}

Interpreter::Flow Interpreter::run_loop(const For& s, const Value& iterable, Scope* around, int64_t depth0) {
  Scope* const outer = scope_;
  auto& loop = *heap.make<Loop>();
  loop.statement = &s;
  loop.scope = around;
  loop.source = iterate(*this, iterable);
  loop.conditional = s.condition != nullptr;
  loop.depth0 = depth0;
  const Value loop_value = Value::object(Kind::kLoop, &loop);
  Scope* const scope = new_scope(around);
  while (true) {
    const Value v = loop.following.is(Kind::kMissing) ? pull(loop) : std::exchange(loop.following, Value());
    if (v.is(Kind::kMissing)) break;
    ++loop.index0;
    loop.previous = loop.current;
    loop.current = v;
    scope_ = scope;
    scope->size = 0;  // nothing set in a round is seen by the next
    assign(kLoopSymbol, loop_value);
    assign(s.target, v);
    if (run_body(s.body) == Flow::kBreak) break;
  }
  scope_ = around;
  Flow flow = Flow::kNext;
  if (loop.index0 < 0) flow = run_scoped(s.otherwise);
  scope_ = outer;
  return flow;
}

Value Interpreter::pull(Loop& loop) {
  while (loop.next < loop.source.size()) {
    charge();
    const Value v = loop.source.at(loop.next++);
    if (!loop.conditional) return v;
    Scope* const outer = scope_;
    scope_ = new_scope(loop.scope);
    assign(loop.statement->target, v);
    const bool wanted = truthy(eval(*loop.statement->condition));
    scope_ = outer;
    if (wanted) return v;
  }
  return {};
}

Interpreter::Flow Interpreter::run(const Set& s) {
  const Value v = eval(*s.value);
  assign(s.target, v);
  return Flow::kNext;
}

Value Interpreter::apply_block_filter(const ExprPtr& filter, const Value& text) {
  if (!filter) return text;
  const Value outer = std::exchange(block_text_, text);
  const Value result = eval(*filter);
  block_text_ = outer;
  return result;
}

Interpreter::Flow Interpreter::run(const SetBlock& s) {
  const Value text = capture([&] { run_scoped(s.body); });
  assign(s.target, apply_block_filter(s.filter, text));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run(const With& s) {
  Scope* const outer = scope_;
  Scope* const inner = new_scope(outer);
  for (const auto& [target, value] : s.bindings) {
    scope_ = outer;  // values do not see the other bindings
    const Value v = eval(*value);
    scope_ = inner;
    assign(target, v);
  }
  scope_ = inner;
  const Flow flow = run_body(s.body);
  scope_ = outer;
  return flow;
}

Interpreter::Flow Interpreter::run(const MacroDefinition& s) {
  assign(s.symbol, Value::object(Kind::kMacro, heap.make<Macro>(&s, scope_)));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run(const CallBlock& s) {
  const Value caller = Value::object(Kind::kMacro, heap.make<Macro>(&s.caller, scope_));
  emit_text(eval_call(std::get<Call>(s.call->node), &caller));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run(const FilterBlock& s) {
  const Value text = capture([&] { run_scoped(s.body); });
  emit_text(apply_block_filter(s.filter, text));
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run(const ScopeBlock& s) {
  if (s.autoescape && truthy(eval(*s.autoescape)))
    raise("autoescape is off in chat templates and cannot be turned on");
  return run_scoped(s.body);
}

Interpreter::Flow Interpreter::run(const Unloadable& s) {
  raise("'{}' has nothing to load from: a chat template is one file", s.tag);
}

// ---- macros ----

Value Interpreter::call_macro(const Macro& macro, const Args& args) {
  const MacroDefinition& definition = *macro.definition;
  const Signature& signature = definition.signature;
  const size_t count = signature.parameters.size();
  std::vector<NamedArg> named(args.named.begin(), args.named.end());
  const auto take = [&](std::string_view name) {
    const auto found = std::ranges::find(named, name, &NamedArg::name);
    if (found == named.end()) return Value();
    const Value v = found->value;
    named.erase(found);
    return v;
  };

  Scope* const outer = scope_;
  Scope* const scope = new_scope(macro.scope);
  scope_ = scope;
  std::vector<Value> given(count);
  for (size_t i = 0; i < count; ++i) {
    given[i] = i < args.positional.size() ? args.positional[i] : take(signature.parameters[i].second);
  }
  if (signature.uses_caller) {
    const Value caller = take("caller");
    assign(kCallerSymbol,
           caller.is(Kind::kMissing) ? Value::undefined("No caller defined", Absence::kText) : caller);
  }
  if (signature.uses_kwargs) {
    const Value kwargs = new_dict(*this);
    for (const NamedArg& arg : named) kwargs.dict()->set(*this, arg.name, arg.value);
    assign(kKwargsSymbol, kwargs);
  } else if (!named.empty()) {
    raise("macro '{}' takes no keyword argument '{}'", definition.name, named.front().name);
  }
  if (signature.uses_varargs) {
    const auto rest = args.positional.subspan(std::min(count, args.positional.size()));
    assign(kVarargsSymbol, new_tuple(*this, rest));
  } else if (args.positional.size() > count) {
    raise("macro '{}' takes not more than {} argument(s)", definition.name, count);
  }
  const size_t first_default = count - signature.defaults.size();
  for (size_t i = 0; i < count; ++i) {
    const auto& [symbol, name] = signature.parameters[i];
    Value v = given[i];
    if (v.is(Kind::kMissing)) {
      v = i >= first_default ? eval(*signature.defaults[i - first_default])
                             : Value::undefined(name, Absence::kParameter);
    }
    assign(symbol, v);
  }
  const Value text = capture([&] { run_body(definition.body); });
  scope_ = outer;
  return text;
}

Value Interpreter::call(const Value& callee, const Args& args) {
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
      return capture([&] { run_loop(*loop.statement, iterable, loop.scope, loop.depth0 + 1); });
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
