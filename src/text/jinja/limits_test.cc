// What a hostile or broken template may not do: budgets, depth, errors with a position.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/jinja/template.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

using testing::HasSubstr;

Result<std::string> render(std::string_view source, const Limits& limits = {}) {
  const auto compiled = Compiled::compile(source);
  if (!compiled) return std::unexpected(compiled.error());
  auto rendered = compiled->render({}, 0, limits);
  if (!rendered) return std::unexpected(rendered.error());
  return std::move(rendered->text);
}

// Small budgets, to keep the test quick; what they bound is the same code.
constexpr Limits kSmall{
    .instructions = 2'000'000, .heap_bytes = size_t{32} << 20, .output_bytes = size_t{8} << 20};

void expect_too_large(std::string_view source, const Limits& limits = kSmall) {
  const auto result = render(source, limits);
  ASSERT_FALSE(result) << source.substr(0, 100);
  EXPECT_EQ(result.error().kind, ErrorKind::kTooLarge)
      << source.substr(0, 100) << ": " << result.error().message;
}

std::string repeat(std::string_view s, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += s;
  return out;
}

TEST(JinjaLimits, LoopsEnd) {
  expect_too_large("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}");
  expect_too_large("{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}",
                   {.instructions = 100'000});
  expect_too_large("{{ range(1000000) }}");
  expect_too_large("{% for a in range(10) %}{{ range(99999)|sum }}{% endfor %}", {.instructions = 500'000});
}

TEST(JinjaLimits, DefaultBudgetsHold) {
  expect_too_large("{{ 'x' * 1000000000 }}", {});
  expect_too_large("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", {});
}

TEST(JinjaLimits, GrowthEnds) {
  expect_too_large("{{ 'x' * 1000000000 }}");
  expect_too_large("{{ ('x' * 1000) * 1000000 }}");
  expect_too_large("{{ [1] * 1000000000 }}");
  expect_too_large("{{ 'x'.center(10000000000) }}");
  expect_too_large("{{ 'x'.zfill(1000000000) }}");
  expect_too_large("{{ '%1000000000d' % 1 }}");
  expect_too_large("{{ '{:1000000000}'.format(1) }}");
  expect_too_large("{{ '%.1000000f' % 1.5 }}");
  expect_too_large("{{ 'x'|indent(1000000000, true) }}");
  expect_too_large("{{ [1]|tojson(indent=1000000000) }}");
  expect_too_large("{{ [[1]]|batch(1000000000, 0)|list }}");
  expect_too_large("{{ ('a' * 20000).replace('a', 'b' * 20000) }}");
  expect_too_large("{{ ('a' * 20000).replace('', 'b' * 20000) }}");
  expect_too_large("{{ ('b' * 20000).join('a' * 20000) }}");
  expect_too_large("{{ 2 ** 1000 }}");
  expect_too_large("{{ 9999999999 * 9999999999 }}");
  expect_too_large(
      "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}");
  expect_too_large("{% for i in range(1000) %}{{ 'x' * 100000 }}{% endfor %}");
  // Shared structure whose text is exponential.
  expect_too_large(
      "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ "
      "ns.l }}");
  expect_too_large(
      "{% set a = namespace(l=[1]) %}{% set b = namespace(l=[1]) %}{% for i in range(60) %}{% set a.l = "
      "[a.l, a.l] %}"
      "{% set b.l = [b.l, b.l] %}{% endfor %}{{ a.l == b.l }}");
}

TEST(JinjaLimits, RecursionEnds) {
  expect_too_large("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
  expect_too_large(
      "{% set l = [1] %}{% set _ = l.append(l) %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}");
  expect_too_large("{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}");
  expect_too_large(
      "{% set ns = namespace(l=[]) %}{% for i in range(5000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l "
      "}}");
  for (const std::string_view open :
       {"(", "[", "{'a':", "-", "not ", "x(", "x[", "1 if x else ", "x is eq "}) {
    EXPECT_FALSE(render("{{ " + repeat(open, 20000) + " }}")) << open;
  }
  for (const std::string_view link : {".a", "[0]", "()", "|list", " + 1", " ** 1"}) {
    EXPECT_FALSE(render("{{ x" + repeat(link, 20000) + " }}")) << link;
  }
  EXPECT_FALSE(render(repeat("{% if x %}", 20000)));
  EXPECT_FALSE(render("{% for " + repeat("(", 20000) + " %}"));
  EXPECT_FALSE(render("{{ '" + repeat("{:", 20000) + "'.format(1) }}"));
}

TEST(JinjaLimits, LongChainsThatNeedNoDepthWork) {
  EXPECT_EQ(render("{{ 'a'" + repeat(" ~ 'a'", 20000) + " }}").value().size(), 20001u);
  EXPECT_EQ(render("{{ 1" + repeat(" and 1", 20000) + " }}").value(), "1");
  EXPECT_EQ(render("{% if 0 %}" + repeat("{% elif 0 %}", 20000) + "{% else %}x{% endif %}").value(), "x");
}

TEST(JinjaLimits, RepeatedConcatenationCostsLinearMemory) {
  const Limits limits{.heap_bytes = size_t{8} << 20};
  const auto result = render(
      "{% set ns = namespace(s='') %}{% for i in range(2000) %}{% set ns.s = ns.s + ('y' * 500) %}{% endfor "
      "%}"
      "{{ ns.s|length }}",
      limits);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, "1000000");
}

TEST(JinjaLimits, ExtendingAStringLeavesOtherViewsAlone) {
  EXPECT_EQ(render("{% set a = 'x' + 'y' %}{% set b = a + '1' %}{% set c = a + '2' %}{{ [a, b, c, a + '3', b "
                   "+ '4'] }}")
                .value(),
            "['xy', 'xy1', 'xy2', 'xy3', 'xy14']");
}

TEST(JinjaErrors, NameLineAndColumn) {
  const auto at_runtime = render("a\nb {{ 1 + none }}");
  ASSERT_FALSE(at_runtime);
  EXPECT_EQ(at_runtime.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(at_runtime.error().message, HasSubstr("line 2, column 8:"));
  const auto syntax = render("x\n\n  {% if %}");
  ASSERT_FALSE(syntax);
  EXPECT_THAT(syntax.error().message, HasSubstr("line 3, column 9:"));
  EXPECT_THAT(render("{{ missing.x }}").error().message, HasSubstr("'missing' is undefined"));
  EXPECT_THAT(render("{{ 1|nope }}").error().message, HasSubstr("No filter named 'nope'"));
}

TEST(JinjaErrors, QuoteWholeCharacters) {
  std::vector<std::string> sources = {"{{ '%\u65e5' % 1 }}", "{{ '{!\u65e5}'.format(1) }}",
                                      "{{ '{:\u65e5}'.format(1) }}", "{{ '%.\u65e5' % 1 }}"};
  for (size_t before = 0; before < 4; ++before) {
    sources.push_back("{{ 1 '" + repeat("x", before) + repeat("\u65e5", 100) + "' }}");
  }
  for (const std::string& source : sources) {
    const auto result = render(source);
    ASSERT_FALSE(result) << source;
    EXPECT_TRUE(unicode::valid(result.error().message)) << result.error().message;
  }
}

TEST(JinjaErrors, RaiseExceptionGivesItsMessageAlone) {
  const auto result = render("{{ raise_exception('Roles must alternate!') }}");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "Roles must alternate!");
  EXPECT_EQ(result.error().kind, ErrorKind::kInvalid);
}

TEST(JinjaErrors, SourceThatIsNoUtf8IsRefused) { EXPECT_FALSE(render("\xff{{ 1 }}")); }

}  // namespace
}  // namespace reprise::jinja
