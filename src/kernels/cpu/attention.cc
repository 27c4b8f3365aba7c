// Design: the query heads that share a kv head and some consecutive positions form a tile of rows
// (position-major), so keys and values are unpacked once for all of them. The keys of a tile are cut at
// absolute multiples of 512 into parts, from the one that holds the first key of the tile's first row. A tile
// that is a small share of the whole call is one task that computes its parts in order and merges each into
// the result; a large one (a decode at depth) becomes one task a part, and a second loop merges them in the
// same order. Either way the arithmetic is: the first part, then merge the next, ..., then divide. A part
// that a row does not reach, at either end, has the state of no keys, and merging with that changes no bit
// but the sign of a zero, which the last step drops.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/drivers.h"
#include "kernels/cpu/kv_pages.h"
#include "kernels/slices.h"

namespace reprise::kernels::cpu {

namespace {
constexpr uint32_t kTileRows = 48;
constexpr float kLog2e = 1.44269504f;
constexpr size_t kSerialMerge =
    16 << 10;  // floats of parts; merging fewer takes less than another loop costs

struct Tile {
  uint32_t slice, kv_head;
  uint32_t first, positions;  // rows of the slice
  uint32_t first_part, parts;
  size_t state;  // float offset of its parts' states; unused by a tile that is one task
};
struct Task {
  uint32_t tile;
  uint32_t part;  // of the tile, from 0; kWhole: all of them
};
constexpr uint32_t kWhole = ~0u;

size_t state_floats(uint32_t rows, uint32_t dim) { return (size_t{rows} * (dim + 2) + 15) / 16 * 16; }

SoftmaxState state_at(float* memory, uint32_t rows, uint32_t dim) {
  return {memory + size_t{rows} * dim, memory + size_t{rows} * (dim + 1), memory};
}

struct Call {
  const MicroKernels& isa;
  const AttentionArgs& a;
  uint32_t group, dim;  // query heads a kv head; padded head_dim

  uint32_t rows(const Tile& t) const { return t.positions * group; }

  // Rotated queries of the tile as [row][dim], in units of base-2 scores; the keys that each row sees.
  void gather(const Tile& t, float* q, uint32_t* start, uint32_t* limit) const {
    const Slice& slice = a.slices[t.slice];
    const float unit = a.scale * kLog2e;
    for (uint32_t i = 0; i < t.positions; ++i)
      for (uint32_t h = 0; h < group; ++h, q += dim, ++start, ++limit) {
        const float* from = a.q + (slice.first_row + t.first + i) * a.q_ld +
                            (size_t{t.kv_head} * group + h) * a.shape->head_dim;
        for (uint32_t d = 0; d < a.shape->head_dim; ++d) q[d] = from[d] * unit;
        std::fill(q + a.shape->head_dim, q + dim, 0.0f);
        *start = first_key(slice.position + t.first + i, a.window);
        *limit = slice.position + t.first + i + 1;
      }
  }

  KvHead kv(const Tile& t) const {
    return kv_head(*a.shape, a.layer, t.kv_head, a.slices[t.slice].pages.data());
  }

  // Keys of a part that some row of the tile sees.
  struct Keys {
    uint32_t begin, end;
  };
  Keys keys(const Tile& t, uint32_t part) const {
    const uint32_t position = a.slices[t.slice].position + t.first, begin = (t.first_part + part) * kKvSplit;
    return {std::max(begin, first_key(position, a.window) / kKvBlock * kKvBlock),
            std::min(begin + kKvSplit, position + t.positions)};
  }

  // `next` and its `next_part`: what this thread is likely to do after this; null: not known.
  void attend(const Tile& t, uint32_t part, const float* q, const uint32_t* start, const uint32_t* limit,
              const SoftmaxState& state, float* scratch, const Tile* next, uint32_t next_part) const {
    AttentionTask task;
    task.kv = kv(t);
    task.q = q;
    task.start = start;
    task.limit = limit;
    task.rows = rows(t);
    const Keys seen = keys(t, part);
    task.begin = seen.begin;
    task.end = seen.end;
    const Keys later = next ? keys(*next, next_part) : Keys{};
    task.next = next ? kv(*next) : task.kv;
    task.next_begin = later.begin;
    task.next_end = later.end;
    task.state = state;
    task.scratch = scratch;
    isa.attend[static_cast<int>(a.shape->type)](task);
  }

  // Rows whose keys reach into `part` are a suffix (limits ascend); only they are merged with it.
  void merge(const Tile& t, uint32_t part, const SoftmaxState& into, const SoftmaxState& from) const {
    const uint32_t position = a.slices[t.slice].position + t.first;
    const uint32_t begin = (t.first_part + part) * kKvSplit;
    const uint32_t skip = position < begin ? std::min(t.positions, begin - position) * group : 0;
    const auto shifted = [&](const SoftmaxState& s) {
      return SoftmaxState{s.max + skip, s.sum + skip, s.o + size_t{skip} * dim};
    };
    isa.merge(shifted(into), shifted(from), rows(t) - skip, dim);
  }

  void store(const Tile& t, const SoftmaxState& state) const {
    const Slice& slice = a.slices[t.slice];
    for (uint32_t r = 0; r < rows(t); ++r) {
      const size_t head = size_t{t.kv_head} * group + r % group;
      float* out = a.out + (slice.first_row + t.first + r / group) * a.out_ld + head * a.shape->head_dim;
      float factor = 1, sum = state.sum[r];
      if (a.sinks) {
        const float sink = a.sinks[head] * kLog2e, top = std::max(state.max[r], sink);
        factor = std::exp2(state.max[r] - top);
        sum = sum * factor + std::exp2(sink - top);
      }
      factor /= sum;
      for (uint32_t d = 0; d < a.shape->head_dim; ++d)
        out[d] = state.o[size_t{r} * dim + d] * factor + 0.0f;  // -0 + 0 = 0
    }
  }
};

}  // namespace

void attention(const MicroKernels& isa, TaskPool& pool, const AttentionArgs& a) {
  const KvShape& shape = *a.shape;
  CHECK(shape.kv_heads > 0 && a.heads % shape.kv_heads == 0, "{} heads over {} kv heads", a.heads,
        shape.kv_heads);
  check_slices(shape, a.layer, a.slices);
  const Call call{isa, a, a.heads / shape.kv_heads, padded_dim(shape)};
  const uint32_t tile_positions = std::max(1u, kTileRows / call.group),
                 max_rows = tile_positions * call.group;

  // How much there is, for the size of the lists and to tell large tiles from small ones.
  const auto parts_of_tile = [&](const Slice& s) {  // at most
    const size_t all = (size_t{s.position} + s.rows + kKvSplit - 1) / kKvSplit;
    return a.window == 0 ? all : std::min(all, (size_t{a.window} + tile_positions) / kKvSplit + 2);
  };
  size_t tiles = 0, most_parts = 0, total = 0;
  for (const Slice& s : a.slices) {
    const size_t of_slice = size_t{(s.rows + tile_positions - 1) / tile_positions} * shape.kv_heads;
    tiles += of_slice;
    most_parts += of_slice * parts_of_tile(s);
    const uint32_t middle = s.position + s.rows / 2;
    total += size_t{s.rows} * (middle + 1 - first_key(middle, a.window)) * shape.kv_heads;
  }
  const size_t fair = total / (4 * static_cast<size_t>(pool.threads())) + 1;

  // Scratch: tile list, task list, two states and the queries (twice) for each worker, then the states of
  // parts.
  const size_t per_worker = 2 * state_floats(max_rows, call.dim) + size_t{max_rows} * (2 * call.dim + 2);
  const size_t list_bytes = (tiles * sizeof(Tile) + (tiles + most_parts) * sizeof(Task) + 63) / 64 * 64;
  const size_t worker_bytes = (per_worker * sizeof(float) + 63) / 64 * 64;
  // A tile is cut into parts only while it exceeds its fair share, so there are few of them.
  const size_t part_tiles = 4 * static_cast<size_t>(pool.threads()) + 1;
  size_t part_floats = 0, used_floats = 0;
  for (const Slice& s : a.slices)
    part_floats = std::max(part_floats, parts_of_tile(s) * state_floats(max_rows, call.dim));
  part_floats *= std::min(part_tiles, tiles);
  a.scratch->reserve(list_bytes + worker_bytes * pool.threads() + part_floats * sizeof(float));
  auto* tile_list = a.scratch->as<Tile>();
  auto* task_list = reinterpret_cast<Task*>(tile_list + tiles);
  std::byte* workers = a.scratch->data() + list_bytes;
  auto* parts_memory = reinterpret_cast<float*>(workers + worker_bytes * pool.threads());

  uint32_t tile_count = 0, task_count = 0;
  for (uint32_t i = 0; i < a.slices.size(); ++i) {
    const Slice& s = a.slices[i];
    // From the last rows back: the longest tasks start first.
    for (uint32_t n = (s.rows + tile_positions - 1) / tile_positions; n-- > 0;)
      for (uint32_t h = 0; h < shape.kv_heads; ++h) {
        Tile t{i, h, n * tile_positions, std::min(tile_positions, s.rows - n * tile_positions), 0, 0, 0};
        const uint32_t begin = first_key(s.position + t.first, a.window),
                       end = s.position + t.first + t.positions;
        t.first_part = begin / kKvSplit;
        t.parts = (end + kKvSplit - 1) / kKvSplit - t.first_part;
        const size_t floats = t.parts * state_floats(call.rows(t), call.dim);
        const bool cut =
            t.parts > 1 && size_t{t.positions} * (end - begin) > fair && used_floats + floats <= part_floats;
        if (cut) {
          t.state = used_floats;
          used_floats += floats;
          for (uint32_t part = 0; part < t.parts; ++part) task_list[task_count++] = {tile_count, part};
        } else {
          task_list[task_count++] = {tile_count, kWhole};
        }
        tile_list[tile_count++] = t;
      }
  }

  const auto threads = static_cast<uint32_t>(pool.threads());
  pool.run(task_count, [&](size_t index, int worker) {
    const Task& task = task_list[index];
    const Tile& t = tile_list[task.tile];
    // Threads claim tasks in turn: about this one will be this thread's next.
    const Task* later = index + threads < task_count ? &task_list[index + threads] : nullptr;
    const Tile* next = later ? &tile_list[later->tile] : nullptr;
    const uint32_t next_part = later && later->part != kWhole ? later->part : 0;
    const uint32_t rows = call.rows(t);
    auto* memory = reinterpret_cast<float*>(workers + worker_bytes * worker);
    float* q = memory + 2 * state_floats(max_rows, call.dim);
    float* transposed = q + size_t{max_rows} * call.dim;
    auto* start = reinterpret_cast<uint32_t*>(transposed + size_t{max_rows} * call.dim);
    uint32_t* limit = start + max_rows;
    call.gather(t, q, start, limit);
    if (task.part != kWhole) {
      float* to = parts_memory + t.state + task.part * state_floats(rows, call.dim);
      call.attend(t, task.part, q, start, limit, state_at(to, rows, call.dim), transposed, next, next_part);
      return;
    }
    const SoftmaxState result = state_at(memory, rows, call.dim);
    const SoftmaxState part = state_at(memory + state_floats(max_rows, call.dim), rows, call.dim);
    for (uint32_t n = 0; n < t.parts; ++n) {
      const bool last = n + 1 == t.parts;
      call.attend(t, n, q, start, limit, n == 0 ? result : part, transposed, last ? next : &t,
                  last ? next_part : n + 1);
      if (n > 0) call.merge(t, n, result, part);
    }
    call.store(t, result);
  });

  const auto merge = [&](size_t index, int) {
    const Tile& t = tile_list[task_list[index].tile];
    const uint32_t rows = call.rows(t);
    const auto part = [&](uint32_t n) {
      return state_at(parts_memory + t.state + n * state_floats(rows, call.dim), rows, call.dim);
    };
    for (uint32_t n = 1; n < t.parts; ++n) call.merge(t, n, part(0), part(n));
    call.store(t, part(0));
  };
  uint32_t cut = 0;  // the tasks are done: their list becomes that of the tiles that were cut
  for (uint32_t index = 0; index < task_count; ++index)
    if (task_list[index].part == 0) task_list[cut++] = task_list[index];
  if (used_floats > kSerialMerge) {
    pool.run(cut, merge);
  } else {
    for (uint32_t index = 0; index < cut; ++index) merge(index, 0);
  }
}

}  // namespace reprise::kernels::cpu
