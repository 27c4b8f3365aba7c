// Tokens served per session, for fairness between sessions: virtual token counters (Sheng et al. 2024). A
// session that becomes active again starts no lower than the least served active one, so that idling earns no
// credit; what it got before is remembered, so that coming back pays no debt. Memory is bounded whatever the
// number of sessions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"
#include "core/generation.h"
#include "core/token.h"

namespace reprise {

class SessionLedger {
 public:
  using Key = std::pair<bool, uint64_t>;  // {has a session, session or request id}
  static Key key(RequestId id, uint64_t session) { return session ? Key{true, session} : Key{false, id}; }

  void enter(const Key& key) {
    const uint64_t least = least_served();
    Account& account = active_[key];
    if (account.requests++ > 0) return;
    if (auto remembered = idle_.find(key); remembered != idle_.end()) {
      account.served = remembered->second;
      idle_.erase(remembered);
    }
    account.served = std::max(account.served, least);
  }
  void leave(const Key& key) {
    const auto account = active_.find(key);
    CHECK(account != active_.end());
    if (--account->second.requests > 0) return;
    if (idle_.size() >= kMostRemembered) idle_.clear();
    if (key.first) idle_[key] = account->second.served;  // to the others nobody comes back
    active_.erase(account);
  }
  void charge(const Key& key, uint64_t tokens) { active_.at(key).served += tokens; }

  // Of the active sessions; 0 when there is none. O(active).
  uint64_t least_served() const {
    if (active_.empty()) return 0;
    uint64_t least = std::numeric_limits<uint64_t>::max();
    for (const auto& [key, account] : active_) least = std::min(least, account.served);
    return least;
  }
  uint64_t served(const Key& key) const { return active_.at(key).served; }
  size_t active() const { return active_.size(); }
  size_t remembered() const { return idle_.size(); }

  static constexpr size_t kMostRemembered = 4096;  // beyond it all are forgotten: they come back as newcomers

 private:
  struct Account {
    uint64_t served = 0;
    uint32_t requests = 0;
  };
  std::map<Key, Account> active_;
  std::map<Key, uint64_t> idle_;
};

}  // namespace reprise
