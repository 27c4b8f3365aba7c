// Tokens served per session, for fairness between sessions: virtual token counters (Sheng et al. 2024). A
// session that becomes active again starts no lower than the least served active one, so that idling earns no
// credit.
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
    Account& account = accounts_[key];
    if (account.requests++ == 0) {
      account.served = std::max(account.served, least);
      ++active_;
    }
  }
  void leave(const Key& key) {
    Account& account = accounts_.at(key);
    CHECK(account.requests > 0);
    if (--account.requests > 0) return;
    --active_;
    if (!key.first) accounts_.erase(key);  // nobody comes back to it
    if (accounts_.size() > kMostRemembered)
      std::erase_if(accounts_, [](auto& a) { return a.second.requests == 0; });
  }
  void charge(const Key& key, uint64_t tokens) { accounts_.at(key).served += tokens; }

  // Of the active sessions; 0 when there is none.
  uint64_t least_served() const {
    uint64_t least = std::numeric_limits<uint64_t>::max();
    for (const auto& [key, account] : accounts_) {
      if (account.requests > 0) least = std::min(least, account.served);
    }
    return active_ == 0 ? 0 : least;
  }
  uint64_t served(const Key& key) const { return accounts_.at(key).served; }
  size_t active() const { return active_; }

 private:
  static constexpr size_t kMostRemembered = 4096;
  struct Account {
    uint64_t served = 0;
    uint32_t requests = 0;
  };
  std::map<Key, Account> accounts_;
  size_t active_ = 0;
};

}  // namespace reprise
