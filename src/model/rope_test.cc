#include "model/rope.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/gguf.h"
#include "model/testing/gguf_writer.h"

namespace reprise {
namespace {

using Scaling = RopeConfig::Scaling;
using ::testing::HasSubstr;

TEST(Rope, PlainFrequenciesAndAngles) {
  Rope rope({.rotary = 8, .base = 10000});
  ASSERT_EQ(rope.frequencies().size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(rope.frequencies()[i], std::pow(10000.0, -i / 4.0), 1e-15);
  float cos[8], sin[8];
  rope.angles(5, 2, cos, sin);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(cos[4 + i], std::cos(6 * rope.frequencies()[i]));
    EXPECT_FLOAT_EQ(sin[i], std::sin(5 * rope.frequencies()[i]));
  }
  float again[8], sin_again[8];
  rope.angles(5, 2, again, sin_again);
  EXPECT_EQ(0, std::memcmp(cos, again, sizeof cos));
}

// The correction bounds of facts known from published models: rotary 64, base 50000, beta 32 and 1, original
// 4096 -> low 8, high 20 (Kimi K2.5); magnitude 0.1 ln 64 + 1.
TEST(Rope, YarnRampsBetweenTheCorrectionBounds) {
  const RopeConfig config{
      .rotary = 64, .base = 50000, .scaling = Scaling::kYarn, .factor = 64, .original_context = 4096};
  const Rope rope(config);
  const auto plain = [](int i) { return std::pow(50000.0, -2.0 * i / 64); };
  for (int i = 0; i <= 8; ++i) EXPECT_NEAR(rope.frequencies()[i] / plain(i), 1.0, 1e-12) << i;
  for (int i = 20; i < 32; ++i) EXPECT_NEAR(rope.frequencies()[i] / plain(i), 1.0 / 64, 1e-12) << i;
  const double r = (14.0 - 8) / 12;
  EXPECT_NEAR(rope.frequencies()[14] / plain(14), (1 - r) + r / 64, 1e-12);
  EXPECT_NEAR(rope.magnitude(), 1.415888, 1e-6);
}

// ggml's rope_yarn() multiplies only where it mixes in unscaled frequencies.
// gpt-oss: its ramp goes from 8.0928 to 17.3980, and cosines and sines grow by 0.1 ln 32 + 1.
TEST(Rope, YarnMayBoundItsRampBetweenPairs) {
  const RopeConfig config{.rotary = 64,
                          .base = 150000,
                          .scaling = Scaling::kYarn,
                          .factor = 32,
                          .original_context = 4096,
                          .whole_pairs = false};
  const Rope rope(config);
  EXPECT_NEAR(rope.magnitude(), 1.346574, 1e-6);
  for (const int i : {0, 8, 9, 12, 17, 18, 31}) {
    const double ramp = std::clamp((i - 8.0928) / (17.3980 - 8.0928), 0.0, 1.0);
    const double f = std::pow(150000, -2.0 * i / 64);
    EXPECT_NEAR(rope.frequencies()[i] / (f * (1 - ramp) + f / 32 * ramp), 1, 1e-4) << i;
  }
}

TEST(Rope, YarnWithoutExtrapolationIsLinear) {
  RopeConfig config{.rotary = 8, .scaling = Scaling::kYarn, .factor = 4, .original_context = 64};
  EXPECT_GT(Rope(config).magnitude(), 1.1);
  config.extrapolation = 0;
  config.magnitude = 1.5;
  const Rope rope(config);
  EXPECT_EQ(rope.magnitude(), 1.5);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(rope.frequencies()[i], std::pow(10000.0, -i / 4.0) / 4, 1e-15);
}

// A factor that the file gives is the whole factor, whether unscaled frequencies are mixed in or not.
TEST(Rope, AGivenMagnitudeReplacesYarnsOwn) {
  RopeConfig config{.rotary = 8, .scaling = Scaling::kYarn, .factor = 4, .original_context = 64};
  config.magnitude = 1.5;
  config.yarn_magnitude = 1.25;
  EXPECT_DOUBLE_EQ(Rope(config).magnitude(), 1.5 * 1.25);
  config.extrapolation = 0;
  EXPECT_DOUBLE_EQ(Rope(config).magnitude(), 1.5 * 1.25);
  ASSERT_TRUE(override_rope_scaling(config, "yarn:2"));
  EXPECT_DOUBLE_EQ(Rope(config).magnitude(), 0.1 * std::log(2) + 1) << "another scaling has its own";
}

TEST(Rope, KeptAndComputedAnglesAreTheSame) {
  const RopeConfig config{.rotary = 6, .base = 500};
  Rope none(config), some(config, 10), all(config, 100);
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_EQ(all.bytes(), 100 * 6 * sizeof(float));
  // Within what is kept, across its end, past it, and back.
  for (const auto& [first, rows] :
       {std::pair{3u, 4u}, {0u, 10u}, {8u, 5u}, {10u, 3u}, {40u, 2u}, {5u, 1u}, {0u, 50u}}) {
    std::vector<float> cos[3], sin[3];
    Rope* ropes[] = {&none, &some, &all};
    for (int i = 0; i < 3; ++i) {
      cos[i].resize(rows * 3);
      sin[i].resize(rows * 3);
      ropes[i]->angles(first, rows, cos[i].data(), sin[i].data());
      EXPECT_EQ(cos[i], cos[0]) << first;
      EXPECT_EQ(sin[i], sin[0]) << first;
    }
    EXPECT_FLOAT_EQ(sin[2].back(), std::sin((first + rows - 1) * none.frequencies()[2]));
  }
}

TEST(Rope, LinearAndDivisors) {
  const Rope linear(
      {.rotary = 4, .base = 100, .scaling = Scaling::kLinear, .factor = 4, .original_context = 64});
  EXPECT_NEAR(linear.frequencies()[0], 0.25, 1e-15);
  EXPECT_NEAR(linear.frequencies()[1], 0.025, 1e-15);
  EXPECT_EQ(linear.magnitude(), 1.0);
  const Rope divided({.rotary = 4, .base = 100, .divisors = {1, 8}});
  EXPECT_NEAR(divided.frequencies()[1], 0.1 / 8, 1e-15);
}

TEST(Rope, OverridesParseOrSayWhatIsWanted) {
  RopeConfig config{.rotary = 4, .scaling = Scaling::kLinear, .factor = 2, .original_context = 8192};
  ASSERT_TRUE(override_rope_scaling(config, "yarn:4"));
  EXPECT_EQ(describe(config), "yarn x4 over 8192");
  ASSERT_TRUE(override_rope_scaling(config, "linear:1.5"));
  EXPECT_EQ(describe(config), "linear x1.5 over 8192");
  ASSERT_TRUE(override_rope_scaling(config, "none"));
  EXPECT_EQ(describe(config), "none");
  for (const char* bad : {"", "yarn", "yarn:", "yarn:x", "yarn:0.5", "yarn:-2", "yarn:nan", "yarn:inf",
                          "yarn:4x", "yarn:1e9", "ntk:2", "none:2", ":4"})
    EXPECT_THAT(override_rope_scaling(config, bad).error().message, HasSubstr("--rope-scaling")) << bad;
  EXPECT_EQ(describe(config), "none") << "an error leaves the configuration as it was";
}

RopeConfig parsed(const testing::GgufWriter& writer) {
  const auto bytes = writer.bytes();
  const auto file = parse_gguf(bytes);
  ModelKeys keys(*file, "llama");
  auto config = read_rope_config(keys, 64, 2048);
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : RopeConfig{};
}
std::string refusal(const testing::GgufWriter& writer) {
  const auto bytes = writer.bytes();
  const auto file = parse_gguf(bytes);
  ModelKeys keys(*file, "llama");
  const auto config = read_rope_config(keys, 64, 2048);
  return config ? "accepted" : config.error().message;
}

TEST(RopeConfig, ReadsTheKeysAndTheirDefaults) {
  const RopeConfig defaults = parsed(testing::GgufWriter());
  EXPECT_EQ(defaults.rotary, 64u);
  EXPECT_EQ(defaults.base, 10000);
  EXPECT_EQ(defaults.scaling, Scaling::kNone);
  const RopeConfig yarn = parsed(testing::GgufWriter()
                                     .put("llama.rope.scaling.type", "yarn")
                                     .put("llama.rope.scaling.factor", 8.0f)
                                     .put("llama.rope.scaling.original_context_length", 1024u)
                                     .put("llama.rope.scaling.yarn_beta_fast", 16.0f)
                                     .put("llama.rope.dimension_count", 32u));
  EXPECT_EQ(describe(yarn), "yarn x8 over 1024");
  EXPECT_EQ(yarn.beta_fast, 16);
  EXPECT_EQ(yarn.yarn_magnitude, std::nullopt);
  EXPECT_EQ(parsed(testing::GgufWriter().put("llama.rope.scaling.yarn_attn_factor", 1.25f)).yarn_magnitude,
            1.25);
  EXPECT_EQ(yarn.rotary, 32u);
  EXPECT_EQ(describe(parsed(testing::GgufWriter().put("llama.rope.scaling.factor", 2.0f))),
            "linear x2 over 2048");
  EXPECT_EQ(describe(parsed(testing::GgufWriter().put("llama.rope.scale_linear", 4.0f))),
            "linear x4 over 2048");
}

TEST(RopeConfig, RefusesByKey) {
  using testing::GgufWriter;
  EXPECT_THAT(refusal(GgufWriter().put("llama.rope.scaling.type", "longrope")), HasSubstr("\"longrope\""));
  EXPECT_THAT(refusal(GgufWriter().put("llama.rope.dimension_count", 65u)),
              HasSubstr("llama.rope.dimension_count"));
  EXPECT_THAT(refusal(GgufWriter().put("llama.rope.dimension_count", 7u)),
              HasSubstr("llama.rope.dimension_count"));
  EXPECT_THAT(refusal(GgufWriter().put("llama.rope.freq_base", 0.0f)), HasSubstr("llama.rope.freq_base"));
  EXPECT_THAT(refusal(GgufWriter().put("llama.rope.scaling.factor", 0.5f)),
              HasSubstr("llama.rope.scaling.factor"));
  EXPECT_THAT(refusal(GgufWriter().put("llama.rope.scaling.original_context_length", 0u)), HasSubstr("is 0"));
}

}  // namespace
}  // namespace reprise
