#include "hearts/seat_view.hpp"

#include <stdexcept>
#include <string>

namespace trickformer::hearts {

void refuse(const SeatView& v, int fault) {
  switch (fault) {
    case kBadDeal: throw std::invalid_argument("the hand is not 13 different cards");
    case kBadPasses:
      throw std::invalid_argument("the passed cards are wrong: three different own cards with a pass, none without");
    case kBadReceived:
      throw std::invalid_argument("the received cards are wrong: three new cards with a pass, none without");
    case kBadLeader: throw std::invalid_argument("the leader of the first trick cannot hold the two of clubs");
    default: break;
  }
  throw std::invalid_argument("no deal lets the seat on turn play card " + std::to_string(v.plays[fault]) +
                              " as play number " + std::to_string(fault));
}

}  // namespace trickformer::hearts
