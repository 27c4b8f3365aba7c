// Evaluates a template. One interpreter renders once. Scoping is jinja2's: loops, macros, with, call, filter
// and set blocks have a scope of their own, `if` has not; names are looked up outwards, then among the
// top-level variables.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "text/jinja/ast.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/runtime.h"
#include "text/marked_text.h"

namespace reprise::jinja {

struct alignas(16) Scope {  // its variables lie behind it
  Scope* parent;            // null: this is the top level

  Value& slot(size_t i) { return reinterpret_cast<Value*>(this + 1)[i]; }
};

struct Macro {  // also the caller of a call block; the scope is where it was defined
  const MacroDefinition* definition;
  Scope* scope;
};

// The state behind the variable `loop`.
struct Loop {
  const For* statement;
  Scope* around;
  Sequence source;          // what is iterated over
  Scope* filter = nullptr;  // with a condition: where it tests the elements as they are pulled
  size_t next = 0;          // of the source
  int64_t index0 = -1;
  int64_t depth0 = 0;
  Value previous = {}, current = {};
  Value following = {};  // pulled ahead for loop.last and loop.nextitem
  Value changed = {};    // tuple of the last loop.changed()
};

class Interpreter final : public Runtime {
 public:
  Interpreter(const Template& source, const Limits& limits, int64_t now);

  void define(std::string_view name, Value value);  // a top-level variable
  MarkedText run();
  // Where evaluation stands, for errors.
  Position where() const { return at_ ? at_->where : Position{}; }

  Value call(Value callee, const Args& args) override;
  Value object_attribute(Value object, const MemberName& name) override;

 private:
  enum class Flow : uint8_t { kNext, kBreak, kContinue };
  class ArgBuffer;

  // ---- statements (interpreter.cc) ----
  Flow run_body(const Body& body);
  Flow run_statements(const Body& body);  // as run_body, where its levels are counted already
  Flow run(const Text& s);
  Flow run(const Print& s);
  Flow run(const If& s);
  Flow run(const For& s);
  Flow run(const Set& s);
  Flow run(const SetBlock& s);
  Flow run(const With& s);
  Flow run(const MacroDefinition& s);
  Flow run(const CallBlock& s);
  Flow run(const FilterBlock& s);
  Flow run(const ScopeBlock& s);
  Flow run(const Break&) { return Flow::kBreak; }
  Flow run(const Continue&) { return Flow::kContinue; }
  Flow run(const Unloadable& s);
  Flow run_loop(const For& s, Value iterable, Scope* around, int64_t depth0);

  Value eval_to_print(const Expr& e, size_t begin);
  void emit(std::string_view text);
  void emit_text(Value v);  // of a call or filter block, which must give a string
  // The text that `produce` emits, taken back out of the output.
  template <typename Produce>
  Value capture(const Produce& produce);
  Flow run_scoped(const Body& body);
  Value apply_block_filter(const ExprPtr& filter, Value text);

  // ---- variables ----
  const Value& at(Place place) const;
  Value lookup(const Name& name) const;
  Value lookup_outer(const Name& name) const;
  void assign(const Target& target, Value v);
  void assign_parts(const Target& target, Value v);
  Scope* new_scope(Scope* parent, uint32_t scope);

  // ---- loops (loop.cc) ----
  // The next element, or kMissing at the end.
  Value pull(Loop& loop);
  Value pull_filtered(Loop& loop);
  uint64_t loop_length(Loop& loop);
  Value loop_member(Value loop, LoopMember member);

  Value call_macro(const Macro& macro, const Args& args);  // calls.cc

  // ---- expressions (evaluate.cc, calls.cc) ----
  Value eval(const Expr& e);
  Value eval_member(const Member& n, const Expr& e);
  const Value* entry(const Member& n) const;
  Value eval_compound(const Expr& e);
  bool test(const Expr& e);  // truthy(eval(e))
  // Each gets the expression that the node is of, too, and notes it in at_ before an operation that may fail.
  Value eval_node(const Literal& n, const Expr&) { return n.value; }
  Value eval_node(const Name& n, const Expr&) { return lookup(n); }
  Value eval_node(const ListDisplay& n, const Expr& e);
  Value eval_node(const TupleDisplay& n, const Expr& e);
  Value eval_node(const DictDisplay& n, const Expr& e);
  Value eval_node(const Member& n, const Expr& e);
  Value eval_node(const Subscript& n, const Expr& e);
  Value eval_node(const Slice& n, const Expr& e);
  Value eval_node(const Call& n, const Expr& e);
  Value eval_node(const Filter& n, const Expr& e);
  Value eval_node(const Test& n, const Expr& e);
  Value eval_node(const Not& n, const Expr& e);
  Value eval_node(const Sign& n, const Expr& e);
  Value eval_node(const Logical& n, const Expr& e);
  Value eval_node(const Binary& n, const Expr& e);
  Value eval_node(const Concat& n, const Expr& e);
  Value eval_node(const Conditional& n, const Expr& e);
  Value eval_node(const Compare& n, const Expr& e);
  Value eval_node(const CompareChain& n, const Expr& e);
  Value eval_node(const Contains& n, const Expr& e);
  template <typename Node>
  bool test_node(const Node&, const Expr& e) {
    return truthy(eval(e));
  }
  bool test_node(const Member& n, const Expr& e);
  bool test_node(const Not& n, const Expr& e);
  bool test_node(const Logical& n, const Expr& e);
  bool test_node(const Compare& n, const Expr& e);
  bool test_node(const Contains& n, const Expr& e);
  bool holds(const Compare& n, const Expr& e);
  // Tables by the kind of node.
  template <typename Node>
  static Value eval_as(Interpreter& self, const Expr& e);
  template <typename Node>
  static bool test_as(Interpreter& self, const Expr& e);
  template <typename Node>
  static Flow run_as(Interpreter& self, const Stmt& s);
  template <typename Variant>
  struct ByNode;
  Value eval_call(const Expr& call, const Value* caller);
  void collect(const Arguments& arguments, ArgBuffer& buffer);

  const Template& source_;
  Scope* scope_;
  const Expr* at_ = nullptr;  // where evaluation stands, for errors
  MarkedText out_;
  Value block_text_;  // operand of a filter that has none: the text of its block
};

// The positional and named arguments of one call.
class Interpreter::ArgBuffer {
 public:
  void add(Value v) { positional_.push_back(v); }
  void add(std::string_view name, Value v) {
    for (const NamedArg& other : named_) {
      if (other.name == name) raise("got multiple values for keyword argument '{}'", name);
    }
    named_.push_back({name, v});
  }
  Args args() const { return {{positional_.data(), positional_.size()}, {named_.data(), named_.size()}}; }

 private:
  boost::container::small_vector<Value, 4> positional_;
  boost::container::small_vector<NamedArg, 2> named_;
};

template <typename Produce>
Value Interpreter::capture(const Produce& produce) {
  const size_t begin = out_.text.size();
  produce();
  const Value text = heap.string(out_, begin);
  cut(out_, begin);
  return text;
}

inline const Value& Interpreter::at(Place place) const {
  Scope* scope = scope_;
  for (uint32_t i = place.up; i > 0; --i) scope = scope->parent;
  return scope->slot(place.slot);
}

inline Value Interpreter::lookup(const Name& name) const {
  const Value& v = at(name.place);
  return v.is(Kind::kMissing) ? lookup_outer(name) : v;
}

inline void Interpreter::assign(const Target& target, Value v) {
  if (const auto* variable = std::get_if<VariableTarget>(&target.to)) {
    scope_->slot(variable->slot) = v;
  } else {
    assign_parts(target, v);
  }
}

inline Value Interpreter::pull(Loop& loop) {
  if (loop.filter != nullptr) return pull_filtered(loop);
  return loop.next < loop.source.size() ? loop.source.at(loop.next++) : Value();
}

inline Value Interpreter::eval(const Expr& e) {
  if (const auto* name = std::get_if<Name>(&e.node)) return lookup(*name);
  if (const auto* literal = std::get_if<Literal>(&e.node)) return literal->value;
  return eval_compound(e);
}

}  // namespace reprise::jinja
