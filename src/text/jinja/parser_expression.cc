// Expressions, lowest precedence first: conditional, or, and, not, comparison, + -, ~, * / // %, **, unary,
// postfix.
#include <algorithm>

#include "text/jinja/builtins.h"
#include "text/jinja/parser.h"
#include "text/jinja/parser_depth.h"

namespace reprise::jinja {
namespace {

uint32_t height(const ExprPtr& e) { return e ? e->height : 0; }
uint32_t height(const std::vector<ExprPtr>& items) {
  uint32_t h = 0;
  for (const ExprPtr& e : items) h = std::max(h, height(e));
  return h;
}
uint32_t height(const Arguments& a) {
  uint32_t h = std::max({height(a.positional), height(a.more_positional), height(a.more_named)});
  for (const auto& [name, e] : a.named) h = std::max(h, height(e));
  return h;
}

}  // namespace

template <typename Node>
ExprPtr Parser::make(Position where, uint32_t children, Node node) {
  if (children >= kMaxTreeHeight) {
    raise_at(where, "the expression is too long (more than {} operations in a row)", kMaxTreeHeight);
  }
  return std::make_unique<Expr>(where, children + 1, std::move(node));
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
  const uint32_t h = height(items);
  return make(where, h, TupleDisplay{std::move(items)});
}

ExprPtr Parser::parse_conditional() {
  const Deeper deeper(*this);
  const Position where = current().where;
  const size_t unknown_before = unknown_.size();
  ExprPtr e = parse_or();
  while (skip_name("if")) {
    ExprPtr test = parse_or();
    ExprPtr otherwise = skip_name("else") ? parse_conditional() : nullptr;
    const uint32_t h = std::max({height(e), height(test), height(otherwise)});
    e = make(where, h, Conditional{std::move(test), std::move(e), std::move(otherwise)});
    unknown_.resize(unknown_before);
  }
  return e;
}

ExprPtr Parser::parse_or() {
  ExprPtr left = parse_and();
  while (is_name("or")) {
    const Position where = next().where;
    ExprPtr right = parse_and();
    const uint32_t h = std::max(height(left), height(right));
    left = make(where, h, Logical{std::move(left), std::move(right), false});
  }
  return left;
}

ExprPtr Parser::parse_and() {
  ExprPtr left = parse_not();
  while (is_name("and")) {
    const Position where = next().where;
    ExprPtr right = parse_not();
    const uint32_t h = std::max(height(left), height(right));
    left = make(where, h, Logical{std::move(left), std::move(right), true});
  }
  return left;
}

ExprPtr Parser::parse_not() {
  const Deeper deeper(*this);
  if (!is_name("not")) return parse_compare();
  const Position where = next().where;
  ExprPtr operand = parse_not();
  const uint32_t h = height(operand);
  return make(where, h, Not{std::move(operand)});
}

ExprPtr Parser::parse_compare() {
  static constexpr std::pair<std::string_view, Comparison> kOperators[] = {
      {"==", Comparison::kEqual},     {"!=", Comparison::kNotEqual}, {"<", Comparison::kLess},
      {"<=", Comparison::kLessEqual}, {">", Comparison::kGreater},   {">=", Comparison::kGreaterEqual}};
  const Position where = current().where;
  Compare node{parse_sum(), {}};
  uint32_t h = height(node.first);
  while (true) {
    std::optional<Comparison> op;
    if (current().kind == TokenKind::kOperator) {
      for (const auto& [text, comparison] : kOperators) {
        if (current().text == text) op = comparison;
      }
      if (op) next();
    } else if (skip_name("in")) {
      op = Comparison::kIn;
    } else if (is_name("not") && is(look(), TokenKind::kName, "in")) {
      next();
      next();
      op = Comparison::kNotIn;
    }
    if (!op) break;
    node.rest.emplace_back(*op, parse_sum());
    h = std::max(h, height(node.rest.back().second));
  }
  if (node.rest.empty()) return std::move(node.first);
  return make(where, h, std::move(node));
}

ExprPtr Parser::parse_sum() {
  ExprPtr left = parse_concat();
  while (is_op("+") || is_op("-")) {
    const Token& op = next();
    ExprPtr right = parse_concat();
    const uint32_t h = std::max(height(left), height(right));
    left = make(
        op.where, h,
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
  const uint32_t h = height(node.parts);
  return make(where, h, std::move(node));
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
    const uint32_t h = std::max(height(left), height(right));
    left = make(op.where, h, Binary{kind, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr Parser::parse_power() {
  ExprPtr left = parse_unary();
  while (is_op("**")) {
    const Position where = next().where;
    ExprPtr right = parse_unary();
    const uint32_t h = std::max(height(left), height(right));
    left = make(where, h, Binary{Arithmetic::kPower, std::move(left), std::move(right)});
  }
  return left;
}

ExprPtr Parser::parse_unary(bool with_filter) {
  const Deeper deeper(*this);
  ExprPtr e;
  if (is_op("-") || is_op("+")) {
    const Token& op = next();
    ExprPtr operand = parse_unary(false);
    const uint32_t h = height(operand);
    e = make(op.where, h, Sign{std::move(operand), op.text == "-"});
  } else {
    e = parse_primary();
  }
  e = parse_postfix(std::move(e));
  return with_filter ? parse_filters(std::move(e)) : std::move(e);
}

ExprPtr Parser::parse_primary() {
  const Token& token = current();
  const auto literal = [&](const Value& v) { return make(token.where, 0, Literal{v}); };
  switch (token.kind) {
    case TokenKind::kName: {
      next();
      if (token.text == "true" || token.text == "True") return literal(Value::boolean(true));
      if (token.text == "false" || token.text == "False") return literal(Value::boolean(false));
      if (token.text == "none" || token.text == "None") return literal(Value::none());
      const Symbol s = symbol(token.text);
      if (s < kFirstFreeSymbol) ++mentions_[s];
      if (scopes_ == 0) top_level_.insert(s);
      return make(token.where, 0, Name{s, token.text});
    }
    case TokenKind::kString: {
      next();
      if (current().kind != TokenKind::kString) return literal(Value::string(token.text));
      std::string joined(token.text);
      while (current().kind == TokenKind::kString) joined += next().text;
      return literal(Value::string(text_.decoded.emplace_back(std::move(joined))));
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
  const uint32_t h = height(node.items);
  return make(where, h, std::move(node));
}

ExprPtr Parser::parse_dict() {
  const Position where = current().where;
  expect_op("{");
  DictDisplay node;
  uint32_t h = 0;
  while (!is_op("}")) {
    if (!node.pairs.empty()) expect_op(",");
    if (is_op("}")) break;
    ExprPtr key = parse_expression();
    expect_op(":");
    ExprPtr value = parse_expression();
    h = std::max({h, height(key), height(value)});
    node.pairs.emplace_back(std::move(key), std::move(value));
  }
  expect_op("}");
  return make(where, h, std::move(node));
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
  const uint32_t below = height(e);
  if (token.text == ".") {
    const Token& name = next();
    if (name.kind == TokenKind::kName) {
      return make(token.where, below, Attribute{std::move(e), name.text, MethodSet(name.text)});
    }
    if (name.kind != TokenKind::kNumber || !name.number.is(Kind::kInt)) {
      raise_at(name.where, "expected name or number");
    }
    return make(token.where, below, Subscript{std::move(e), make(name.where, 0, Literal{name.number})});
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
    const uint32_t h = std::max({below, height(slice.start), height(slice.stop), height(slice.step)});
    slice.object = std::move(e);
    return make(token.where, h, std::move(slice));
  }
  expect_op("]");
  ExprPtr key;
  if (keys.size() == 1) {
    key = std::move(keys[0]);
  } else {
    const uint32_t h = height(keys);
    key = make(token.where, h, TupleDisplay{std::move(keys)});
  }
  const uint32_t h = std::max(below, height(key));
  return make(token.where, h, Subscript{std::move(e), std::move(key)});
}

ExprPtr Parser::parse_call(ExprPtr e) {
  const Position where = current().where;
  Arguments arguments = parse_arguments();
  const uint32_t h = std::max(height(e), height(arguments));
  return make(where, h, Call{std::move(e), std::move(arguments)});
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
  return text_.decoded.emplace_back(std::move(name));
}

ExprPtr Parser::parse_filter(ExprPtr operand) {
  const Position where = current().where;
  const std::string_view name = parse_dotted_name();
  Filter node{nullptr, name, find_filter(name), {}};
  if (node.filter == nullptr) unknown(where, "filter", name);
  if (is_op("(")) node.arguments = parse_arguments();
  const uint32_t h = std::max(height(operand), height(node.arguments));
  node.operand = std::move(operand);
  return make(where, h, std::move(node));
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
  const uint32_t h = std::max(height(operand), height(node.arguments));
  node.operand = std::move(operand);
  ExprPtr test = make(where, h, std::move(node));
  if (!negated) return test;
  return make(where, h + 1, Not{std::move(test)});
}

}  // namespace reprise::jinja
