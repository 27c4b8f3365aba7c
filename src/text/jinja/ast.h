// A parsed template. Everything that a name can mean is found while parsing: variables have slots in their
// scopes (scopes.h), filters, tests and methods are pointers. Views point into the SourceText.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/lexer.h"
#include "text/jinja/operators.h"

namespace reprise::jinja {

using Symbol = uint32_t;  // the number of a variable's name

constexpr uint32_t kTopScope = 0;

struct Place {  // of a variable
  uint32_t up;  // how many scopes outwards
  uint32_t slot;
};

// How much a tree takes to evaluate.
struct Extent {
  uint32_t height = 0;  // limited, so that recursion over it is
  uint32_t steps = 0;   // nodes

  friend Extent operator+(Extent a, Extent b) { return {std::max(a.height, b.height), a.steps + b.steps}; }
};

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
struct Body {
  std::vector<Stmt> statements;
  Extent extent;               // of all statements, without the bodies in them
  uint32_t scope = kTopScope;  // another one where the body has variables of its own
};

struct Arguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string_view, ExprPtr>> named;
  ExprPtr more_positional;  // *args
  ExprPtr more_named;       // **kwargs
};

// ---- expressions ----

struct Literal {
  Value value;
};
struct Name {
  std::string_view name;
  Place place = {};               // the innermost of those that may have it
  std::vector<Place> outer = {};  // the others, outwards: where to look while that one is empty
};
struct ListDisplay {
  std::vector<ExprPtr> items;
};
struct TupleDisplay {
  std::vector<ExprPtr> items;
};
struct DictDisplay {
  std::vector<std::pair<ExprPtr, ExprPtr>> pairs;
};
struct Member {  // object.name, or object['name']
  enum class Of : uint8_t {
    kAny,
    kVariable,  // if that is a dict or namespace, an entry of it is meant and nothing else
    kLoop,      // the variable `loop`, which has such an attribute
  };
  ExprPtr object;
  MemberName name;
  bool is_item;
  Of of;
};
struct Subscript {
  ExprPtr object;
  ExprPtr key;
};
struct Slice {
  ExprPtr object;
  ExprPtr start, stop, step;
};  // each of the three may be null
struct Call {
  ExprPtr callee;
  Arguments arguments;
};
struct Filter {
  ExprPtr operand;
  std::string_view name;
  Builtin filter;
  Arguments arguments;
};  // operand null: the body of a block
struct Test {
  ExprPtr operand;
  std::string_view name;
  Builtin test;
  Arguments arguments;
};
struct Not {
  ExprPtr operand;
};
struct Sign {
  ExprPtr operand;
  bool negative;
};
struct Logical {
  std::vector<ExprPtr> operands;
  bool is_and;
};
struct Binary {
  Arithmetic op;
  ExprPtr left, right;
};
struct Concat {
  std::vector<ExprPtr> parts;
};
struct Conditional {
  ExprPtr test, then, otherwise;
};  // otherwise may be null

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn
};
struct Compare {
  Comparison op;
  ExprPtr left, right;
  bool is_quick;  // == or != of a variable's Member and a short literal text
};
struct CompareChain {  // a < b < c
  ExprPtr first;
  std::vector<std::pair<Comparison, ExprPtr>> rest;
};
struct Contains {  // 'key' in container
  MemberName key;
  ExprPtr container;
  bool negated;
};

struct Expr {
  Position where;
  Extent extent;
  std::variant<Literal, Name, ListDisplay, TupleDisplay, DictDisplay, Member, Subscript, Slice, Call, Filter,
               Test, Not, Sign, Logical, Binary, Concat, Conditional, Compare, CompareChain, Contains>
      node;
};

// ---- statements ----

struct VariableTarget {  // in the current scope
  Symbol symbol;
  uint32_t slot = 0;
};
struct NamespaceTarget {
  ExprPtr object;
  MemberName attribute;
};
struct Target {  // of an assignment
  Position where;
  std::variant<VariableTarget, NamespaceTarget, std::vector<Target>> to;
};

struct Text {
  std::string_view text;
};
struct Print {
  ExprPtr value;
};
struct Branch {
  ExprPtr condition;  // null: {% else %}
  Body body;
};
struct If {
  std::vector<Branch> branches;
};
struct For {
  struct Condition {  // which elements are met; sees the target alone, in a scope of its own
    Target target;
    ExprPtr test;
    uint32_t scope;
  };
  static constexpr uint32_t kLoopSlot = 0;
  Target target;
  ExprPtr iterable;
  std::optional<Condition> condition;
  bool recursive = false;
  bool uses_loop = false;  // the body mentions the variable `loop`
  uint32_t set_anew = 0;   // the first slot of the body's scope that a round does not begin by setting
  Body body;
  Body otherwise;
};
struct Set {
  Target target;
  ExprPtr value;
};
struct SetBlock {
  Target target;
  ExprPtr filter;
  Body body;
};  // filter may be null
struct With {
  std::vector<std::pair<Target, ExprPtr>> bindings;
  Body body;
};
struct Signature {
  struct Parameter {
    std::string_view name;
    uint32_t slot;
  };
  static constexpr uint32_t kCallerSlot = 0, kKwargsSlot = 1, kVarargsSlot = 2;
  std::vector<Parameter> parameters;
  std::vector<ExprPtr> defaults;  // of the last parameters
  bool uses_caller = false;       // the body mentions caller, kwargs, varargs
  bool uses_kwargs = false;
  bool uses_varargs = false;
};
struct MacroDefinition {
  std::string_view name;
  uint32_t slot = 0;  // of the macro itself, in the scope around
  Signature signature;
  Body body;
};
struct CallBlock {
  MacroDefinition caller;
  ExprPtr call;
};
struct FilterBlock {
  ExprPtr filter;
  Body body;
};
struct ScopeBlock {  // block, generation, autoescape
  Body body;
  ExprPtr autoescape;  // must turn out false; null elsewhere
};
struct Break {};
struct Continue {};
struct Unloadable {
  std::string_view tag;
};  // include, import, extends: there is nothing to load from

struct Stmt {
  Position where;
  std::variant<Text, Print, If, For, Set, SetBlock, With, MacroDefinition, CallBlock, FilterBlock, ScopeBlock,
               Break, Continue, Unloadable>
      node;
};

// The node of an expression or a statement, which is known to be one of that type.
template <typename Node, typename... Nodes>
const Node& held(const std::variant<Nodes...>& node) {
  const Node* found = std::get_if<Node>(&node);
  if (found == nullptr) __builtin_unreachable();
  return *found;
}

// Symbols every template has.
enum : Symbol { kLoopSymbol, kCallerSymbol, kKwargsSymbol, kVarargsSymbol, kFirstFreeSymbol };

struct Template {
  std::unique_ptr<SourceText> text;
  std::unordered_map<std::string_view, Symbol> symbols;  // which are the slots of the top level, too
  // By scope: what its slots hold when it is entered. That is nothing, but for names that the scope sets
  // before it reads them and of which no scope around it knows. As in jinja2, such a name is a variable of
  // the scope from the start, so that a loop or macro in it that reads it earlier finds it undefined, not the
  // caller's value.
  std::vector<std::vector<Value>> fresh;
  Body body;
};

}  // namespace reprise::jinja
