// How much the parts of a template take to evaluate.
#pragma once

#include <vector>

#include "text/jinja/ast.h"

namespace reprise::jinja {

inline Extent extent(const ExprPtr& e) { return e ? e->extent : Extent{}; }
inline Extent extent(const std::vector<ExprPtr>& items) {
  Extent all;
  for (const ExprPtr& e : items) all = all + extent(e);
  return all;
}

inline Extent extent(const Arguments& a) {
  Extent all = extent(a.positional) + extent(a.more_positional) + extent(a.more_named);
  for (const auto& [name, e] : a.named) all = all + extent(e);
  return all;
}

// ---- statements, without the bodies in them ----

inline Extent extent(const Text&) { return {}; }
inline Extent extent(const Print& s) { return extent(s.value); }
inline Extent extent(const If& s) {
  Extent all;
  for (const Branch& branch : s.branches) all = all + extent(branch.condition);
  return all;
}
inline Extent extent(const For& s) {  // the condition is counted whenever it is evaluated
  return extent(s.iterable) + Extent{s.condition ? s.condition->test->extent.height : 0, 0};
}
inline Extent extent(const Set& s) { return extent(s.value); }
inline Extent extent(const SetBlock& s) { return extent(s.filter); }
inline Extent extent(const With& s) {
  Extent all;
  for (const auto& [target, value] : s.bindings) all = all + extent(value);
  return all;
}
inline Extent extent(const MacroDefinition&) { return {}; }
inline Extent extent(const CallBlock& s) { return extent(s.call); }
inline Extent extent(const FilterBlock& s) { return extent(s.filter); }
inline Extent extent(const ScopeBlock& s) { return extent(s.autoescape); }
inline Extent extent(const Break&) { return {}; }
inline Extent extent(const Continue&) { return {}; }
inline Extent extent(const Unloadable&) { return {}; }

}  // namespace reprise::jinja
