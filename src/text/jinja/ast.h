// A parsed template. Names of variables are numbered (Symbol), so that the interpreter finds them without
// comparing text; filters, tests and methods are looked up while parsing. Views point into the SourceText.
#pragma once

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

using Symbol = uint32_t;

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using Body = std::vector<Stmt>;

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
  Symbol symbol;
  std::string_view name;
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
struct Attribute {
  ExprPtr object;
  std::string_view name;
  MethodSet methods;
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
  ExprPtr left, right;
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
  ExprPtr first;
  std::vector<std::pair<Comparison, ExprPtr>> rest;
};

struct Expr {
  Position where;
  uint32_t height = 0;  // of the tree below; limited, so that recursion over it is
  std::variant<Literal, Name, ListDisplay, TupleDisplay, DictDisplay, Attribute, Subscript, Slice, Call,
               Filter, Test, Not, Sign, Logical, Binary, Concat, Conditional, Compare>
      node;
};

// ---- statements ----

struct Target;
struct NamespaceTarget {
  Symbol symbol;
  std::string_view name;
  std::string_view attribute;
};
struct Target {  // of an assignment
  Position where;
  std::variant<Symbol, NamespaceTarget, std::vector<Target>> to;
};

struct Text {
  std::string_view text;
};
struct Print {
  ExprPtr value;
};
struct If {
  std::vector<std::pair<ExprPtr, Body>> branches;
  Body otherwise;
};
struct For {
  Target target;
  ExprPtr iterable;
  ExprPtr condition;  // may be null
  bool recursive = false;
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
  std::vector<std::pair<Symbol, std::string_view>> parameters;
  std::vector<ExprPtr> defaults;  // of the last parameters
  bool uses_caller = false;       // the body mentions caller, kwargs, varargs
  bool uses_kwargs = false;
  bool uses_varargs = false;
};
struct MacroDefinition {
  Symbol symbol;
  std::string_view name;
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

// Symbols every template has.
enum : Symbol { kLoopSymbol, kCallerSymbol, kKwargsSymbol, kVarargsSymbol, kFirstFreeSymbol };

struct Template {
  std::unique_ptr<SourceText> text;
  std::vector<std::string_view> symbols;  // names by number
  std::unordered_map<std::string_view, Symbol> symbol_of;
  // Top-level names that the top level sets before it reads them. As in jinja2, such a name is a variable of
  // the template from the start, so that a loop or macro that reads it earlier finds nothing, not the
  // caller's value.
  std::vector<Symbol> own;
  Body body;
};

}  // namespace reprise::jinja
