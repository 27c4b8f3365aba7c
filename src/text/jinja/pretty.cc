// A container is written on one line if that fits into what is left of the line, else one item a line.
#include "text/jinja/pretty.h"

#include <algorithm>
#include <vector>

#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace reprise::jinja {
namespace {

constexpr size_t kWidth = 80;

class PrettyPrinter {
 public:
  explicit PrettyPrinter(Runtime& rt) : rt_(rt), out_(rt) {}

  void write(Value v, size_t indent, size_t allowance) {
    const Nesting nesting(rt_);
    rt_.charge();
    const Value ordered = sorted(v);
    const Value line = to_repr(rt_, ordered);
    const bool container =
        (v.is_listlike() && v.list()->size > 0) || (v.is(Kind::kDict) && v.dict()->size > 0);
    if (!container || indent + unicode::length(line.text()) + allowance <= kWidth)
      return out_.append(line.text());
    if (v.is(Kind::kDict)) return pairs(*ordered.dict(), indent + 1, allowance + 1);
    const bool list = v.is(Kind::kList);
    const bool single = !list && v.list()->size == 1;
    out_.append(list ? '[' : '(');
    for (uint32_t i = 0; i < v.list()->size; ++i) {
      const bool last = i + 1 == v.list()->size;
      write(v.list()->items[i], indent + 1, last ? allowance + 1 + single : 1);
      if (!last) next_line(indent + 1);
    }
    out_.append(list ? "]" : single ? ",)" : ")");
  }
  Value finish() { return out_.finish(); }

 private:
  void next_line(size_t indent) {
    out_.append(",\n");
    out_.append(indent, ' ');
  }

  void pairs(const Dict& dict, size_t indent, size_t allowance) {
    out_.append('{');
    for (uint32_t i = 0; i < dict.end; ++i) {
      const Value key = to_repr(rt_, dict.entries[i].key);
      out_.append(key.text());
      out_.append(": ");
      write(dict.entries[i].value, indent + unicode::length(key.text()) + 2,
            i + 1 == dict.end ? allowance : 1);
      if (i + 1 < dict.end) next_line(indent);
    }
    out_.append('}');
  }

  // With sorted keys in dicts at every level, as pprint shows them also inside of one line.
  Value sorted(Value v) {
    if (!v.is_listlike() && !v.is(Kind::kDict)) return v;
    const Nesting nesting(rt_);
    if (v.is_listlike()) {
      std::vector<Value> items;
      for (const Value& item : v.list()->span()) {
        rt_.charge();
        items.push_back(sorted(item));
      }
      return v.is(Kind::kList) ? new_list(rt_, items) : new_tuple(rt_, items);
    }
    const auto entries = entries_of(rt_, *v.dict(), false);
    const bool sortable = std::ranges::all_of(entries, [&](const auto* e) {
      return e->key.kind() == entries[0]->key.kind() && (e->key.is_string() || e->key.is_number());
    });
    const Value result = new_dict(rt_);
    for (const Dict::Entry* e : entries_of(rt_, *v.dict(), sortable)) {
      rt_.charge();
      result.dict()->set(rt_, e->key, sorted(e->value));
    }
    return result;
  }

  Runtime& rt_;
  Builder out_;
};

}  // namespace

Value pretty_print(Runtime& rt, Value v) {
  PrettyPrinter printer(rt);
  printer.write(v, 0, 0);
  return printer.finish();
}

}  // namespace reprise::jinja
