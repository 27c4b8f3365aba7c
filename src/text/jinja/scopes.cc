#include "text/jinja/scopes.h"

namespace reprise::jinja {

Scopes::Scopes() : scopes_(1) {
  for (const std::string_view name : {"loop", "caller", "kwargs", "varargs"}) symbol(name);
}

Symbol Scopes::symbol(std::string_view name) {
  const auto [found, added] = symbols_.try_emplace(name, static_cast<Symbol>(names_.size()));
  if (added) names_.push_back(name);
  return found->second;
}

void Scopes::read(Symbol symbol, Name& name) {
  read(symbol);
  reads_.push_back({&name, symbol, current_});
}

// At the top level, where the caller's variables are, every name has a slot.
uint32_t Scopes::slot(Symbol symbol) {
  if (current_ == kTopScope) return symbol;
  auto& slots = scopes_[current_].slots;
  return slots.try_emplace(symbol, static_cast<uint32_t>(slots.size())).first->second;
}

uint32_t Scopes::define(Symbol symbol) {
  read(symbol);
  return slot(symbol);
}

void Scopes::define(Target& target) {
  if (auto* items = std::get_if<std::vector<Target>>(&target.to)) {
    for (Target& item : *items) define(item);
  } else if (auto* variable = std::get_if<VariableTarget>(&target.to)) {
    variable->slot = define(variable->symbol);
  }
}

uint32_t Scopes::store(Symbol symbol) {
  // A name set under a condition keeps the caller's value until then.
  Scope& scope = scopes_[current_];
  if (scope.known.insert(symbol).second && scope.conditions == 0) scope.set_first.push_back(symbol);
  return slot(symbol);
}

void Scopes::store(Target& target) {
  if (auto* items = std::get_if<std::vector<Target>>(&target.to)) {
    for (Target& item : *items) store(item);
  } else if (auto* variable = std::get_if<VariableTarget>(&target.to)) {
    variable->slot = store(variable->symbol);
  }
}

// A name counts as known outside wherever in the outer scopes it stands, also after this scope.
bool Scopes::is_known_outside(uint32_t scope, Symbol symbol) const {
  while (scope != kTopScope) {
    scope = scopes_[scope].parent;
    if (scopes_[scope].known.contains(symbol)) return true;
  }
  return false;
}

void Scopes::resolve(const Read& read) const {
  std::vector<Place> places;
  uint32_t up = 0;
  for (uint32_t scope = read.scope; scope != kTopScope; scope = scopes_[scope].parent, ++up) {
    const auto found = scopes_[scope].slots.find(read.symbol);
    if (found != scopes_[scope].slots.end()) places.push_back({up, found->second});
  }
  places.push_back({up, read.symbol});
  read.name->place = places.front();
  read.name->outer.assign(places.begin() + 1, places.end());
}

void Scopes::finish(Template& result) {
  for (const Read& read : reads_) resolve(read);
  for (uint32_t i = 0; i < scopes_.size(); ++i) {
    const Scope& scope = scopes_[i];
    auto& fresh = result.fresh.emplace_back(i == kTopScope ? names_.size() : scope.slots.size());
    for (const Symbol symbol : scope.set_first) {
      if (is_known_outside(i, symbol)) continue;
      fresh[i == kTopScope ? symbol : scope.slots.at(symbol)] = Value::undefined(names_[symbol]);
    }
  }
  result.symbols = std::move(symbols_);
}

}  // namespace reprise::jinja
