// The text a parser reads: it comes in pieces, and the parser waits where the next one may matter.
//
// Marked text: a token that belongs to a family's markup (<|tool_call_begin|>, where the vocabulary has it)
// comes as kMark and its text. The byte occurs in no UTF-8, so text that merely spells a marker is never
// taken for it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace reprise::calls {

inline constexpr char kMark = '\xFF';

// Where text goes that was read.
class Receiver {
 public:
  virtual void put(std::string_view text) = 0;

 protected:
  ~Receiver() = default;
};
class Collected final : public Receiver {
 public:
  void put(std::string_view more) override { text += more; }
  std::string text;
};
class Dropped final : public Receiver {
 public:
  void put(std::string_view) override {}
};

// Reads a value that knows its own end.
class ValueReader {
 public:
  // Takes a prefix of `text` and says how long it was; shorter than `text` only where the value ends.
  virtual size_t take(std::string_view text) = 0;
  virtual bool complete() const = 0;
  // Inside of a string, where markup without marks is only text.
  virtual bool quoting() const = 0;

 protected:
  ~ValueReader() = default;
};

// Everything that waits is awaited: `co_await scanner.until(...)`. What is passed by reference must outlive
// the wait.
class Scanner {
 public:
  class Wait {
   public:
    bool await_ready() { return poll(); }
    void await_suspend(std::coroutine_handle<> reader) {
      reader_ = reader;
      scanner_.waiting_ = this;
    }

   protected:
    explicit Wait(Scanner& scanner) : scanner_(scanner) {}
    ~Wait() = default;
    virtual bool poll() = 0;  // reads on; true: what was waited for is there
    Scanner& scanner_;

   private:
    friend class Scanner;
    std::coroutine_handle<> reader_;
  };

  // For the owner.
  void push(std::string_view text);  // marked text
  void end();                        // no more comes

  static constexpr size_t kEnd = static_cast<size_t>(-1);

  // Text goes to `to` until one of the markers, which is read and not passed on; which one it was, or kEnd.
  // Of markers that begin at one place the longest counts. Only what may begin a marker is held back.
  class Until final : public Wait {
   public:
    Until(Scanner& scanner, std::span<const std::string_view> markers, Receiver& to)
        : Wait(scanner), markers_(markers), to_(to) {}
    size_t await_resume() const { return found_; }

   private:
    bool poll() override;
    std::span<const std::string_view> markers_;
    Receiver& to_;
    size_t found_ = kEnd;
  };
  Until until(std::span<const std::string_view> markers, Receiver& to) { return {*this, markers, to}; }

  // Reads white space; the byte after it, or '\0' at the end.
  class Space final : public Wait {
   public:
    using Wait::Wait;
    explicit Space(Scanner& scanner) : Wait(scanner) {}
    char await_resume() const { return scanner_.buffer_.empty() ? '\0' : scanner_.buffer_.front(); }

   private:
    bool poll() override;
  };
  Space space() { return Space(*this); }

  // Reads `literal` if it comes next; says whether it did.
  class Accept final : public Wait {
   public:
    Accept(Scanner& scanner, std::string_view literal) : Wait(scanner), literal_(literal) {}
    bool await_resume() const { return found_; }

   private:
    bool poll() override;
    std::string_view literal_;
    bool found_ = false;
  };
  Accept accept(std::string_view literal) { return {*this, literal}; }

  // Which of the texts comes next, behind white space; nothing is read. kEnd: the text ends; kOther: none of
  // them.
  static constexpr size_t kOther = static_cast<size_t>(-2);
  class Follows final : public Wait {
   public:
    Follows(Scanner& scanner, std::span<const std::string_view> texts) : Wait(scanner), texts_(texts) {}
    size_t await_resume() const { return found_; }

   private:
    bool poll() override;
    std::span<const std::string_view> texts_;
    size_t found_ = kEnd;
  };
  Follows follows(std::span<const std::string_view> texts) { return {*this, texts}; }

  // Reads a value to its end, or up to a marker, which is not read: inside of its strings only marked ones
  // count. True: it is complete.
  class Value final : public Wait {
   public:
    Value(Scanner& scanner, ValueReader& value, std::span<const std::string_view> markers)
        : Wait(scanner), value_(value), markers_(markers) {}
    bool await_resume() const { return value_.complete(); }

   private:
    bool poll() override;
    ValueReader& value_;
    std::span<const std::string_view> markers_;
  };
  Value value(ValueReader& value, std::span<const std::string_view> markers) {
    return {*this, value, markers};
  }

  // Text to be read again, before all else.
  void unread(std::string_view text) { buffer_.insert(0, text); }
  bool ended() const { return ended_ && buffer_.empty(); }
  // From now on what is read is added to `raw` as well; null: no more.
  void record(std::string* raw) { raw_ = raw; }

 private:
  struct Hit {
    size_t at;      // where a marker, or what may begin one, starts; the buffer's size: nowhere
    size_t marker;  // kEnd: it is not complete
  };
  Hit find(std::span<const std::string_view> markers) const;
  void drop(size_t bytes);
  void wake();

  std::string buffer_;
  bool ended_ = false;
  std::string* raw_ = nullptr;
  Wait* waiting_ = nullptr;
};

}  // namespace reprise::calls
