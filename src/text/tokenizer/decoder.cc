#include "text/tokenizer/decoder.h"

#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/normalizer.h"
#include "text/utf8.h"

namespace reprise::decode {
namespace {

using Texts = std::vector<std::string>;
using EachText = std::function<void(std::string& text)>;

Decoder::Step each(EachText change) {
  return {[change](Texts& texts) {
            for (std::string& text : texts) change(text);
          },
          change};
}

}  // namespace

Decoder::Step byte_level() {
  const auto bytes_of = [](std::string& text) { text = bytes_of_letters(text).value_or(text); };
  return {[bytes_of](Texts& texts) {
            std::string bytes;
            for (std::string& text : texts) {
              bytes_of(text);
              bytes += text;
            }
            texts.assign(1, std::move(bytes));
          },
          bytes_of};
}

Decoder::Step replace(std::function<void(std::string&)> replace) { return each(std::move(replace)); }

Decoder::Step byte_fallback() {
  const auto all = [](Texts& texts) {
    Texts out;
    std::string run;
    const auto end_run = [&] {
      if (run.empty()) return;
      if (is_utf8(run)) {
        out.push_back(run);
      } else {
        out.insert(out.end(), run.size(), "\xEF\xBF\xBD");
      }
      run.clear();
    };
    for (std::string& text : texts) {
      if (const auto byte = byte_of_token(text)) {
        run += static_cast<char>(*byte);
      } else {
        end_run();
        out.push_back(std::move(text));
      }
    }
    end_run();
    texts = std::move(out);
  };
  return {all, [](std::string& text) {
            if (const auto byte = byte_of_token(text)) text.assign(1, static_cast<char>(*byte));
          }};
}

Decoder::Step fuse() {
  return {[](Texts& texts) {
            std::string all;
            for (const std::string& text : texts) all += text;
            texts.assign(1, std::move(all));
          },
          nullptr};
}

Decoder::Step strip(std::string character, size_t left, size_t right) {
  return each([character = std::move(character), left, right](std::string& text) {
    std::string_view rest = text;
    for (size_t i = 0; i < left && rest.starts_with(character); ++i) rest.remove_prefix(character.size());
    for (size_t i = 0; i < right && rest.ends_with(character); ++i) rest.remove_suffix(character.size());
    text = std::string(rest);
  });
}

Decoder::Step metaspace(std::string replacement, bool drop_first) {
  const EachText to_spaces = normalize::replace(replacement, " ");
  const EachText drop = normalize::replace(std::move(replacement), "");
  return {[to_spaces, drop, drop_first](Texts& texts) {
            for (size_t i = 0; i < texts.size(); ++i) (i == 0 && drop_first ? drop : to_spaces)(texts[i]);
          },
          to_spaces};
}

Decoder::Step word_suffix(std::string suffix) {
  const EachText to_space = normalize::replace(suffix, " ");
  const EachText drop = normalize::replace(std::move(suffix), "");
  return {[to_space, drop](Texts& texts) {
            for (size_t i = 0; i < texts.size(); ++i) (i + 1 == texts.size() ? drop : to_space)(texts[i]);
          },
          to_space};
}

Decoder::Step word_pieces(std::string prefix, bool clean) {
  std::vector<EachText> cleaning;
  if (clean) {
    for (const auto& [from, to] : {std::pair{" .", "."},
                                   {" ?", "?"},
                                   {" !", "!"},
                                   {" ,", ","},
                                   {" ' ", "'"},
                                   {" n't", "n't"},
                                   {" 'm", "'m"},
                                   {" do not", " don't"},
                                   {" 's", "'s"},
                                   {" 've", "'ve"},
                                   {" 're", "'re"}})
      cleaning.push_back(normalize::replace(from, to));
  }
  const auto tidy = [cleaning = std::move(cleaning)](std::string& text) {
    for (const EachText& step : cleaning) step(text);
  };
  const EachText middle = [prefix = std::move(prefix), tidy](std::string& text) {
    if (text.starts_with(prefix)) {
      text.erase(0, prefix.size());
    } else {
      text.insert(0, " ");
    }
    tidy(text);
  };
  return {[middle, tidy](Texts& texts) {
            for (size_t i = 0; i < texts.size(); ++i) {
              if (i == 0) {
                tidy(texts[i]);
              } else {
                middle(texts[i]);
              }
            }
          },
          middle};
}

Decoder::Step join_with_spaces() {
  return {[](Texts& texts) {
            for (size_t i = 1; i < texts.size(); ++i) texts[i].insert(0, " ");
          },
          [](std::string& text) { text.insert(0, " "); }};
}

}  // namespace reprise::decode
