// The global functions: those of jinja2 that a chat template can want, and transformers' raise_exception and
// strftime_now.
#include <algorithm>
#include <array>
#include <ctime>

#include "text/jinja/attributes.h"
#include "text/jinja/builtins.h"
#include "text/jinja/compare.h"
#include "text/jinja/containers.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"

namespace reprise::jinja {
namespace {

constexpr int64_t kMaxRange = 100'000;  // jinja2's sandbox has the same

Value range(Runtime& rt, const Args& args) {
  const auto a = bind<3>("range", args, {"", "", ""}, 1);
  const bool one = a[1] == nullptr;
  const int64_t start = one ? 0 : to_index(a.at(0));
  const int64_t stop = one ? to_index(a.at(0)) : to_index(a.at(1));
  const int64_t step = a[2] ? to_index(a.at(2)) : 1;
  if (step == 0) raise("range() arg 3 must not be zero");
  const __int128 distance =
      step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  const __int128 stride = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  const __int128 size = distance <= 0 ? 0 : (distance - 1) / stride + 1;
  if (size > kMaxRange) exceed("Range too big. The sandbox blocks ranges larger than {}.", kMaxRange);
  return Value::object(Kind::kRange, rt.heap.make<Range>(start, step, static_cast<uint32_t>(size), stop));
}

Value make_dict(Runtime& rt, const Args& args) {
  if (args.positional.size() > 1) raise("dict expected at most 1 argument, got {}", args.positional.size());
  const Value dict = new_dict(rt);
  if (!args.positional.empty()) merge_into(rt, *dict.dict(), args.positional[0]);
  for (const NamedArg& named : args.named) dict.dict()->set(rt, named.name, named.value);
  return dict;
}

Value make_namespace(Runtime& rt, const Args& args) {
  return Value::object(Kind::kNamespace, make_dict(rt, args).dict());
}

[[noreturn]] Value raise_exception(Runtime& rt, const Args& args) {
  const auto a = bind<1>("raise_exception", args, {"message"}, 1);
  throw Failure{.message = std::string(str(rt, a.at(0))), .verbatim = true};
}

Value strftime_now(Runtime& rt, const Args& args) {
  const auto a = bind<1>("strftime_now", args, {"format"}, 1);
  if (!a.at(0).is_string()) raise("strftime_now() argument must be str, not {}", type_name(a.at(0)));
  const std::string_view format = a.at(0).text();
  std::tm tm{};
  const auto now = static_cast<std::time_t>(rt.now);
  if (gmtime_r(&now, &tm) == nullptr) raise("the current time is out of range");
  Builder out(rt);
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      out.append(format[i]);
      continue;
    }
    // One directive at a time: '%', a flag perhaps, a letter.
    std::string directive = "%";
    if (format[i + 1] == '-' && i + 2 < format.size()) directive += format[++i];
    const char letter = format[++i];
    directive += letter;
    if (std::string_view("aAbBcCdDeFgGhHIjklmMnprRsStTuUVwWxXyYzZ").find(letter) != std::string_view::npos) {
      std::array<char, 128> text;
      out.append(
          std::string_view(text.data(), std::strftime(text.data(), text.size(), directive.c_str(), &tm)));
    } else if (letter == 'f') {
      out.append("000000");
    } else if (letter == '%') {
      out.append('%');
    } else {
      out.append(directive);
    }
  }
  return out.finish();
}

// ---- cycler, joiner ----

struct Cycler {
  List* items;
  uint32_t at;
};

struct Joiner {
  Value separator;
  bool used;
};

Value make_cycler(Runtime& rt, const Args& args) {
  if (args.positional.empty()) raise("at least one item has to be provided");
  if (!args.named.empty()) raise("cycler() takes no keyword arguments");
  return Value::object(Kind::kCycler, rt.heap.make<Cycler>(new_list(rt, args.positional).list(), 0u));
}

Value cycler_next(Runtime&, Value self, const Args& args) {
  bind<0>("next", args, {});
  auto& cycler = *self.as<Cycler>();
  const Value v = cycler.items->items[cycler.at];
  cycler.at = (cycler.at + 1) % cycler.items->size;
  return v;
}

Value cycler_reset(Runtime&, Value self, const Args& args) {
  bind<0>("reset", args, {});
  self.as<Cycler>()->at = 0;
  return Value::none();
}

constexpr Method kNext{"next", cycler_next};
constexpr Method kReset{"reset", cycler_reset};

Value make_joiner(Runtime& rt, const Args& args) {
  const auto a = bind<1>("joiner", args, {"sep"});
  return Value::object(Kind::kJoiner, rt.heap.make<Joiner>(a.or_else(0, Value::string(", ")), false));
}

constexpr std::array kFunctions = std::to_array<Function>({
    {"range", range},
    {"dict", make_dict},
    {"namespace", make_namespace},
    {"cycler", make_cycler},
    {"joiner", make_joiner},
    {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
});

}  // namespace

Value call_joiner(Value joiner, const Args& args) {
  bind<0>("joiner", args, {});
  auto& state = *joiner.as<Joiner>();
  if (std::exchange(state.used, true)) return state.separator;
  return Value::string("");
}

Value cycler_attribute(Runtime& rt, Value cycler, std::string_view name) {
  const auto& state = *cycler.as<Cycler>();
  if (name == "current") return state.items->items[state.at];
  if (name == "next") return Value::object(Kind::kMethod, rt.heap.make<BoundMethod>(cycler, &kNext));
  if (name == "reset") return Value::object(Kind::kMethod, rt.heap.make<BoundMethod>(cycler, &kReset));
  return {};
}

std::span<const Function> global_functions() { return kFunctions; }

}  // namespace reprise::jinja
