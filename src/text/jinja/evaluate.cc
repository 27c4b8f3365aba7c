// Expressions. Their steps and levels are counted by the body they stand in, all at once, so that nodes need
// not.
#include <array>
#include <span>

#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace reprise::jinja {
namespace {

inline bool compare(Runtime& rt, Comparison op, Value a, Value b) {
  switch (op) {
    case Comparison::kEqual:
      return equal(rt, a, b);
    case Comparison::kNotEqual:
      return !equal(rt, a, b);
    case Comparison::kLess:
      return ordered(rt, Order::kLess, a, b);
    case Comparison::kLessEqual:
      return ordered(rt, Order::kLessEqual, a, b);
    case Comparison::kGreater:
      return ordered(rt, Order::kGreater, a, b);
    case Comparison::kGreaterEqual:
      return ordered(rt, Order::kGreaterEqual, a, b);
    case Comparison::kIn:
      return contains(rt, b, a);
    case Comparison::kNotIn:
      return !contains(rt, b, a);
  }
  return false;
}

}  // namespace

// ---- members ----

// The entry of a variable that is a dict or namespace, or null where it is not found that quickly.
inline const Value* Interpreter::entry(const Member& n) const {
  const Value& object = at(held<Name>(n.object->node).place);
  if (!object.is(Kind::kDict) && !object.is(Kind::kNamespace)) return nullptr;
  return object.dict()->find_quickly(n.name.text, n.name.hash);
}

[[gnu::noinline]] Value Interpreter::eval_member(const Member& n, const Expr& e) {
  const Value object = eval(*n.object);
  at_ = &e;
  return n.is_item ? item(*this, object, n.name) : attribute(*this, object, n.name);
}

inline Value Interpreter::eval_node(const Member& n, const Expr& e) {
  if (n.of == Member::Of::kVariable) {
    if (const Value* v = entry(n)) return *v;
  } else if (n.of == Member::Of::kLoop) {
    const Value& object = at(held<Name>(n.object->node).place);
    if (object.is(Kind::kLoop)) return loop_member(object, n.name.loop);
  }
  return eval_member(n, e);
}

// ---- conditions ----

inline bool Interpreter::test_node(const Member& n, const Expr& e) {
  if (n.of == Member::Of::kVariable) {
    if (const Value* v = entry(n)) return truthy(*v);
  }
  return truthy(eval(e));
}

[[gnu::noinline]] bool Interpreter::holds(const Compare& n, const Expr& e) {
  const Value left = eval(*n.left);
  const Value right = eval(*n.right);
  at_ = &e;
  return compare(*this, n.op, left, right);
}

inline bool Interpreter::test_node(const Compare& n, const Expr& e) {
  if (n.is_quick) {
    const Value* left = entry(held<Member>(n.left->node));
    if (left != nullptr && left->is_string()) {
      return same_text(left->text(), held<Literal>(n.right->node).value.text()) ==
             (n.op == Comparison::kEqual);
    }
  }
  return holds(n, e);
}

inline bool Interpreter::test_node(const Not& n, const Expr&) { return !test(*n.operand); }

inline bool Interpreter::test_node(const Logical& n, const Expr&) {
  const bool is_and = n.is_and;
  if (test(*n.operands.front()) != is_and) return !is_and;
  for (const ExprPtr& operand : std::span(n.operands).subspan(1)) {
    if (test(*operand) != is_and) return !is_and;
  }
  return is_and;
}

inline bool Interpreter::test_node(const Contains& n, const Expr& e) {
  const Value container = eval(*n.container);
  at_ = &e;
  const bool found = container.is(Kind::kDict) ? container.dict()->find(n.key.text, n.key.hash) != nullptr
                                               : contains(*this, container, Value::string(n.key.text));
  return found != n.negated;
}

// ---- values ----

inline Value Interpreter::eval_node(const ListDisplay& n, const Expr&) {
  const Value list = new_list(*this);
  for (const ExprPtr& item : n.items) list.list()->push(*this, eval(*item));
  return list;
}

inline Value Interpreter::eval_node(const TupleDisplay& n, const Expr&) {
  const Value list = new_list(*this);
  for (const ExprPtr& item : n.items) list.list()->push(*this, eval(*item));
  return Value::object(Kind::kTuple, list.list());
}

inline Value Interpreter::eval_node(const DictDisplay& n, const Expr& e) {
  const Value dict = new_dict(*this);
  for (const auto& [key_expr, value_expr] : n.pairs) {
    const Value key = eval(*key_expr);
    const Value value = eval(*value_expr);
    at_ = &e;
    dict.dict()->set(*this, key, value);
  }
  return dict;
}

inline Value Interpreter::eval_node(const Subscript& n, const Expr& e) {
  const Value object = eval(*n.object);
  const Value key = eval(*n.key);
  at_ = &e;
  return item(*this, object, key);
}

inline Value Interpreter::eval_node(const Slice& n, const Expr& e) {
  const Value object = eval(*n.object);
  const auto bound = [&](const ExprPtr& part) -> std::optional<int64_t> {
    const Value v = part ? eval(*part) : Value::none();
    if (v.is(Kind::kNone)) return std::nullopt;
    if (!v.is_integral()) raise_at(e.where, "slice indices must be integers or None");
    return to_index(v);
  };
  const SliceBounds bounds{bound(n.start), bound(n.stop), bound(n.step)};
  at_ = &e;
  return slice(*this, object, bounds);
}

inline Value Interpreter::eval_node(const Not& n, const Expr&) { return Value::boolean(!test(*n.operand)); }

inline Value Interpreter::eval_node(const Sign& n, const Expr& e) {
  const Value v = eval(*n.operand);
  at_ = &e;
  return n.negative ? negate(v) : affirm(v);
}

inline Value Interpreter::eval_node(const Logical& n, const Expr&) {
  Value v = eval(*n.operands.front());
  for (const ExprPtr& operand : std::span(n.operands).subspan(1)) {
    if (truthy(v) != n.is_and) break;
    v = eval(*operand);
  }
  return v;
}

inline Value Interpreter::eval_node(const Binary& n, const Expr& e) {
  const Value left = eval(*n.left);
  const Value right = eval(*n.right);
  at_ = &e;
  return arithmetic(*this, n.op, left, right);
}

inline Value Interpreter::eval_node(const Concat& n, const Expr& e) {
  Value text;
  for (const ExprPtr& part : n.parts) {
    const Value v = eval(*part);
    at_ = &e;
    text = text.is(Kind::kMissing) ? to_str(*this, v) : heap.concat(text, str(*this, v));
  }
  return text;
}

inline Value Interpreter::eval_node(const Conditional& n, const Expr&) {
  const ExprPtr& chosen = test(*n.test) ? n.then : n.otherwise;
  if (!chosen) {
    return Value::undefined("the inline if-expression evaluated to false and no else section was defined",
                            Absence::kText);
  }
  return eval(*chosen);
}

inline Value Interpreter::eval_node(const Compare& n, const Expr& e) {
  return Value::boolean(test_node(n, e));
}

inline Value Interpreter::eval_node(const CompareChain& n, const Expr& e) {
  Value left = eval(*n.first);
  for (const auto& [op, operand] : n.rest) {
    const Value right = eval(*operand);
    at_ = &e;
    if (!compare(*this, op, left, right)) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

inline Value Interpreter::eval_node(const Contains& n, const Expr& e) {
  return Value::boolean(test_node(n, e));
}

// ---- dispatch ----

template <typename Node>
Value Interpreter::eval_as(Interpreter& self, const Expr& e) {
  return self.eval_node(held<Node>(e.node), e);
}

template <typename Node>
bool Interpreter::test_as(Interpreter& self, const Expr& e) {
  return self.test_node(held<Node>(e.node), e);
}

template <typename... Nodes>
struct Interpreter::ByNode<std::variant<Nodes...>> {
  static constexpr std::array kEval = {&eval_as<Nodes>...};
  static constexpr std::array kTest = {&test_as<Nodes>...};
};

Value Interpreter::eval_compound(const Expr& e) {
  return ByNode<decltype(Expr::node)>::kEval[e.node.index()](*this, e);
}

bool Interpreter::test(const Expr& e) {
  return ByNode<decltype(Expr::node)>::kTest[e.node.index()](*this, e);
}

}  // namespace reprise::jinja
