#include <atomic>
#include <fstream>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mailbox.h"
#include "base/mapped_file.h"
#include "base/result.h"
#include "base/task_pool.h"

namespace reprise {
namespace {

Result<int> half(int x) {
  if (x % 2) return invalid_param("x", "{} is odd", x);
  return x / 2;
}
Result<int> quarter(int x) { return TRY(half(TRY(half(x)))); }

TEST(Result, TryPassesValuesAndErrors) {
  EXPECT_EQ(quarter(8), 2);
  const auto bad = quarter(6);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "3 is odd");
  EXPECT_EQ(bad.error().param, "x");
}

TEST(CheckDeathTest, NamesConditionAndValues) { EXPECT_DEATH(CHECK(1 > 2, "got {}", 7), "1 > 2.*got 7"); }

TEST(TaskPool, RunsEachTaskOnceAndPublishesWrites) {
  for (int threads : {1, 2, 5}) {
    TaskPool pool(threads, /*pin=*/false);
    for (size_t tasks : {0, 1, 2, 3, 100, 1000}) {
      std::vector<int> hits(tasks, 0);  // plain ints: a data race or a lost write would show
      pool.run(tasks, [&](size_t task, int worker) {
        ASSERT_LT(worker, threads);
        ++hits[task];
      });
      EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), 0), static_cast<int>(tasks));
      for (int hit : hits) ASSERT_EQ(hit, 1);
    }
  }
}

TEST(TaskPool, ManyShortLoopsWithPauses) {
  TaskPool pool(3, /*pin=*/false);
  std::atomic<size_t> sum = 0;
  for (int loop = 0; loop < 2000; ++loop) {
    pool.run(7, [&](size_t task, int) { sum += task; });
    if (loop % 500 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // let helpers fall asleep
  }
  EXPECT_EQ(sum, 2000u * 21);
}

// More threads than CPUs: most helpers come late, to a loop that is over. None may touch it then.
TEST(TaskPool, ALateHelperFindsTheDoorClosed) {
  TaskPool pool(16, /*pin=*/false);
  std::atomic<size_t> sum = 0, strays = 0;
  for (size_t loop = 0; loop < 3000; ++loop) {
    std::atomic<bool> running = true;
    size_t results[3] = {};  // plain: a write after the loop's end would race with the sum below
    pool.run(3, [&](size_t task, int) {
      if (!running) ++strays;
      results[task] = loop + task;
    });
    running = false;
    sum += results[0] + results[1] + results[2];
  }
  EXPECT_EQ(strays, 0u);
  EXPECT_EQ(sum, 3u * (2999u * 3000u / 2) + 3000u * 3);
}

TEST(Mailbox, KeepsOrderBoundsAndWakesOnClose) {
  Mailbox<int> box(2);
  EXPECT_TRUE(box.try_push(1));
  EXPECT_TRUE(box.try_push(2));
  EXPECT_FALSE(box.try_push(3));
  EXPECT_TRUE(box.push(4));
  EXPECT_EQ(box.drain(false), (std::vector<int>{1, 2, 4}));
  EXPECT_TRUE(box.drain_for(kMillisecond).empty());
  std::thread sender([&] { box.push(5); });
  EXPECT_EQ(box.drain_for(100 * kSecond), (std::vector<int>{5}));
  sender.join();
  std::thread closer([&] { box.close(); });
  EXPECT_TRUE(box.drain(true).empty());
  closer.join();
  EXPECT_FALSE(box.push(5));
}

TEST(MappedFile, ReadsAndRefuses) {
  const auto dir = std::filesystem::path(testing::TempDir());
  std::ofstream(dir / "mapped") << "hello";
  auto file = MappedFile::open(dir / "mapped");
  ASSERT_TRUE(file);
  MappedFile moved = std::move(*file);
  EXPECT_EQ(moved.bytes().size(), 5u);
  EXPECT_EQ(static_cast<char>(moved.bytes()[4]), 'o');
  std::ofstream(dir / "empty").flush();
  EXPECT_FALSE(MappedFile::open(dir / "empty"));
  EXPECT_FALSE(MappedFile::open(dir));
  const auto missing = MappedFile::open(dir / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
}

TEST(Hash, SeedAndContentMatter) {
  const std::vector<int32_t> a = {1, 2}, b = {2, 1};
  EXPECT_NE(hash(std::span<const int32_t>(a)), hash(std::span<const int32_t>(b)));
  EXPECT_NE(hash("x", 1), hash("x", 2));
  EXPECT_EQ(hash("x", 1), hash("x", 1));
}

}  // namespace
}  // namespace reprise
