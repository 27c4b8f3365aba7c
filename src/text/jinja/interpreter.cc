// Statements and variables. All output goes to one string; a captured block is what was appended meanwhile.
#include "text/jinja/interpreter.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "text/jinja/builtins.h"
#include "text/jinja/print.h"

namespace reprise::jinja {

Interpreter::Interpreter(const Template& source, const Limits& limits, int64_t now)
    : Runtime(limits, now), source_(source), scope_(new_scope(nullptr, kTopScope)) {
  for (const Function& function : global_functions()) {
    define(function.name, Value::object(Kind::kFunction, &function));
  }
}

void Interpreter::define(std::string_view name, Value value) {
  const auto found = source_.symbols.find(name);
  if (found == source_.symbols.end()) return;  // the template does not mention it
  Value& variable = scope_->slot(found->second);
  if (!variable.is(Kind::kUndefined)) variable = value;  // else the template sets its own before it reads it
}

MarkedText Interpreter::run() {
  run_body(source_.body);
  return std::move(out_);
}

// ---- variables ----

Value Interpreter::lookup_outer(const Name& name) const {
  for (const Place place : name.outer) {
    if (const Value& v = at(place); !v.is(Kind::kMissing)) return v;
  }
  return Value::undefined(name.name);
}

void Interpreter::assign_parts(const Target& target, Value v) {
  if (const auto* attribute = std::get_if<NamespaceTarget>(&target.to)) {
    const Value ns = eval(*attribute->object);
    if (!ns.is(Kind::kNamespace)) raise_at(target.where, "cannot assign attribute on non-namespace object");
    const MemberName& name = attribute->attribute;
    if (Value* found = ns.dict()->find(name.text, name.hash)) {
      *found = v;
    } else {
      ns.dict()->append(*this, Value::string(name.text), v, name.hash);
    }
    return;
  }
  const auto& targets = std::get<std::vector<Target>>(target.to);
  const Sequence items = iterate(*this, v);
  if (items.size() < targets.size()) {
    raise_at(target.where, "not enough values to unpack (expected {}, got {})", targets.size(), items.size());
  }
  if (items.size() > targets.size()) {
    raise_at(target.where, "too many values to unpack (expected {})", targets.size());
  }
  for (size_t i = 0; i < targets.size(); ++i) assign(targets[i], items.at(i));
}

Scope* Interpreter::new_scope(Scope* parent, uint32_t scope) {
  const std::vector<Value>& fresh = source_.fresh[scope];
  heap.require(fresh.size(), sizeof(Value));
  auto* made = new (heap.allocate(sizeof(Scope) + fresh.size() * sizeof(Value))) Scope{parent};
  std::uninitialized_copy(fresh.begin(), fresh.end(), &made->slot(0));
  return made;
}

// ---- output ----

void Interpreter::emit(std::string_view text) {
  if (text.size() > limits().output_bytes - out_.text.size()) {
    exceed("the template writes too much text (more than {} MiB)", limits().output_bytes >> 20);
  }
  heap.provenance.own_parts(text, out_.text.size(), out_.own);
  out_.text.append(text);
}

void Interpreter::emit_text(Value v) {
  if (!v.is_string()) raise("the block gives a value of type {} instead of text", type_name(v));
  emit(v.text());
}

// ---- statements ----

Interpreter::Flow Interpreter::run_scoped(const Body& body) {
  Scope* const outer = scope_;
  scope_ = new_scope(outer, body.scope);
  const Flow flow = run_body(body);
  scope_ = outer;
  return flow;
}

inline Interpreter::Flow Interpreter::run(const Text& s) {
  emit(s.text);
  return Flow::kNext;
}

inline Interpreter::Flow Interpreter::run(const Print& s) {
  if (const auto* concat = std::get_if<Concat>(&s.value->node)) {
    for (const ExprPtr& part : concat->parts) emit(str(*this, eval(*part)));
  } else if (const Value v = eval_to_print(*s.value, out_.text.size()); !v.is(Kind::kMissing)) {
    emit(str(*this, v));
  }
  return Flow::kNext;
}

// The value of an expression that is printed. The terms of a sum of texts are written one by one instead of
// being joined first; kMissing when that was done. `begin`: where the expression's output starts.
Value Interpreter::eval_to_print(const Expr& e, size_t begin) {
  const auto* sum = std::get_if<Binary>(&e.node);
  Value v;
  if (sum == nullptr || sum->op != Arithmetic::kAdd) {
    v = eval(e);
  } else {
    Value left = eval_to_print(*sum->left, begin);
    v = eval(*sum->right);
    if (!left.is(Kind::kMissing) || !v.is_string() || v.safe()) {
      if (left.is(Kind::kMissing)) {  // what was written is wanted after all, if only for the error
        left = heap.string(out_, begin);
        cut(out_, begin);
      }
      at_ = &e;
      return arithmetic(*this, Arithmetic::kAdd, left, v);
    }
  }
  if (!v.is_string() || v.safe()) return v;
  emit(v.text());
  return {};
}

inline Interpreter::Flow Interpreter::run(const If& s) {
  for (const auto& [condition, body] : s.branches) {
    if (!condition || test(*condition)) return body.statements.empty() ? Flow::kNext : run_body(body);
  }
  return Flow::kNext;
}

inline Interpreter::Flow Interpreter::run(const For& s) { return run_loop(s, eval(*s.iterable), scope_, 0); }

inline Interpreter::Flow Interpreter::run(const Set& s) {
  const Value v = eval(*s.value);
  assign(s.target, v);
  return Flow::kNext;
}

Value Interpreter::apply_block_filter(const ExprPtr& filter, Value text) {
  if (!filter) return text;
  const Value outer = std::exchange(block_text_, text);
  const Value result = eval(*filter);
  block_text_ = outer;
  return result;
}

inline Interpreter::Flow Interpreter::run(const SetBlock& s) {
  const Value text = capture([&] { run_scoped(s.body); });
  assign(s.target, apply_block_filter(s.filter, text));
  return Flow::kNext;
}

inline Interpreter::Flow Interpreter::run(const With& s) {
  Scope* const outer = scope_;
  Scope* const inner = new_scope(outer, s.body.scope);
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

inline Interpreter::Flow Interpreter::run(const MacroDefinition& s) {
  scope_->slot(s.slot) = Value::object(Kind::kMacro, heap.make<Macro>(&s, scope_));
  return Flow::kNext;
}

inline Interpreter::Flow Interpreter::run(const CallBlock& s) {
  const Value caller = Value::object(Kind::kMacro, heap.make<Macro>(&s.caller, scope_));
  emit_text(eval_call(*s.call, &caller));
  return Flow::kNext;
}

inline Interpreter::Flow Interpreter::run(const FilterBlock& s) {
  const Value text = capture([&] { run_scoped(s.body); });
  emit_text(apply_block_filter(s.filter, text));
  return Flow::kNext;
}

inline Interpreter::Flow Interpreter::run(const ScopeBlock& s) {
  if (s.autoescape && test(*s.autoescape)) {
    raise("autoescape is off in chat templates and cannot be turned on");
  }
  return run_scoped(s.body);
}

inline Interpreter::Flow Interpreter::run(const Unloadable& s) {
  raise("'{}' has nothing to load from: a chat template is one file", s.tag);
}

// ---- bodies ----

template <typename Node>
Interpreter::Flow Interpreter::run_as(Interpreter& self, const Stmt& s) {
  return self.run(held<Node>(s.node));
}

template <typename... Nodes>
struct Interpreter::ByNode<std::variant<Nodes...>> {
  static constexpr std::array kRun = {&run_as<Nodes>...};
};

inline Interpreter::Flow Interpreter::run_statements(const Body& body) {
  charge(body.extent.steps + 1);
  for (const Stmt& s : body.statements) {
    const Flow flow = ByNode<decltype(Stmt::node)>::kRun[s.node.index()](*this, s);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::run_body(const Body& body) {
  const Nesting nesting(*this, body.extent.height + 1);
  return run_statements(body);
}

Interpreter::Flow Interpreter::run_loop(const For& s, Value iterable, Scope* around, int64_t depth0) {
  Scope* const outer = scope_;
  Loop unseen{};
  Loop& loop = s.uses_loop ? *heap.make<Loop>() : unseen;
  loop.statement = &s;
  loop.around = around;
  loop.source = iterate(*this, iterable);
  loop.depth0 = depth0;
  if (s.condition) loop.filter = new_scope(around, s.condition->scope);
  Scope* const scope = new_scope(around, s.body.scope);
  if (s.uses_loop) scope->slot(For::kLoopSlot) = Value::object(Kind::kLoop, &loop);
  const std::span set_anew = std::span(source_.fresh[s.body.scope]).subspan(s.set_anew);
  const auto* target = std::get_if<VariableTarget>(&s.target.to);
  Value* const variable = target != nullptr ? &scope->slot(target->slot) : nullptr;
  // The body of a loop that looks for something is one {% if %}, which most rounds do not enter.
  const auto* only = s.body.statements.size() == 1 ? std::get_if<If>(&s.body.statements[0].node) : nullptr;
  const Nesting nesting(*this, s.body.extent.height + 1);
  scope_ = scope;
  bool completed = false;  // some round came to its end: as in jinja2, else is for when none did
  while (true) {
    const Value v = loop.following.is(Kind::kMissing) ? pull(loop) : std::exchange(loop.following, Value());
    if (v.is(Kind::kMissing)) break;
    if (s.uses_loop) {
      ++loop.index0;
      loop.previous = loop.current;
      loop.current = v;
    }
    // Nothing set in a round is seen by the next.
    for (size_t i = 0; i < set_anew.size(); ++i) scope->slot(s.set_anew + i) = set_anew[i];
    if (variable != nullptr) {
      *variable = v;
    } else {
      assign(s.target, v);
    }
    Flow flow = Flow::kNext;
    if (only != nullptr) {
      charge(s.body.extent.steps + 1);
      flow = run(*only);
    } else {
      flow = run_statements(s.body);
    }
    if (flow == Flow::kBreak) break;
    if (flow == Flow::kNext) completed = true;
  }
  scope_ = around;
  const Flow flow = completed ? Flow::kNext : run_scoped(s.otherwise);
  scope_ = outer;
  return flow;
}

}  // namespace reprise::jinja
