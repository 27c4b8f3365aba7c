#include <gtest/gtest.h>

#include "core/event_queue.h"

namespace reprise {
namespace {

TEST(EventQueue, WakesOnceAndKeepsOrder) {
  EventQueue queue(2);
  int woken = 0;
  queue.on_ready([&] { ++woken; });
  EXPECT_EQ(woken, 0);
  queue.push(Started{3});
  queue.push(Tokens{});
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(queue.full());
  queue.push(Finished{});  // accepted although full
  queue.on_ready([&] { ++woken; });
  EXPECT_EQ(woken, 2) << "an event is waiting: called at once";
  EXPECT_EQ(std::get<Started>(*queue.try_pop()).cached_tokens, 3u);
  EXPECT_TRUE(std::holds_alternative<Tokens>(*queue.try_pop()));
  EXPECT_TRUE(std::holds_alternative<Finished>(*queue.try_pop()));
  EXPECT_FALSE(queue.try_pop());
}

TEST(EventQueue, TellsWhenAFullQueueIsHalfRead) {
  int spaces = 0;
  EventQueue queue(4, [&] { ++spaces; });
  const auto push = [&](int n) {
    for (int i = 0; i < n; ++i) queue.push(Tokens{});
  };
  const auto pop = [&](int n) {
    for (int i = 0; i < n; ++i) EXPECT_TRUE(queue.try_pop());
  };
  push(3);
  pop(3);
  EXPECT_EQ(spaces, 0) << "it was never full";
  push(4);
  EXPECT_TRUE(queue.full());
  pop(1);
  EXPECT_FALSE(queue.full());
  EXPECT_EQ(spaces, 0);
  pop(1);
  EXPECT_EQ(spaces, 1);
  pop(2);
  EXPECT_EQ(spaces, 1);
  push(5);
  pop(3);
  EXPECT_EQ(spaces, 2);
}

TEST(EventQueueDeathTest, NothingFollowsFinished) {
  EventQueue queue;
  queue.push(Finished{});
  EXPECT_DEATH(queue.push(Started{}), "event after Finished");
}

}  // namespace
}  // namespace reprise
