// Binding call arguments to the parameters of a builtin, with Python's errors.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "text/jinja/runtime.h"

namespace reprise::jinja {

// The arguments by parameter; null where the caller gave none.
template <size_t N>
class Bound {
 public:
  const Value* operator[](size_t i) const { return values_[i]; }
  const Value& at(size_t i) const { return *values_[i]; }  // a required parameter
  Value or_else(size_t i, Value fallback) const { return values_[i] ? *values_[i] : fallback; }
  bool given(size_t i) const {
    return values_[i] != nullptr && !values_[i]->is(Kind::kNone);
  }  // and not None

 private:
  template <size_t M>
  friend Bound<M> bind(std::string_view, const Args&, const std::array<std::string_view, M>&, size_t);
  std::array<const Value*, N> values_{};
};

// Binds `args` to `parameters`, the first `required` of which must be given. An empty parameter name is
// positional only.
template <size_t N>
Bound<N> bind(std::string_view function, const Args& args, const std::array<std::string_view, N>& parameters,
              size_t required = 0) {
  Bound<N> bound;
  if (args.positional.size() > N) {
    raise("{}() takes at most {} arguments ({} given)", function, N, args.positional.size());
  }
  for (size_t i = 0; i < args.positional.size(); ++i) bound.values_[i] = &args.positional[i];
  for (const NamedArg& named : args.named) {
    size_t i = 0;
    while (i < N && (parameters[i].empty() || parameters[i] != named.name)) ++i;
    if (i == N) raise("{}() got an unexpected keyword argument '{}'", function, named.name);
    if (bound.values_[i]) raise("{}() got multiple values for argument '{}'", function, named.name);
    bound.values_[i] = &named.value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!bound.values_[i]) raise("{}() misses its argument '{}'", function, parameters[i]);
  }
  return bound;
}

using Builtin = Value (*)(Runtime&, const Args&);

struct Function {  // a global function; the object behind Kind::kFunction
  std::string_view name;
  Builtin call;
};

}  // namespace reprise::jinja
