// Evaluates a template. One interpreter renders once. Scoping is jinja2's: loops, macros, with, call, filter
// and set blocks have a scope of their own, `if` has not; names are looked up outwards, then among the
// top-level variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "text/jinja/ast.h"
#include "text/jinja/containers.h"
#include "text/jinja/runtime.h"

namespace reprise::jinja {

struct Scope {
  struct Variable {
    Symbol symbol;
    Value value;
  };
  Scope* parent = nullptr;  // null: the top level is next
  Variable* variables = nullptr;
  uint32_t size = 0;
  uint32_t capacity = 0;
};

struct Macro {  // also the caller of a call block; the scope is where it was defined
  const MacroDefinition* definition;
  Scope* scope;
};

// The state behind the variable `loop`.
struct Loop {
  const For* statement;
  Scope* scope;     // around the loop
  Sequence source;  // what is iterated over; with a condition, its elements are tested as they are pulled
  size_t next = 0;  // of the source
  bool conditional = false;
  int64_t index0 = -1;
  int64_t depth0 = 0;
  Value previous, current;
  Value following;  // pulled ahead for loop.last and loop.nextitem
  Value changed;    // tuple of the last loop.changed()
};

class Interpreter final : public Runtime {
 public:
  Interpreter(const Template& source, const Limits& limits, int64_t now);

  void define(std::string_view name, const Value& value);  // a top-level variable
  std::string run();
  // Where evaluation stands, for errors.
  Position where() const { return where_; }

  Value call(const Value& callee, const Args& args) override;
  Value object_attribute(const Value& object, std::string_view name) override;

  // The next element of a loop, or kMissing at its end.
  Value pull(Loop& loop);
  uint64_t loop_length(Loop& loop);

 private:
  enum class Flow : uint8_t { kNext, kBreak, kContinue };
  class ArgBuffer;

  // ---- statements (interpreter.cc) ----
  Flow run_body(const Body& body);
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
  Flow run_loop(const For& s, const Value& iterable, Scope* around, int64_t depth0);

  void emit(std::string_view text);
  void emit_text(const Value& v);  // of a call or filter block, which must give a string
  // The text that `produce` emits, taken back out of the output.
  template <typename Produce>
  Value capture(const Produce& produce);
  Flow run_scoped(const Body& body);
  Value apply_block_filter(const ExprPtr& filter, const Value& text);

  // ---- variables ----
  Value lookup(Symbol symbol, std::string_view name) const;
  void assign(Symbol symbol, const Value& v);
  void assign(const Target& target, const Value& v);
  Scope* new_scope(Scope* parent);

  // ---- macros (macro.cc) ----
  Value call_macro(const Macro& macro, const Args& args);

  // ---- expressions (evaluate.cc) ----
  Value eval(const Expr& e);
  Value eval_node(const Literal& n) { return n.value; }
  Value eval_node(const Name& n) { return lookup(n.symbol, n.name); }
  Value eval_node(const ListDisplay& n);
  Value eval_node(const TupleDisplay& n);
  Value eval_node(const DictDisplay& n);
  Value eval_node(const Attribute& n);
  Value eval_node(const Subscript& n);
  Value eval_node(const Slice& n);
  Value eval_node(const Call& n) { return eval_call(n, nullptr); }
  Value eval_node(const Filter& n);
  Value eval_node(const Test& n);
  Value eval_node(const Not& n);
  Value eval_node(const Sign& n);
  Value eval_node(const Logical& n);
  Value eval_node(const Binary& n);
  Value eval_node(const Concat& n);
  Value eval_node(const Conditional& n);
  Value eval_node(const Compare& n);
  Value eval_call(const Call& n, const Value* caller);
  void collect(const Arguments& arguments, ArgBuffer& buffer);

  const Template& source_;
  std::vector<Value> top_;  // top-level variables by symbol
  Scope* scope_ = nullptr;
  std::string out_;
  Value block_text_;  // operand of a filter that has none: the text of its block
  Position where_;
};

// The positional and named arguments of one call.
class Interpreter::ArgBuffer {
 public:
  void add(const Value& v) { positional_.push_back(v); }
  void add(std::string_view name, const Value& v) {
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

}  // namespace reprise::jinja
