// Statements. A body is parsed up to a tag whose name is one of its ends, as jinja2 does.
#include "text/jinja/parser.h"

#include <algorithm>

#include "text/jinja/extent.h"
#include "text/jinja/parser_depth.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

template <typename Node>
void add(Body& body, Position where, Node node) {
  body.extent = body.extent + extent(node) + Extent{0, 1};
  body.statements.push_back({where, std::move(node)});
}

}  // namespace

Template parse_template(std::string_view source) {
  Template result;
  result.text = normalize(source);
  Parser(tokenize(*result.text), *result.text).parse_all(result);
  return result;
}

Parser::Parser(std::vector<Token> tokens, SourceText& text)
    : tokens_(std::move(tokens)), text_(text), mentions_(kFirstFreeSymbol) {}

void Parser::parse_all(Template& result) {
  parse_into(result.body, {});
  if (!unknown_.empty()) throw unknown_.front();
  scopes_.finish(result);
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
  const std::string_view text = current().text;
  raise_at(current().where, "unexpected '{}'", text.substr(0, unicode::offset(text, 40)));
}

// ---- statements ----

void Parser::parse_into(Body& body, Ends ends) {
  while (true) {
    const Token& token = current();
    switch (token.kind) {
      case TokenKind::kData:
        add(body, token.where, Text{token.text});
        next();
        break;
      case TokenKind::kVariableBegin: {
        next();
        ExprPtr value = parse_tuple(true, false);
        add(body, token.where, Print{std::move(value)});
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
  const Scopes::Inside inside(scopes_);
  Body body = parse_body_of(end);
  body.scope = scopes_.current();
  return body;
}

void Parser::parse_statement(Body& body) {
  const Deeper deeper(*this);
  const Token& token = expect(TokenKind::kName);
  const std::string_view tag = token.text;
  const Position where = token.where;
  if (tag == "if") return add(body, where, parse_if());
  if (tag == "for") return add(body, where, parse_for());
  if (tag == "set") return parse_set(body, where);
  if (tag == "with") return add(body, where, parse_with());
  if (tag == "macro") return add(body, where, parse_macro());
  if (tag == "call") return add(body, where, parse_call_block());
  if (tag == "block") return add(body, where, parse_block());
  if (tag == "filter") {
    ExprPtr filter = parse_filter(nullptr);
    if (is_op("|")) filter = parse_filters(std::move(filter));
    return add(body, where, FilterBlock{std::move(filter), parse_scope_of("endfilter")});
  }
  if (tag == "generation") return add(body, where, ScopeBlock{parse_scope_of("endgeneration"), nullptr});
  if (tag == "autoescape") {
    ExprPtr value = parse_expression();
    return add(body, where, ScopeBlock{parse_scope_of("endautoescape"), std::move(value)});
  }
  if (tag == "break" || tag == "continue") {
    if (loops_ == 0) raise_at(where, "'{}' outside of a loop", tag);
    if (tag == "break") return add(body, where, Break{});
    return add(body, where, Continue{});
  }
  if (tag == "print") {
    for (bool first = true; current().kind != TokenKind::kBlockEnd; first = false) {
      if (!first) expect_op(",");
      add(body, where, Print{parse_expression()});
    }
    return;
  }
  if (tag == "include" || tag == "import" || tag == "from" || tag == "extends") {
    while (current().kind != TokenKind::kBlockEnd && current().kind != TokenKind::kEnd) next();
    return add(body, where, Unloadable{tag});
  }
  raise_at(where, "Encountered unknown tag '{}'", tag);
}

If Parser::parse_if() {
  const size_t unknown_before = unknown_.size();
  If node;
  const Scopes::Condition condition(scopes_);
  while (true) {
    ExprPtr test = parse_tuple(false, false);
    Body body = parse_body({"elif", "else", "endif"});
    node.branches.push_back({std::move(test), std::move(body)});
    const std::string_view tag = next().text;
    if (tag == "elif") continue;
    if (tag == "else") node.branches.push_back({nullptr, parse_body_of("endif")});
    break;
  }
  unknown_.resize(unknown_before);
  return node;
}

For Parser::parse_for() {
  For node;
  const size_t start = at_;
  node.target = parse_target("in", false);
  forbid_loop(node.target);
  expect_name("in");
  node.iterable = parse_tuple(false, false, "recursive");
  if (skip_name("if")) {
    const Scopes::Inside inside(scopes_);
    const size_t here = std::exchange(at_, start);
    Target target = parse_target("in", false);
    at_ = here;
    scopes_.define(target);
    node.condition.emplace(std::move(target), parse_expression(), scopes_.current());
  }
  node.recursive = skip_name("recursive");
  ++loops_;
  {
    const Scopes::Inside inside(scopes_);
    const uint32_t mentions = mentions_[kLoopSymbol];
    scopes_.define(kLoopSymbol);  // in For::kLoopSlot, the first
    scopes_.define(node.target);
    node.set_anew = scopes_.size();
    node.body = parse_body({"else", "endfor"});
    node.body.scope = scopes_.current();
    node.uses_loop = mentions_[kLoopSymbol] != mentions;
  }
  --loops_;
  if (next().text == "else") node.otherwise = parse_scope_of("endfor");
  return node;
}

void Parser::parse_set(Body& body, Position where) {
  Target target = parse_target({}, true);
  if (loops_ > 0) forbid_loop(target);
  if (skip_op("=")) {
    ExprPtr value = parse_tuple(true, false);
    scopes_.store(target);
    add(body, where, Set{std::move(target), std::move(value)});
    return;
  }
  scopes_.store(target);
  ExprPtr filter;
  while (skip_op("|")) filter = parse_filter(std::move(filter));
  add(body, where, SetBlock{std::move(target), std::move(filter), parse_scope_of("endset")});
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
  const Scopes::Inside inside(scopes_);
  for (auto& [target, value] : node.bindings) scopes_.define(target);
  node.body = parse_body_of("endwith");
  node.body.scope = scopes_.current();
  return node;
}

// In Signature::kCallerSlot and so on: the first of the scope.
void Parser::define_call_variables() {
  for (const Symbol symbol : {kCallerSymbol, kKwargsSymbol, kVarargsSymbol}) scopes_.define(symbol);
}

void Parser::parse_signature(Signature& signature) {
  expect_op("(");
  while (!is_op(")")) {
    if (!signature.parameters.empty()) expect_op(",");
    const Position where = current().where;
    const std::string_view name = parse_plain_target();
    const auto same = std::ranges::find(signature.parameters, name, &Signature::Parameter::name);
    if (same != signature.parameters.end()) raise_at(where, "duplicate argument '{}'", name);
    if (skip_op("=")) {
      signature.defaults.push_back(parse_expression());
    } else if (!signature.defaults.empty()) {
      raise_at(where, "non-default argument follows default argument");
    }
    signature.parameters.push_back({name, scopes_.define(scopes_.symbol(name))});
  }
  expect_op(")");
}

Body Parser::parse_callable_body(Signature& signature, std::string_view end) {
  const uint32_t loops = std::exchange(loops_, 0);
  const std::vector<uint32_t> before = mentions_;
  Body body = parse_body_of(end);
  body.scope = scopes_.current();
  loops_ = loops;
  const auto mentioned = [&](Symbol s) {
    const bool parameter =
        std::ranges::any_of(signature.parameters, [&](const auto& p) { return scopes_.symbol(p.name) == s; });
    return !parameter && mentions_[s] > before[s];
  };
  signature.uses_caller = mentioned(kCallerSymbol);
  signature.uses_kwargs = mentioned(kKwargsSymbol);
  signature.uses_varargs = mentioned(kVarargsSymbol);
  return body;
}

MacroDefinition Parser::parse_macro() {
  MacroDefinition node;
  node.name = parse_plain_target();
  node.slot = scopes_.store(scopes_.symbol(node.name));
  const Scopes::Inside inside(scopes_);
  define_call_variables();
  parse_signature(node.signature);
  node.body = parse_callable_body(node.signature, "endmacro");
  return node;
}

CallBlock Parser::parse_call_block() {
  CallBlock node;
  node.caller.name = "caller";
  const Scopes::Inside inside(scopes_);
  define_call_variables();
  if (is_op("(")) parse_signature(node.caller.signature);
  const Position where = current().where;
  {
    const Scopes::Outside outside(scopes_);  // what is called is seen from around the block
    node.call = parse_expression();
  }
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

std::string_view Parser::parse_plain_target() {
  const Token& token = expect(TokenKind::kName);
  for (const std::string_view constant : {"true", "True", "false", "False", "none", "None"}) {
    if (token.text == constant) raise_at(token.where, "can't assign to '{}'", constant);
  }
  return token.text;
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
  const std::string_view name = parse_plain_target();
  if (with_namespace && skip_op(".")) {
    ExprPtr object = make_name(where, name);
    return {where, NamespaceTarget{std::move(object), MemberName(expect(TokenKind::kName).text)}};
  }
  return {where, VariableTarget{scopes_.symbol(name)}};
}

void Parser::forbid_loop(const Target& target) const {
  if (const auto* items = std::get_if<std::vector<Target>>(&target.to)) {
    for (const Target& item : *items) forbid_loop(item);
  } else if (const auto* variable = std::get_if<VariableTarget>(&target.to);
             variable != nullptr && variable->symbol == kLoopSymbol) {
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
