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
    Value v(Kind::kInt);
    v.int_ = static_cast<int64_t>(u);
    v.flag_ = u > static_cast<uint64_t>(INT64_MAX);
    return v;
  }
  static Value real(double d) {
    Value v(Kind::kFloat);
    v.double_ = d;
    return v;
  }
  // The view must outlive the render. Longer strings than 4 GiB cannot exist: heap and input are limited
  // below that.
  static Value string(std::string_view text, bool safe = false) {
    Value v(Kind::kString);
    v.text_ = text.data();
    v.size_ = static_cast<uint32_t>(text.size());
    v.flag_ = safe;
    return v;
  }
  static Value undefined(std::string_view name, Absence why = Absence::kName) {
    Value v = string(name);
    v.kind_ = Kind::kUndefined;
    v.flag_ = static_cast<uint8_t>(why);
    return v;
  }
  static Value object(Kind kind, const void* pointer, uint8_t flag = 0) {
    Value v(kind);
    v.object_ = const_cast<void*>(pointer);
    v.flag_ = flag;
    return v;
  }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_number() const { return kind_ == Kind::kInt || kind_ == Kind::kFloat || kind_ == Kind::kBool; }
  bool is_integral() const { return kind_ == Kind::kInt || kind_ == Kind::kBool; }
  bool is_listlike() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }

  // Each accessor below requires the kind it names.
  bool as_bool() const { return int_ != 0; }
  __int128 as_int() const {  // bool too
    return flag_ != 0 && kind_ == Kind::kInt ? static_cast<__int128>(static_cast<uint64_t>(int_)) : int_;
  }
  double as_double() const { return double_; }
  std::string_view text() const { return {text_, size_}; }  // string: its bytes; undefined: the name
  template <typename T>
  T* as() const {
    return static_cast<T*>(object_);
  }
  List* list() const { return static_cast<List*>(object_); }
  Dict* dict() const { return static_cast<Dict*>(object_); }
  const void* identity() const { return object_; }
  uint8_t flag() const { return flag_; }

  bool safe() const { return kind_ == Kind::kString && flag_ == 1; }  // Markup
  // A string that starts a heap buffer with room behind it, so that `+` may extend it in place.
  bool growable() const { return growable_; }
  Value& set_growable() {
    growable_ = true;
    return *this;
  }

 private:
  explicit Value(Kind kind) : kind_(kind) {}

  Kind kind_ = Kind::kMissing;
  uint8_t flag_ = 0;
  bool growable_ = false;
  uint32_t size_ = 0;
  union {
    int64_t int_ = 0;
    double double_;
    const char* text_;
    void* object_;
  };
};
static_assert(sizeof(Value) == 16);

// Python's name of a value's type, for error messages.
std::string_view type_name(const Value& v);

}  // namespace reprise::jinja
