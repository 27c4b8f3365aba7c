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

TEST(EventQueueDeathTest, NothingFollowsFinished) {
  EventQueue queue;
  queue.push(Finished{});
  EXPECT_DEATH(queue.push(Started{}), "event after Finished");
}

}  // namespace
}  // namespace reprise
