// Tokens to AST, after jinja2's grammar. Throws Failure with a position.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"
#include "text/jinja/scopes.h"

namespace reprise::jinja {

Template parse_template(std::string_view source);

// Recursive descent; statements in parser.cc, expressions in parser_expression.cc.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens, SourceText& text);

  void parse_all(Template& result);

 private:
  class Deeper;  // guards the recursion of the parser itself

  // ---- token stream ----
  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& next();
  bool is_op(std::string_view op) const { return is(current(), TokenKind::kOperator, op); }
  bool is_name(std::string_view name) const { return is(current(), TokenKind::kName, name); }
  static bool is(const Token& t, TokenKind kind, std::string_view text) {
    return t.kind == kind && t.text == text;
  }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect_name(std::string_view name);
  const Token& expect(TokenKind kind);
  [[noreturn]] void unexpected() const;

  // ---- statements ----
  using Ends = std::initializer_list<std::string_view>;
  void parse_into(Body& body, Ends ends);
  Body parse_body(Ends ends);  // from the end of a tag to one of `ends`, which is left as current name
  Body parse_body_of(std::string_view end);   // and drops it
  Body parse_scope_of(std::string_view end);  // the same for a body with variables of its own
  void parse_statement(Body& body);
  If parse_if();
  For parse_for();
  void parse_set(Body& body, Position where);
  With parse_with();
  MacroDefinition parse_macro();
  CallBlock parse_call_block();
  ScopeBlock parse_block();
  Print parse_print_item();
  Unloadable parse_unloadable();
  void define_call_variables();
  void parse_signature(Signature& signature);
  // The body of something called later: no loop to break from; notes which special names it mentions.
  Body parse_callable_body(Signature& signature, std::string_view end);

  Target parse_target(std::string_view end_name, bool with_namespace);
  Target parse_target_item(bool with_namespace);
  std::string_view parse_plain_target();
  void forbid_loop(const Target& target) const;  // jinja2 keeps `loop` read-only inside loops

  // ---- expressions ----
  ExprPtr parse_expression(bool with_conditional = true);
  ExprPtr parse_tuple(bool with_conditional, bool parenthesized, std::string_view end_name = {});
  ExprPtr parse_conditional();
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_logical(std::string_view word, bool is_and, ExprPtr (Parser::*parse_operand)());
  ExprPtr parse_not();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr parse_primary();
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr e);
  ExprPtr parse_filters(ExprPtr e);  // filters, tests and calls
  ExprPtr parse_subscript(ExprPtr e);
  ExprPtr parse_call(ExprPtr e);
  ExprPtr parse_filter(ExprPtr operand);
  ExprPtr parse_test(ExprPtr operand);
  Arguments parse_arguments();
  std::string_view parse_dotted_name();

  template <typename Node>
  ExprPtr make(Position where, Extent children, Node node);
  ExprPtr make_name(Position where, std::string_view name);

  void unknown(Position where, std::string_view what, std::string_view name);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  SourceText& text_;
  Scopes scopes_;
  std::vector<uint32_t> mentions_;  // how often each of the special symbols was read
  std::vector<std::string_view> block_names_;
  // Unknown filters and tests: an error, unless they stand where a condition may keep them from being used.
  std::vector<Failure> unknown_;
  uint32_t depth_ = 0;
  uint32_t loops_ = 0;  // loops around that break may leave
};

}  // namespace reprise::jinja
