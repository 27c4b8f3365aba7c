// For tests: reads a request's events to the end, and computes what a request should answer without any
// engine.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "core/backend.h"
#include "engine/sampler/sampler.h"
#include "model/model.h"

namespace reprise::testing {

// The next event; sleeps until it comes. Throws when none comes for two minutes: the stream hangs.
inline Event next_event(EventQueue& events) {
  for (;;) {
    if (auto event = events.try_pop()) return *std::move(event);
    auto ready = std::make_shared<std::promise<void>>();
    auto future = ready->get_future();
    events.on_ready([ready] { ready->set_value(); });
    if (future.wait_for(std::chrono::minutes(2)) != std::future_status::ready)
      throw std::runtime_error("the stream hangs");
  }
}

// Scored tokens bit for bit: of each its id, its log-probability and the likeliest ones' ids and theirs.
inline void append_bits(const SampledToken& token, std::vector<uint32_t>& bits) {
  bits.insert(bits.end(), {static_cast<uint32_t>(token.token), std::bit_cast<uint32_t>(token.logprob)});
  for (const TokenLogprob& top : token.top)
    bits.insert(bits.end(), {static_cast<uint32_t>(top.token), std::bit_cast<uint32_t>(top.logprob)});
}

struct Outcome {
  std::vector<TokenId> tokens;
  std::vector<uint32_t> scores;  // of the prompt, as append_bits writes them
  int started = 0;
  Finished finished;
};

// Reads until Finished and checks the order of events.
inline Outcome read_all(EventQueue& events) {
  Outcome outcome;
  for (;;) {
    Event event = next_event(events);
    if (std::holds_alternative<Started>(event)) {
      EXPECT_EQ(++outcome.started, 1);
      EXPECT_TRUE(outcome.tokens.empty());
    } else if (const auto* tokens = std::get_if<Tokens>(&event)) {
      EXPECT_EQ(outcome.started, 1);
      EXPECT_FALSE(tokens->tokens.empty());
      for (const SampledToken& token : tokens->tokens) outcome.tokens.push_back(token.token);
    } else if (const auto* prompt = std::get_if<PromptTokens>(&event)) {
      EXPECT_EQ(outcome.started, 1);
      EXPECT_TRUE(outcome.tokens.empty() && !prompt->tokens.empty());
      for (const SampledToken& token : prompt->tokens) append_bits(token, outcome.scores);
    } else {
      outcome.finished = std::get<Finished>(std::move(event));
      EXPECT_FALSE(events.try_pop().has_value()) << "Finished is last";
      return outcome;
    }
  }
}

// `g` computed by the model alone: no scheduler, no cache, no pages shared, no chunks, no batch.
struct Alone {
  std::vector<TokenId> tokens;
  std::vector<uint32_t> scores;
};
inline Alone compute_all_alone(Model& model, const Generation& g) {
  const KvSpec spec = model.kv_spec();
  std::vector<TokenId> tokens = g.prompt;
  std::array<std::vector<kernels::Buffer>, kMaxKvGroups> memory;
  std::array<std::vector<std::byte*>, kMaxKvGroups> pages;
  SequenceRows rows;
  for (size_t group = 0; group < spec.groups.size(); ++group) {
    for (size_t i = 0; i <= (g.prompt.size() + g.max_tokens) / spec.page_tokens; ++i) {
      memory[group].emplace_back(spec.groups[group].page_bytes);
      pages[group].push_back(memory[group].back().data());
    }
    rows.pages[group] = pages[group];
  }
  Activations activations;
  Sampler sampler;
  std::vector<float> logits(model.vocabulary_size());
  Alone alone;
  std::vector<TokenId>& output = alone.tokens;
  if (g.prompt_logprobs >= 0) {
    rows.tokens = tokens;
    rows.position = 0;
    model.forward({{&rows, 1}, 0, model.layers()}, activations);
    for (uint32_t row = 0; row + 1 < activations.rows; ++row) {
      model.logits(activations, {&row, 1}, logits.data());
      append_bits(sampler.score(logits, tokens[row + 1], g.prompt_logprobs).value(), alone.scores);
    }
  }
  for (size_t done = 0; output.size() < g.max_tokens;) {
    rows.tokens = TokenSpan(tokens).subspan(done);
    rows.position = static_cast<uint32_t>(done);
    model.forward({{&rows, 1}, 0, model.layers()}, activations);
    const uint32_t last = activations.rows - 1;
    model.logits(activations, {&last, 1}, logits.data());
    const TokenSpan banned = output.size() < g.min_tokens ? TokenSpan(g.stop_tokens) : TokenSpan();
    const auto sampled =
        sampler.sample(logits, {tokens, static_cast<uint32_t>(g.prompt.size()), &g.sampling, banned});
    if (!sampled || std::ranges::count(g.stop_tokens, sampled->token)) break;
    output.push_back(sampled->token);
    done = tokens.size();
    tokens.push_back(sampled->token);
  }
  return alone;
}
inline std::vector<TokenId> compute_alone(Model& model, const Generation& g) {
  return compute_all_alone(model, g).tokens;
}

}  // namespace reprise::testing
