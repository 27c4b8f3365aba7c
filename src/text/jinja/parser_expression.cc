// Expressions, lowest precedence first: conditional, or, and, not, comparison, + -, ~, * / // %, **, unary,
// postfix.
#include <algorithm>

#include "text/jinja/builtins.h"
#include "text/jinja/extent.h"
#include "text/jinja/parser.h"
#include "text/jinja/parser_depth.h"

namespace reprise::jinja {
namespace {

Member member(ExprPtr object, std::string_view text, bool is_item) {
  const MemberName name(text);
  auto of = Member::Of::kAny;
  if (const auto* variable = std::get_if<Name>(&object->node)) {
    if (variable->name == "loop" && !is_item && name.loop != LoopMember::kNone) {
      of = Member::Of::kLoop;
    } else if (!name.internal && text.size() <= kShortText && (is_item || name.methods.dict == nullptr)) {
      of = Member::Of::kVariable;
    }
  }
  return {std::move(object), name, is_item, of};
}

bool is_quick(Comparison op, const Expr& left, const Expr& right) {
  const auto* member = std::get_if<Member>(&left.node);
  const auto* literal = std::get_if<Literal>(&right.node);
  return (op == Comparison::kEqual || op == Comparison::kNotEqual) && member != nullptr &&
         member->of == Member::Of::kVariable && literal != nullptr && literal->value.is_string() &&
         literal->value.text().size() <= kShortText;
}

}  // namespace

template <typename Node>
ExprPtr Parser::make(Position where, Extent children, Node node) {
  if (children.height >= kMaxTreeHeight) {
    raise_at(where, "the expression is too long (more than {} operations in a row)", kMaxTreeHeight);
  }
  constexpr uint32_t kSteps = std::is_same_v<Node, Literal> || std::is_same_v<Node, Name> ? 0 : 1;
  return std::make_unique<Expr>(where, Extent{children.height + 1, children.steps + kSteps}, std::move(node));
}

ExprPtr Parser::make_name(Position where, std::string_view name) {
  ExprPtr e = make(where, {}, Name{name});
  scopes_.read(scopes_.symbol(name), std::get<Name>(e->node));
  return e;
}

void Parser::unknown(Position where, std::string_view what, std::string_view name) {
  unknown_.push_back({ErrorKind::kInvalid, fmt::format("No {} named '{}'", what, name), where});
}

ExprPtr Parser::parse_expression(bool with_conditional) {
  return with_conditional ? parse_conditional() : parse_or();
}

ExprPtr Parser::parse_tuple(bool with_conditional, bool parenthesized, std::string_view end_name) {
  const Position where = current().where;
  std::vector<ExprPtr> items;
  bool tuple = false;
  while (true) {
    const TokenKind kind = current().kind;
    if (kind == TokenKind::kVariableEnd || kind == TokenKind::kBlockEnd || is_op(")") ||
        (!end_name.empty() && is_name(end_name))) {
      break;
    }
    items.push_back(parse_expression(with_conditional));
    if (!skip_op(",")) break;
    tuple = true;
  }
  if (!tuple) {
    if (!items.empty()) return std::move(items[0]);
    if (!parenthesized) raise_at(current().where, "Expected an expression, got '{}'", current().text);
  }
  const Extent children = extent(items);
  return make(where, children, TupleDisplay{std::move(items)});
}

ExprPtr Parser::parse_conditional() {
  const Deeper deeper(*this);
  const Position where = current().where;
  const size_t unknown_before = unknown_.size();
  ExprPtr e = parse_or();
  while (skip_name("if")) {
    ExprPtr test = parse_or();
    ExprPtr otherwise = skip_name("else") ? parse_conditional() : nullptr;
    const Extent children = extent(test) + extent(e) + extent(otherwise);
    e = make(where, children, Conditional{std::move(test), std::move(e), std::move(otherwise)});
    unknown_.resize(unknown_before);
  }
  return e;
}

ExprPtr Parser::parse_or() { return parse_logical("or", false, &Parser::parse_and); }

ExprPtr Parser::parse_and() { return parse_logical("and", true, &Parser::parse_not); }

ExprPtr Parser::parse_logical(std::string_view word, bool is_and, ExprPtr (Parser::*parse_operand)()) {
  ExprPtr first = (this->*parse_operand)();
  if (!is_name(word)) return first;
  const Position where = current().where;
  Extent children = extent(first);
  Logical node{{}, is_and};
  node.operands.push_back(std::move(first));
  while (skip_name(word)) {
    node.operands.push_back((this->*parse_operand)());
    children = children + extent(node.operands.back());
  }
  return make(where, children, std::move(node));
}

ExprPtr Parser::parse_not() {
  const Deeper deeper(*this);
  if (!is_name("not")) return parse_compare();
  const Position where = next().where;
  ExprPtr operand = parse_not();
  const Extent children = extent(operand);
  return make(where, children, Not{std::move(operand)});
}

ExprPtr Parser::parse_compare() {
  static constexpr std::pair<std::string_view, Comparison> kOperators[] = {
      {"==", Comparison::kEqual},     {"!=", Comparison::kNotEqual}, {"<", Comparison::kLess},
      {"<=", Comparison::kLessEqual}, {">", Comparison::kGreater},   {">=", Comparison::kGreaterEqual}};
  const Position where = current().where;
  const auto comparison = [&]() -> std::optional<Comparison> {
    if (current().kind == TokenKind::kOperator) {
      for (const auto& [text, op] : kOperators) {
        if (skip_op(text)) return op;
      }
    } else if (skip_name("in")) {
      return Comparison::kIn;
    } else if (is_name("not") && is(look(), TokenKind::kName, "in")) {
      next();
      next();
      return Comparison::kNotIn;
    }
    return std::nullopt;
  };
  CompareChain chain{parse_sum(), {}};
  Extent children = extent(chain.first);
  while (const auto op = comparison()) {
    chain.rest.emplace_back(*op, parse_sum());
    children = children + extent(chain.rest.back().second);
  }
  if (chain.rest.empty()) return std::move(chain.first);
  if (chain.rest.size() > 1) return make(where, children, std::move(chain));
  auto& [op, right] = chain.rest.front();
  const auto* literal = std::get_if<Literal>(&chain.first->node);
  if (literal != nullptr && literal->value.is_string() && op >= Comparison::kIn) {
    return make(where, children,
                Contains{MemberName(literal->value.text()), std::move(right), op == Comparison::kNotIn});
  }
  const bool quick = is_quick(op, *chain.first, *right);
  return make(where, children, Compare{op, std::move(chain.first), std::move(right), quick});
}

ExprPtr Parser::parse_sum() {
  ExprPtr left = parse_concat();
  while (is_op("+") || is_op("-")) {
    const Token& op = next();
    ExprPtr right = parse_concat();
    const Extent children = extent(left) + extent(right);
    left = make(
        op.where, children,
        Binary{op.text == "+" ? Arithmetic::kAdd : Arithmetic::kSubtract, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr Parser::parse_concat() {
  const Position where = current().where;
  Concat node;
  node.parts.push_back(parse_product());
  while (skip_op("~")) node.parts.push_back(parse_product());
  if (node.parts.size() == 1) return std::move(node.parts[0]);
  const Extent children = extent(node.parts);
  return make(where, children, std::move(node));
}

ExprPtr Parser::parse_product() {
  ExprPtr left = parse_power();
  while (is_op("*") || is_op("/") || is_op("//") || is_op("%")) {
    const Token& op = next();
    const Arithmetic kind = op.text == "*"    ? Arithmetic::kMultiply
                            : op.text == "/"  ? Arithmetic::kDivide
                            : op.text == "//" ? Arithmetic::kFloorDivide
                                              : Arithmetic::kModulo;
    ExprPtr right = parse_power();
    const Extent children = extent(left) + extent(right);
    left = make(op.where, children, Binary{kind, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr Parser::parse_power() {
  ExprPtr left = parse_unary();
  while (is_op("**")) {
    const Position where = next().where;
    ExprPtr right = parse_unary();
    const Extent children = extent(left) + extent(right);
    left = make(where, children, Binary{Arithmetic::kPower, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr Parser::parse_unary(bool with_filter) {
  const Deeper deeper(*this);
  ExprPtr e;
  if (is_op("-") || is_op("+")) {
    const Token& op = next();
    ExprPtr operand = parse_unary(false);
    const Extent children = extent(operand);
    e = make(op.where, children, Sign{std::move(operand), op.text == "-"});
  } else {
    e = parse_primary();
  }
  e = parse_postfix(std::move(e));
  return with_filter ? parse_filters(std::move(e)) : std::move(e);
}

ExprPtr Parser::parse_primary() {
  const Token& token = current();
  const auto literal = [&](Value v) { return make(token.where, {}, Literal{v}); };
  switch (token.kind) {
    case TokenKind::kName: {
      next();
      if (token.text == "true" || token.text == "True") return literal(Value::boolean(true));
      if (token.text == "false" || token.text == "False") return literal(Value::boolean(false));
      if (token.text == "none" || token.text == "None") return literal(Value::none());
      const Symbol symbol = scopes_.symbol(token.text);
      if (symbol < kFirstFreeSymbol) ++mentions_[symbol];
      return make_name(token.where, token.text);
    }
    case TokenKind::kString: {
      next();
      if (current().kind != TokenKind::kString) return literal(Value::string(token.text));
      std::string joined(token.text);
      while (current().kind == TokenKind::kString) joined += next().text;
      return literal(Value::string(text_.keep(joined)));
    }
    case TokenKind::kNumber:
      next();
      return literal(token.number);
    case TokenKind::kOperator:
      if (skip_op("(")) {
        ExprPtr e = parse_tuple(true, true);
        expect_op(")");
        return e;
      }
      if (is_op("[")) return parse_list();
      if (is_op("{")) return parse_dict();
      unexpected();
    default:
      unexpected();
  }
}

ExprPtr Parser::parse_list() {
  const Position where = current().where;
  expect_op("[");
  ListDisplay node;
  while (!is_op("]")) {
    if (!node.items.empty()) expect_op(",");
    if (is_op("]")) break;
    node.items.push_back(parse_expression());
  }
  expect_op("]");
  const Extent children = extent(node.items);
  return make(where, children, std::move(node));
}

ExprPtr Parser::parse_dict() {
  const Position where = current().where;
  expect_op("{");
  DictDisplay node;
  Extent children;
  while (!is_op("}")) {
    if (!node.pairs.empty()) expect_op(",");
    if (is_op("}")) break;
    ExprPtr key = parse_expression();
    expect_op(":");
    ExprPtr value = parse_expression();
    children = children + extent(key) + extent(value);
    node.pairs.emplace_back(std::move(key), std::move(value));
  }
  expect_op("}");
  return make(where, children, std::move(node));
}

ExprPtr Parser::parse_postfix(ExprPtr e) {
  while (true) {
    if (is_op(".") || is_op("[")) {
      e = parse_subscript(std::move(e));
    } else if (is_op("(")) {
      e = parse_call(std::move(e));
    } else {
      return e;
    }
  }
}

ExprPtr Parser::parse_filters(ExprPtr e) {
  while (true) {
    if (skip_op("|")) {
      e = parse_filter(std::move(e));
    } else if (is_name("is")) {
      e = parse_test(std::move(e));
    } else if (is_op("(")) {
      e = parse_call(std::move(e));
    } else {
      return e;
    }
  }
}

ExprPtr Parser::parse_subscript(ExprPtr e) {
  const Token& token = next();
  const Extent below = extent(e);
  if (token.text == ".") {
    const Token& name = next();
    if (name.kind == TokenKind::kName) {
      return make(token.where, below, member(std::move(e), name.text, false));
    }
    if (name.kind != TokenKind::kNumber || !name.number.is(Kind::kInt)) {
      raise_at(name.where, "expected name or number");
    }
    return make(token.where, below, Subscript{std::move(e), make(name.where, {}, Literal{name.number})});
  }
  std::vector<ExprPtr> keys;
  while (!is_op("]")) {
    if (!keys.empty()) expect_op(",");
    ExprPtr first = is_op(":") ? nullptr : parse_expression();
    if (!skip_op(":")) {
      keys.push_back(std::move(first));
      continue;
    }
    Slice slice{nullptr, std::move(first), nullptr, nullptr};
    if (!is_op(":") && !is_op("]") && !is_op(",")) slice.stop = parse_expression();
    if (skip_op(":") && !is_op("]") && !is_op(",")) slice.step = parse_expression();
    if (!keys.empty() || !is_op("]"))
      raise_at(token.where, "a slice cannot be part of a tuple of subscripts");
    expect_op("]");
    const Extent children = below + extent(slice.start) + extent(slice.stop) + extent(slice.step);
    slice.object = std::move(e);
    return make(token.where, children, std::move(slice));
  }
  expect_op("]");
  ExprPtr key;
  if (keys.size() == 1) {
    key = std::move(keys[0]);
  } else {
    const Extent children = extent(keys);
    key = make(token.where, children, TupleDisplay{std::move(keys)});
  }
  if (const auto* literal = std::get_if<Literal>(&key->node); literal && literal->value.is_string()) {
    return make(token.where, below, member(std::move(e), literal->value.text(), true));
  }
  const Extent children = below + extent(key);
  return make(token.where, children, Subscript{std::move(e), std::move(key)});
}

ExprPtr Parser::parse_call(ExprPtr e) {
  const Position where = current().where;
  Arguments arguments = parse_arguments();
  const Extent children = extent(e) + extent(arguments);
  return make(where, children, Call{std::move(e), std::move(arguments)});
}

Arguments Parser::parse_arguments() {
  const Position where = current().where;
  expect_op("(");
  Arguments a;
  const auto ensure = [&](bool ok) {
    if (!ok) raise_at(where, "invalid syntax for function call expression");
  };
  for (bool first = true; !is_op(")"); first = false) {
    if (!first) {
      expect_op(",");
      if (is_op(")")) break;
    }
    if (skip_op("*")) {
      ensure(!a.more_positional && !a.more_named);
      a.more_positional = parse_expression();
    } else if (skip_op("**")) {
      ensure(!a.more_named);
      a.more_named = parse_expression();
    } else if (current().kind == TokenKind::kName && is(look(), TokenKind::kOperator, "=")) {
      ensure(!a.more_named);
      const std::string_view name = next().text;
      next();
      for (const auto& [other, value] : a.named) {
        if (other == name) raise_at(where, "keyword argument repeated: {}", name);
      }
      a.named.emplace_back(name, parse_expression());
    } else {
      ensure(!a.more_positional && !a.more_named && a.named.empty());
      a.positional.push_back(parse_expression());
    }
  }
  expect_op(")");
  return a;
}

std::string_view Parser::parse_dotted_name() {
  const Token& first = expect(TokenKind::kName);
  if (!is_op(".")) return first.text;
  std::string name(first.text);
  while (skip_op(".")) name.append(".").append(expect(TokenKind::kName).text);
  return text_.keep(name);
}

ExprPtr Parser::parse_filter(ExprPtr operand) {
  const Position where = current().where;
  const std::string_view name = parse_dotted_name();
  Filter node{nullptr, name, find_filter(name), {}};
  if (node.filter == nullptr) unknown(where, "filter", name);
  if (is_op("(")) node.arguments = parse_arguments();
  const Extent children = extent(operand) + extent(node.arguments);
  node.operand = std::move(operand);
  return make(where, children, std::move(node));
}

ExprPtr Parser::parse_test(ExprPtr operand) {
  const Position where = next().where;
  const bool negated = skip_name("not");
  const std::string_view name = parse_dotted_name();
  Test node{nullptr, name, find_test(name), {}};
  if (node.test == nullptr) unknown(where, "test", name);
  const TokenKind kind = current().kind;
  if (is_op("(")) {
    node.arguments = parse_arguments();
  } else if ((kind == TokenKind::kName || kind == TokenKind::kString || kind == TokenKind::kNumber ||
              is_op("[") || is_op("{")) &&
             !is_name("else") && !is_name("or") && !is_name("and")) {
    if (is_name("is")) raise_at(current().where, "You cannot chain multiple tests with is");
    node.arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  const Extent children = extent(operand) + extent(node.arguments);
  node.operand = std::move(operand);
  ExprPtr test = make(where, children, std::move(node));
  if (!negated) return test;
  const Extent positive = extent(test);
  return make(where, positive, Not{std::move(test)});
}

}  // namespace reprise::jinja
