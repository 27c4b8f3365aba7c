// Which variable each name of a template means, found while parsing. Scopes are lexical: every one knows
// which variables it can hold, each has a slot of its own there, and a name that is read is looked up in the
// scopes around it that have a slot for it.
#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"

namespace reprise::jinja {

class Scopes {
 public:
  class Inside;     // held while a scope is parsed
  class Outside;    // held while something in it is parsed that belongs to the scope around
  class Condition;  // held while something is parsed that may not be run

  Scopes();

  Symbol symbol(std::string_view name);
  uint32_t current() const { return current_; }
  uint32_t size() const { return static_cast<uint32_t>(scopes_[current_].slots.size()); }  // in slots
  void read(Symbol symbol) { scopes_[current_].known.insert(symbol); }
  void read(Symbol symbol, Name& name);  // which stays where it is until finish()
  // The slot of a name of the current scope that has a value from the start: a parameter, a loop variable.
  uint32_t define(Symbol symbol);
  void define(Target& target);
  // The slot of a name that is set.
  uint32_t store(Symbol symbol);
  void store(Target& target);

  // Fills in the places of all names that were read.
  void finish(Template& result);

 private:
  struct Scope {
    uint32_t parent = 0;
    std::unordered_map<Symbol, uint32_t> slots = {};
    std::unordered_set<Symbol> known = {};  // read or set in the scope itself, not in those inside it
    std::vector<Symbol> set_first = {};     // set before they were read, and not under a condition
    uint32_t conditions = 0;                // around, inside the scope
  };
  struct Read {
    Name* name;
    Symbol symbol;
    uint32_t scope;
  };
  uint32_t slot(Symbol symbol);
  void resolve(const Read& read) const;
  bool is_known_outside(uint32_t scope, Symbol symbol) const;

  std::vector<std::string_view> names_;  // by symbol
  std::unordered_map<std::string_view, Symbol> symbols_;
  std::vector<Scope> scopes_;
  uint32_t current_ = kTopScope;
  std::vector<Read> reads_;
};

class Scopes::Inside {
 public:
  explicit Inside(Scopes& scopes) : scopes_(scopes), outer_(scopes.current_) {
    scopes.current_ = static_cast<uint32_t>(scopes.scopes_.size());
    scopes.scopes_.push_back({.parent = outer_});
  }
  ~Inside() { scopes_.current_ = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Scopes& scopes_;
  uint32_t outer_;
};

class Scopes::Outside {
 public:
  explicit Outside(Scopes& scopes) : scopes_(scopes), inner_(scopes.current_) {
    scopes.current_ = scopes.scopes_[inner_].parent;
  }
  ~Outside() { scopes_.current_ = inner_; }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  Scopes& scopes_;
  uint32_t inner_;
};

class Scopes::Condition {
 public:
  explicit Condition(Scopes& scopes) : scopes_(scopes), scope_(scopes.current_) {
    ++scopes_.scopes_[scope_].conditions;
  }
  ~Condition() { --scopes_.scopes_[scope_].conditions; }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

 private:
  Scopes& scopes_;
  uint32_t scope_;
};

}  // namespace reprise::jinja
