// Statements. A body is parsed up to a tag whose name is one of its ends, as jinja2 does.
#include "text/jinja/parser.h"

#include <algorithm>

#include "text/jinja/parser_depth.h"

namespace reprise::jinja {

Template parse_template(std::string_view source) {
  Template result;
  result.text = normalize(source);
  Parser parser(tokenize(*result.text), *result.text);
  result.body = parser.parse_all();
  result.symbols = parser.take_symbols();
  result.own = parser.take_own();
  for (Symbol s = 0; s < result.symbols.size(); ++s) result.symbol_of.emplace(result.symbols[s], s);
  return result;
}

Parser::Parser(std::vector<Token> tokens, SourceText& text)
    : tokens_(std::move(tokens)), text_(text), mentions_(kFirstFreeSymbol) {
  for (const std::string_view name : {"loop", "caller", "kwargs", "varargs"}) symbol(name);
}

Body Parser::parse_all() {
  Body body;
  parse_into(body, {});
  if (!unknown_.empty()) throw unknown_.front();
  return body;
}

// ---- token stream ----

const Token& Parser::next() {
  const Token& t = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return t;
}

bool Parser::skip_op(std::string_view op) {
  const bool found = is_op(op);
  if (found) next();
  return found;
}

bool Parser::skip_name(std::string_view name) {
  const bool found = is_name(name);
  if (found) next();
  return found;
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) raise_at(current().where, "expected '{}', got '{}'", op, current().text);
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) raise_at(current().where, "expected '{}', got '{}'", name, current().text);
}

const Token& Parser::expect(TokenKind kind) {
  if (current().kind != kind) unexpected();
  return next();
}

void Parser::unexpected() const {
  if (current().kind == TokenKind::kEnd) raise_at(current().where, "unexpected end of template");
  raise_at(current().where, "unexpected '{}'", current().text.substr(0, 40));
}

Symbol Parser::symbol(std::string_view name) {
  const auto [found, added] = symbols_.try_emplace(name, static_cast<Symbol>(names_.size()));
  if (added) names_.push_back(name);
  return found->second;
}

// ---- statements ----

void Parser::parse_into(Body& body, Ends ends) {
  while (true) {
    const Token& token = current();
    switch (token.kind) {
      case TokenKind::kData:
        body.push_back({token.where, Text{token.text}});
        next();
        break;
      case TokenKind::kVariableBegin: {
        next();
        ExprPtr value = parse_tuple(true, false);
        body.push_back({token.where, Print{std::move(value)}});
        expect(TokenKind::kVariableEnd);
        break;
      }
      case TokenKind::kBlockBegin:
        next();
        if (current().kind == TokenKind::kName && std::ranges::find(ends, current().text) != ends.end())
          return;
        parse_statement(body);
        expect(TokenKind::kBlockEnd);
        break;
      case TokenKind::kEnd:
        if (ends.size() != 0) {
          raise_at(token.where, "unexpected end of template: a block is not closed by '{}'",
                   *(ends.end() - 1));
        }
        return;
      default:
        unexpected();
    }
  }
}

Body Parser::parse_body(Ends ends) {
  skip_op(":");
  expect(TokenKind::kBlockEnd);
  Body body;
  parse_into(body, ends);
  return body;
}

Body Parser::parse_body_of(std::string_view end) {
  Body body = parse_body({end});
  next();
  return body;
}

Body Parser::parse_scope_of(std::string_view end) {
  ++scopes_;
  Body body = parse_body_of(end);
  --scopes_;
  return body;
}

void Parser::parse_statement(Body& body) {
  const Deeper deeper(*this);
  const Token& token = expect(TokenKind::kName);
  const std::string_view tag = token.text;
  const Position where = token.where;
  const auto add = [&](auto node) { body.push_back({where, std::move(node)}); };
  if (tag == "if") return add(parse_if());
  if (tag == "for") return add(parse_for());
  if (tag == "set") return parse_set(body, where);
  if (tag == "with") return add(parse_with());
  if (tag == "macro") return add(parse_macro());
  if (tag == "call") return add(parse_call_block());
  if (tag == "block") return add(parse_block());
  if (tag == "filter") {
    ExprPtr filter = parse_filter(nullptr);
    if (is_op("|")) filter = parse_filters(std::move(filter));
    return add(FilterBlock{std::move(filter), parse_scope_of("endfilter")});
  }
  if (tag == "generation") return add(ScopeBlock{parse_scope_of("endgeneration"), nullptr});
  if (tag == "autoescape") {
    ExprPtr value = parse_expression();
    return add(ScopeBlock{parse_scope_of("endautoescape"), std::move(value)});
  }
  if (tag == "break" || tag == "continue") {
    if (loops_ == 0) raise_at(where, "'{}' outside of a loop", tag);
    if (tag == "break") return add(Break{});
    return add(Continue{});
  }
  if (tag == "print") {
    for (bool first = true; current().kind != TokenKind::kBlockEnd; first = false) {
      if (!first) expect_op(",");
      add(Print{parse_expression()});
    }
    return;
  }
  if (tag == "include" || tag == "import" || tag == "from" || tag == "extends") {
    while (current().kind != TokenKind::kBlockEnd && current().kind != TokenKind::kEnd) next();
    return add(Unloadable{tag});
  }
  raise_at(where, "Encountered unknown tag '{}'", tag);
}

If Parser::parse_if() {
  const size_t unknown_before = unknown_.size();
  If node;
  ++conditions_;
  while (true) {
    ExprPtr condition = parse_tuple(false, false);
    Body body = parse_body({"elif", "else", "endif"});
    node.branches.emplace_back(std::move(condition), std::move(body));
    const std::string_view tag = next().text;
    if (tag == "elif") continue;
    if (tag == "else") node.otherwise = parse_body_of("endif");
    break;
  }
  --conditions_;
  unknown_.resize(unknown_before);
  return node;
}

For Parser::parse_for() {
  For node;
  node.target = parse_target("in", false);
  forbid_loop(node.target);
  expect_name("in");
  node.iterable = parse_tuple(false, false, "recursive");
  ++scopes_;
  if (skip_name("if")) node.condition = parse_expression();
  node.recursive = skip_name("recursive");
  ++loops_;
  node.body = parse_body({"else", "endfor"});
  --loops_;
  if (next().text == "else") node.otherwise = parse_body_of("endfor");
  --scopes_;
  return node;
}

void Parser::parse_set(Body& body, Position where) {
  Target target = parse_target({}, true);
  if (loops_ > 0) forbid_loop(target);
  if (skip_op("=")) {
    ExprPtr value = parse_tuple(true, false);
    note_store(target);
    body.push_back({where, Set{std::move(target), std::move(value)}});
    return;
  }
  note_store(target);
  ++scopes_;
  ExprPtr filter;
  while (skip_op("|")) filter = parse_filter(std::move(filter));
  body.push_back({where, SetBlock{std::move(target), std::move(filter), parse_body_of("endset")}});
  --scopes_;
}

With Parser::parse_with() {
  With node;
  while (current().kind != TokenKind::kBlockEnd) {
    if (!node.bindings.empty()) expect_op(",");
    Target target = parse_target({}, false);
    expect_op("=");
    ExprPtr value = parse_expression();
    node.bindings.emplace_back(std::move(target), std::move(value));
  }
  node.body = parse_scope_of("endwith");
  return node;
}

void Parser::parse_signature(Signature& signature) {
  expect_op("(");
  while (!is_op(")")) {
    if (!signature.parameters.empty()) expect_op(",");
    const Position where = current().where;
    const auto parameter = parse_plain_target();
    if (std::ranges::find(signature.parameters, parameter) != signature.parameters.end()) {
      raise_at(where, "duplicate argument '{}'", parameter.second);
    }
    if (skip_op("=")) {
      signature.defaults.push_back(parse_expression());
    } else if (!signature.defaults.empty()) {
      raise_at(where, "non-default argument follows default argument");
    }
    signature.parameters.push_back(parameter);
  }
  expect_op(")");
}

Body Parser::parse_callable_body(Signature& signature, std::string_view end) {
  const uint32_t loops = std::exchange(loops_, 0);
  const std::vector<uint32_t> before = mentions_;
  Body body = parse_scope_of(end);
  loops_ = loops;
  const auto mentioned = [&](Symbol s) {
    const bool parameter =
        std::ranges::any_of(signature.parameters, [&](const auto& p) { return p.first == s; });
    return !parameter && mentions_[s] > before[s];
  };
  signature.uses_caller = mentioned(kCallerSymbol);
  signature.uses_kwargs = mentioned(kKwargsSymbol);
  signature.uses_varargs = mentioned(kVarargsSymbol);
  return body;
}

MacroDefinition Parser::parse_macro() {
  MacroDefinition node;
  std::tie(node.symbol, node.name) = parse_plain_target();
  note_store(node.symbol);
  ++scopes_;
  parse_signature(node.signature);
  --scopes_;
  node.body = parse_callable_body(node.signature, "endmacro");
  return node;
}

CallBlock Parser::parse_call_block() {
  CallBlock node;
  node.caller.symbol = kCallerSymbol;
  node.caller.name = "caller";
  if (is_op("(")) parse_signature(node.caller.signature);
  const Position where = current().where;
  node.call = parse_expression();
  if (!std::holds_alternative<Call>(node.call->node)) raise_at(where, "expected call");
  node.caller.body = parse_callable_body(node.caller.signature, "endcall");
  return node;
}

ScopeBlock Parser::parse_block() {
  const Token& name = expect(TokenKind::kName);
  if (std::ranges::find(block_names_, name.text) != block_names_.end()) {
    raise_at(name.where, "block '{}' defined twice", name.text);
  }
  block_names_.push_back(name.text);
  skip_name("scoped");
  if (skip_name("required")) raise_at(name.where, "Required block '{}' not found", name.text);
  const uint32_t loops = std::exchange(loops_, 0);
  ScopeBlock node{parse_scope_of("endblock"), nullptr};
  loops_ = loops;
  skip_name(name.text);
  return node;
}

// ---- assignment targets ----

std::pair<Symbol, std::string_view> Parser::parse_plain_target() {
  const Token& token = expect(TokenKind::kName);
  for (const std::string_view constant : {"true", "True", "false", "False", "none", "None"}) {
    if (token.text == constant) raise_at(token.where, "can't assign to '{}'", constant);
  }
  return {symbol(token.text), token.text};
}

Target Parser::parse_target_item(bool with_namespace) {
  const Deeper deeper(*this);
  const Position where = current().where;
  if (skip_op("(")) {
    Target target;
    target.where = where;
    std::vector<Target> items;
    bool tuple = false;
    while (!is_op(")")) {
      items.push_back(parse_target_item(false));
      if (!skip_op(",")) break;
      tuple = true;
    }
    expect_op(")");
    if (!tuple && items.size() == 1) return std::move(items[0]);
    return {where, std::move(items)};
  }
  const auto [symbol, name] = parse_plain_target();
  if (with_namespace && skip_op(".")) {
    return {where, NamespaceTarget{symbol, name, expect(TokenKind::kName).text}};
  }
  return {where, symbol};
}

void Parser::note_store(Symbol symbol) {
  // A name set under a condition keeps the caller's value until then.
  if (scopes_ == 0 && top_level_.insert(symbol).second && conditions_ == 0) own_.push_back(symbol);
}

void Parser::note_store(const Target& target) {
  if (const auto* items = std::get_if<std::vector<Target>>(&target.to)) {
    for (const Target& item : *items) note_store(item);
  } else if (const auto* symbol = std::get_if<Symbol>(&target.to)) {
    note_store(*symbol);
  }
}

void Parser::forbid_loop(const Target& target) const {
  if (const auto* items = std::get_if<std::vector<Target>>(&target.to)) {
    for (const Target& item : *items) forbid_loop(item);
  } else if (const auto* symbol = std::get_if<Symbol>(&target.to);
             symbol != nullptr && *symbol == kLoopSymbol) {
    raise_at(target.where, "Can't assign to special loop variable in for-loop");
  }
}

Target Parser::parse_target(std::string_view end_name, bool with_namespace) {
  const Position where = current().where;
  std::vector<Target> items;
  bool tuple = false;
  while (true) {
    if (current().kind == TokenKind::kBlockEnd || is_op(")") || (!end_name.empty() && is_name(end_name)))
      break;
    items.push_back(parse_target_item(with_namespace));
    if (!skip_op(",")) break;
    tuple = true;
  }
  if (items.empty()) unexpected();
  if (!tuple) return std::move(items[0]);
  return {where, std::move(items)};
}

}  // namespace reprise::jinja
