// Design: rows are data; text and JSON are two views of them. JSON is written by hand: a dozen flat fields.
#include "probe/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace reprise {

namespace {

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.6g}", x) : "null"; }
std::string number(const std::optional<double>& x) { return x ? number(*x) : "null"; }

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

const char* ok_json(Verdict verdict) {
  switch (verdict) {
    case Verdict::kInfo:
      return "null";
    case Verdict::kOk:
      return "true";
    case Verdict::kShort:
      return "false";
    case Verdict::kInconclusive:
      return "\"inconclusive\"";
  }
  return "null";
}

const char* ok_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kInfo:
      return "";
    case Verdict::kOk:
      return "ok";
    case Verdict::kShort:
      return "SHORT";
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  return "";
}

std::string rounded(double x) { return x >= 100 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}", x); }
}  // namespace

void judge(BenchRow& row, std::optional<double> wanted) {
  row.wanted = wanted;
  const double low = row.low.value_or(row.value), high = row.high.value_or(row.value);
  if (row.windows > 0 && row.kept < kFewWindows) {
    row.verdict = Verdict::kInconclusive;
  } else if (!wanted) {
    row.verdict = Verdict::kInfo;
  } else if (low >= *wanted) {
    row.verdict = Verdict::kOk;
  } else {
    row.verdict = high < *wanted ? Verdict::kShort : Verdict::kInconclusive;
  }
}

std::string to_text(std::span<const BenchRow> rows) {
  size_t width = 4;
  for (const BenchRow& row : rows) width = std::max(width, row.name.size());
  std::string text;
  for (const BenchRow& row : rows) {
    std::string line = fmt::format("{:{}}  {:>8} {:12}", row.name, width, rounded(row.value), row.unit);
    line += row.low ? fmt::format(" {:>17}", fmt::format("[{}, {}]", rounded(*row.low), rounded(*row.high)))
                    : fmt::format(" {:17}", "");
    if (row.windows) line += fmt::format("  {:>9} kept", fmt::format("{}/{}", row.kept, row.windows));
    if (row.wanted) line += fmt::format("  wanted {}", rounded(*row.wanted));
    if (row.verdict != Verdict::kInfo) line += fmt::format("  {}", ok_text(row.verdict));
    if (row.roof_share) line += fmt::format("  {:.0f} % of {}", *row.roof_share * 100, row.roof);
    if (!row.output_hash.empty()) line += "  output " + row.output_hash;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string to_json(std::span<const BenchRow> rows) {
  std::string text = "{\"rows\": [";
  for (size_t i = 0; i < rows.size(); ++i) {
    const BenchRow& r = rows[i];
    text += fmt::format(
        "{}\n  {{\"name\": {}, \"value\": {}, \"unit\": {}, \"low\": {}, \"high\": {}, \"plain\": {}, "
        "\"windows\": {}, \"kept\": {}, \"wanted\": {}, \"ok\": {}, \"roof_share\": {}, \"roof\": {}, "
        "\"output_hash\": {}}}",
        i ? "," : "", quoted(r.name), number(r.value), quoted(r.unit), number(r.low), number(r.high),
        r.plain > 0 ? number(r.plain) : "null", r.windows, r.kept, number(r.wanted), ok_json(r.verdict),
        number(r.roof_share), quoted(r.roof), quoted(r.output_hash));
  }
  return text + "\n]}\n";
}

int exit_status(std::span<const BenchRow> rows) {
  int status = 0;
  for (const BenchRow& row : rows) {
    if (row.verdict == Verdict::kShort) return 1;
    if (row.verdict == Verdict::kInconclusive) status = 2;
  }
  return status;
}

}  // namespace reprise
