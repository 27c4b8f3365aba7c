// Expressions. `where_` is set just before an operation that may fail, after its operands were evaluated.
#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace reprise::jinja {

Value Interpreter::eval(const Expr& e) {
  if (const auto* literal = std::get_if<Literal>(&e.node)) return literal->value;
  if (const auto* name = std::get_if<Name>(&e.node)) return lookup(name->symbol, name->name);
  const Nesting nesting(*this);
  charge();
  const Position outer = where_;
  where_ = e.where;
  const Value v = std::visit([this](const auto& node) { return eval_node(node); }, e.node);
  where_ = outer;
  return v;
}

Value Interpreter::eval_node(const ListDisplay& n) {
  const Value list = new_list(*this);
  for (const ExprPtr& item : n.items) list.list()->push(*this, eval(*item));
  return list;
}

Value Interpreter::eval_node(const TupleDisplay& n) {
  const Value list = new_list(*this);
  for (const ExprPtr& item : n.items) list.list()->push(*this, eval(*item));
  return Value::object(Kind::kTuple, list.list());
}

Value Interpreter::eval_node(const DictDisplay& n) {
  const Value dict = new_dict(*this);
  for (const auto& [key_expr, value_expr] : n.pairs) {
    const Value key = eval(*key_expr);
    dict.dict()->set(*this, key, eval(*value_expr));
  }
  return dict;
}

Value Interpreter::eval_node(const Attribute& n) {
  const Value object = eval(*n.object);
  return attribute(*this, object, n.name, n.methods);
}

Value Interpreter::eval_node(const Subscript& n) {
  const Value object = eval(*n.object);
  const Value key = eval(*n.key);
  return item(*this, object, key);
}

Value Interpreter::eval_node(const Slice& n) {
  const Value object = eval(*n.object);
  const auto bound = [&](const ExprPtr& e) -> std::optional<int64_t> {
    const Value v = e ? eval(*e) : Value::none();
    if (v.is(Kind::kNone)) return std::nullopt;
    if (!v.is_integral()) raise("slice indices must be integers or None");
    return to_index(v);
  };
  const SliceBounds bounds{bound(n.start), bound(n.stop), bound(n.step)};
  return slice(*this, object, bounds);
}

void Interpreter::collect(const Arguments& arguments, ArgBuffer& buffer) {
  for (const ExprPtr& e : arguments.positional) buffer.add(eval(*e));
  if (arguments.more_positional) {
    const Sequence more = iterate(*this, eval(*arguments.more_positional));
    for (size_t i = 0; i < more.size(); ++i) {
      charge();
      buffer.add(more.at(i));
    }
  }
  for (const auto& [name, e] : arguments.named) buffer.add(name, eval(*e));
  if (arguments.more_named) {
    const Value more = eval(*arguments.more_named);
    if (!more.is(Kind::kDict)) raise("argument after ** must be a mapping, not {}", type_name(more));
    const Dict& dict = *more.dict();
    for (uint32_t i = 0; i < dict.end; ++i) {
      const Dict::Entry& e = dict.entries[i];
      if (e.key.is(Kind::kMissing)) continue;
      if (!e.key.is_string()) raise("keywords must be strings");
      charge();
      buffer.add(e.key.text(), e.value);
    }
  }
}

Value Interpreter::eval_call(const Call& n, const Value* caller) {
  // A method called at once needs no object for the bound method.
  if (const auto* access = std::get_if<Attribute>(&n.callee->node)) {
    const Value self = eval(*access->object);
    where_ = n.callee->where;
    if (const Method* method = access->methods.of(self)) {
      ArgBuffer buffer;
      collect(n.arguments, buffer);
      if (caller) buffer.add("caller", *caller);
      charge();
      return method->call(*this, self, buffer.args());
    }
    const Value callee = attribute(*this, self, access->name, access->methods);
    ArgBuffer buffer;
    collect(n.arguments, buffer);
    if (caller) buffer.add("caller", *caller);
    return call(callee, buffer.args());
  }
  const Value callee = eval(*n.callee);
  ArgBuffer buffer;
  collect(n.arguments, buffer);
  if (caller) buffer.add("caller", *caller);
  return call(callee, buffer.args());
}

Value Interpreter::eval_node(const Filter& n) {
  ArgBuffer buffer;
  buffer.add(n.operand ? eval(*n.operand) : block_text_);
  if (n.filter == nullptr) raise("No filter named '{}'.", n.name);
  collect(n.arguments, buffer);
  return n.filter(*this, buffer.args());
}

Value Interpreter::eval_node(const Test& n) {
  ArgBuffer buffer;
  buffer.add(eval(*n.operand));
  if (n.test == nullptr) raise("No test named '{}'.", n.name);
  collect(n.arguments, buffer);
  return n.test(*this, buffer.args());
}

Value Interpreter::eval_node(const Not& n) { return Value::boolean(!truthy(eval(*n.operand))); }

Value Interpreter::eval_node(const Sign& n) {
  const Value v = eval(*n.operand);
  return n.negative ? negate(v) : affirm(v);
}

Value Interpreter::eval_node(const Logical& n) {
  const Value left = eval(*n.left);
  return truthy(left) == n.is_and ? eval(*n.right) : left;
}

Value Interpreter::eval_node(const Binary& n) {
  const Value left = eval(*n.left);
  const Value right = eval(*n.right);
  return arithmetic(*this, n.op, left, right);
}

Value Interpreter::eval_node(const Concat& n) {
  Value text = to_str(*this, eval(*n.parts[0]));
  for (size_t i = 1; i < n.parts.size(); ++i) text = heap.concat(text, str(*this, eval(*n.parts[i])));
  return text;
}

Value Interpreter::eval_node(const Conditional& n) {
  if (truthy(eval(*n.test))) return eval(*n.then);
  if (n.otherwise) return eval(*n.otherwise);
  return Value::undefined("the inline if-expression evaluated to false and no else section was defined",
                          Absence::kText);
}

Value Interpreter::eval_node(const Compare& n) {
  Value left = eval(*n.first);
  for (const auto& [op, operand] : n.rest) {
    const Value right = eval(*operand);
    bool holds = false;
    switch (op) {
      case Comparison::kEqual:
        holds = equal(*this, left, right);
        break;
      case Comparison::kNotEqual:
        holds = !equal(*this, left, right);
        break;
      case Comparison::kLess:
        holds = ordered(*this, Order::kLess, left, right);
        break;
      case Comparison::kLessEqual:
        holds = ordered(*this, Order::kLessEqual, left, right);
        break;
      case Comparison::kGreater:
        holds = ordered(*this, Order::kGreater, left, right);
        break;
      case Comparison::kGreaterEqual:
        holds = ordered(*this, Order::kGreaterEqual, left, right);
        break;
      case Comparison::kIn:
        holds = contains(*this, right, left);
        break;
      case Comparison::kNotIn:
        holds = !contains(*this, right, left);
        break;
    }
    if (!holds) return Value::boolean(false);
    left = right;
  }
  return Value::boolean(true);
}

}  // namespace reprise::jinja
