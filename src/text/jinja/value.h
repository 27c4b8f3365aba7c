// A template's value: 16 bytes, copied freely. Strings are views (into the template, the caller's input or
// the heap of the render); containers are pointers into that heap, so copies of a list value share the list
// as in Python.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::jinja {

struct List;
struct Dict;

enum class Kind : uint8_t {
  kMissing,  // no value at all; never seen by a template
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kRange,
  kView,       // d.keys(), d.values(), d.items()
  kGenerator,  // what a lazy filter gives: can be walked once, has no length
  kNamespace,
  kMacro,
  kLoop,
  kFunction,
  kMethod,
  kCycler,
  kJoiner,
};

enum class Absence : uint8_t { kName, kAttribute, kUnsafe, kParameter, kText };  // why a value is undefined
enum class ViewKind : uint8_t { kKeys, kValues, kItems };

class Value {
 public:
  Value() = default;

  static Value none() { return Value(Kind::kNone); }
  static Value boolean(bool b) {
    Value v(Kind::kBool);
    v.int_ = b;
    return v;
  }
  static Value integer(int64_t i) {
    Value v(Kind::kInt);
    v.int_ = i;
    return v;
  }
  // Integers past int64 exist up to 2^64-1, because JSON has them.
  static Value unsigned_integer(uint64_t u) {
    Value v(Kind::kInt, u > static_cast<uint64_t>(INT64_MAX));
    v.int_ = static_cast<int64_t>(u);
    return v;
  }
  static Value real(double d) {
    Value v(Kind::kFloat);
    v.double_ = d;
    return v;
  }
  // The view must outlive the render. Longer strings than 4 GiB cannot exist: heap and input are limited
  // below that.
  static Value string(std::string_view text, bool safe = false) { return Value(Kind::kString, safe, text); }
  static Value undefined(std::string_view name, Absence why = Absence::kName) {
    return Value(Kind::kUndefined, static_cast<uint8_t>(why), name);
  }
  static Value object(Kind kind, const void* pointer, uint8_t flag = 0) {
    Value v(kind, flag);
    v.object_ = const_cast<void*>(pointer);
    return v;
  }

  Kind kind() const { return static_cast<Kind>(tag_ & 0xFF); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_string() const { return is(Kind::kString); }
  bool is_number() const { return is_integral() || is(Kind::kFloat); }
  bool is_integral() const { return is(Kind::kInt) || is(Kind::kBool); }
  bool is_listlike() const { return is(Kind::kList) || is(Kind::kTuple); }

  // Each accessor below requires the kind it names.
  bool as_bool() const { return int_ != 0; }
  __int128 as_int() const {  // bool too
    return flag() != 0 && is(Kind::kInt) ? static_cast<__int128>(static_cast<uint64_t>(int_)) : int_;
  }
  // What nearly all integers are, and simpler to compute with: not a bool, not past int64.
  bool is_small_int() const { return is(Kind::kInt) && flag() == 0; }
  int64_t as_small_int() const { return int_; }
  double as_double() const { return double_; }
  std::string_view text() const { return {text_, tag_ >> 32}; }  // string: its bytes; undefined: the name
  template <typename T>
  T* as() const {
    return static_cast<T*>(object_);
  }
  List* list() const { return static_cast<List*>(object_); }
  Dict* dict() const { return static_cast<Dict*>(object_); }
  const void* identity() const { return object_; }
  uint8_t flag() const { return static_cast<uint8_t>(tag_ >> 8); }

  bool safe() const { return is_string() && flag() == 1; }  // Markup
  // A string that starts a heap buffer with room behind it, so that `+` may extend it in place.
  bool growable() const { return (tag_ & kGrowable) != 0; }
  Value& set_growable() {
    tag_ |= kGrowable;
    return *this;
  }

 private:
  static constexpr uint64_t kGrowable = uint64_t{1} << 16;

  explicit Value(Kind kind, uint8_t flag = 0)
      : tag_(static_cast<uint64_t>(kind) | static_cast<uint64_t>(flag) << 8) {}
  Value(Kind kind, uint8_t flag, std::string_view text) : Value(kind, flag) {
    tag_ |= static_cast<uint64_t>(text.size()) << 32;
    text_ = text.data();
  }

  // One word, because compilers take a value apart into its fields and put it together again wherever it is
  // copied: the kind in the lowest byte, the flag in the next, kGrowable, and in the upper half a text's
  // size.
  uint64_t tag_ = 0;
  union {
    int64_t int_ = 0;
    double double_;
    const char* text_;
    void* object_;
  };
};
static_assert(sizeof(Value) == 16);

// Python's name of a value's type, for error messages.
std::string_view type_name(Value v);

}  // namespace reprise::jinja
