#include "text/tokenizer/pipeline_tokenizer.h"

#include <algorithm>

#include "text/utf8.h"

namespace reprise {
namespace {

// Is [begin, end) inside one of `spans`, or of several that touch?
bool covered(std::span<const TextSpan> spans, size_t begin, size_t end) {
  auto span = std::ranges::upper_bound(spans, begin, {}, &TextSpan::end);
  if (span == spans.end() || span->begin > begin) return false;
  size_t reached = span->end;
  for (++span; reached < end && span != spans.end() && span->begin <= reached; ++span) reached = span->end;
  return reached >= end;
}

}  // namespace

std::vector<TokenId> PipelineTokenizer::encode(std::string_view text, EncodeOptions options) const {
  using Stage = AddedTokens::Stage;
  std::vector<TokenId> out;
  out.reserve(text.size() / 3 + 2);
  if (options.add_bos_eos) out = stages_.prefix;

  const bool spans = options.parse_special && options.control_spans.has_value();
  std::string repaired;
  std::vector<TextSpan> repaired_spans;
  if (!stages_.any_bytes && !is_utf8(text)) {
    // Spans are of the text as it was: repaired one by one, which a broken character across a border
    // survives.
    if (spans) {
      size_t done = 0;
      for (const TextSpan& span : *options.control_spans) {
        repaired += as_utf8(text.substr(done, span.begin - done));
        const size_t begin = repaired.size();
        repaired += as_utf8(text.substr(span.begin, span.end - span.begin));
        repaired_spans.push_back({begin, repaired.size()});
        done = span.end;
      }
      repaired += as_utf8(text.substr(done));
      options.control_spans = repaired_spans;
    } else {
      repaired = as_utf8(text);
    }
    text = repaired;
  }

  const AddedTokens::MayControl by_spans = [&](size_t begin, size_t end) {
    return covered(*options.control_spans, begin, end);
  };
  const AddedTokens::MayControl all_or_none = [&](size_t, size_t) { return options.parse_special; };
  const AddedTokens::MayControl none = [](size_t, size_t) { return false; };
  const auto model = [&](std::string_view part, bool at_start) {
    stages_.model->encode(part, at_start, stages_.pretokenizer, out);
  };

  stages_.added.split(spans ? Stage::kTextAndControl : Stage::kText, text, spans ? by_spans : all_or_none,
                      [&](AddedTokens::Part part) {
                        if (part.token >= 0) {
                          out.push_back(part.token);
                          return;
                        }
                        const bool at_start = part.text.data() == text.data();
                        if (stages_.normalizer.empty() && stages_.added.empty(Stage::kNormalizedText)) {
                          model(part.text, at_start);
                          return;
                        }
                        const std::string normalized = stages_.normalizer(part.text);
                        stages_.added.split(Stage::kNormalizedText, normalized, spans ? none : all_or_none,
                                            [&](AddedTokens::Part inner) {
                                              if (inner.token >= 0) {
                                                out.push_back(inner.token);
                                              } else {
                                                model(inner.text,
                                                      at_start && inner.text.data() == normalized.data());
                                              }
                                            });
                      });
  if (options.add_bos_eos) out.insert(out.end(), stages_.suffix.begin(), stages_.suffix.end());
  return out;
}

std::string PipelineTokenizer::decode(TokenSpan tokens, bool with_hidden) const {
  if (!stages_.decoder) return Tokenizer::decode(tokens, with_hidden);
  std::vector<std::string> texts;
  texts.reserve(tokens.size());
  for (const TokenId token : tokens) {
    if (!stages_.texts.holds(token) || (!with_hidden && is_hidden(token))) continue;
    texts.emplace_back(stages_.texts[token]);
  }
  return (*stages_.decoder)(std::move(texts));
}

std::string_view PipelineTokenizer::bytes(TokenId token) const {
  return stages_.bytes.holds(token) ? stages_.bytes[token] : std::string_view{};
}

bool PipelineTokenizer::is_hidden(TokenId token) const {
  return stages_.bytes.holds(token) && stages_.hidden[static_cast<size_t>(token)];
}

}  // namespace reprise
