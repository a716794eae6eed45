#include "crew/worlds.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace trickformer::crew {
namespace {

int lowest_of(DealtSet set) {
  const auto low = std::uint64_t(set);
  return low ? lowest(low) : 64 + lowest(std::uint64_t(set >> 64));
}

// Adds a card that goes a way to a world.
void put(World& w, int card, int way, int distress) {
  w.dealt[card] = std::uint8_t(dealt_to(way));
  if (is_passed(way)) w.passed[dealt_to(way)] = std::uint8_t(card);
  if (is_drawn(way)) w.drawn[held_by(way, distress)] = std::uint8_t(card);
}

int way_in(const World& w, int card, int distress) {
  const bool passed = w.passed[w.dealt[card]] == card;
  const int way = way_of(w.dealt[card], passed, false);
  return way_of(w.dealt[card], passed, w.drawn[next_seat(passed_to(way, distress))] == card);
}

World empty() {
  World w{};
  std::fill(w.passed, w.passed + kPlayers, kNoCard);
  std::fill(w.drawn, w.drawn + kPlayers, kNoCard);
  return w;
}

}  // namespace

void write(const World& w, std::int16_t* row) {
  row = std::copy(w.dealt, w.dealt + kNumCards, row);
  for (const auto& cards : {w.passed, w.drawn})
    for (int p = 0; p < kPlayers; ++p) *row++ = cards[p] == kNoCard ? -1 : cards[p];
}

World read(const std::int16_t* row) {
  World w;
  for (std::uint8_t& seat : w.dealt) {
    seat = *row >= 0 && *row < kPlayers ? std::uint8_t(*row) : std::uint8_t(kPlayers);
    ++row;
  }
  for (auto* cards : {w.passed, w.drawn})
    for (int p = 0; p < kPlayers; ++p, ++row)
      cards[p] = *row < 0 ? kNoCard : std::uint8_t(std::min<int>(*row, kNumCards));  // kNumCards: an invalid card
  return w;
}

Deals::Deals(const SeatView& v, const double* log_odds) : view_(v), ways_(v), certain_(empty()) {
  using Stage = SeatView::Stage;
  if (v.stage != Stage::kGame && v.stage != Stage::kLost && v.stage != Stage::kOver)
    throw std::invalid_argument("the view stops within the deal or another event; add all cards that the event shows");
  if (v.phase == Phase::kRadioCard && v.current != v.seat) ways_.announce(v.current, v.label);
  course_ = ways_.course();
  for (int card = 0; card < kNumCards; ++card)
    if (std::has_single_bit(ways_.of(card))) put(certain_, card, lowest(ways_.of(card)), v.mission.distress);
  for (int card = 0; card < kNumCards; ++card)
    for (WaySet rest = ways_.of(card); rest;)
      if (holder(take_lowest(rest)) != holder(lowest(ways_.of(card)))) open_ |= bit(card);

  const std::vector<Step>& steps = course_.steps;
  const std::size_t rows = row(steps.size() + 1, 0);
  reached_.resize(rows);
  start_.resize(rows);
  reached_[0] = 1;
  for (std::size_t i = 0; i < steps.size(); ++i)
    course_.advance(steps[i], &reached_[row(i, 0)], &reached_[row(i + 1, 0)]);
  std::size_t size = 0;
  for (std::size_t i = 0; i < rows; ++i)
    if (reached_[i]) {
      start_[i] = size;
      size += kDealtPairs;
    }
  const Position goal{steps.size(), course_.goal, Course::kGoal};
  if (!(reached_[row(goal.step, goal.bits)] >> goal.dealt & 1))
    throw std::invalid_argument("no deal explains this view");
  counts_.resize(size);
  sum_up(counts_, [](const Step&, const Step::Option&) { return std::uint64_t{1}; });
  total_ = ways({});
  if (!log_odds) return;
  check_log_odds(log_odds, kNumCards);
  odds_.resize(kNumCards * kPlaces);
  std::transform(log_odds, log_odds + odds_.size(), odds_.begin(), [](double x) { return std::exp(x); });
  weights_.resize(size);
  sum_up(weights_, [&](const Step& step, const Step::Option& option) { return odds(step.card, option.way); });
}

template <typename Number, typename Worth>
void Deals::sum_up(std::vector<Number>& counts, Worth worth) const {
  const std::vector<Step>& steps = course_.steps;
  counts[start_[row(steps.size(), course_.goal)] + Course::kGoal] = 1;
  const auto at = [&](const Position& p) { return start_[row(p.step, p.bits)] + std::size_t(p.dealt); };
  for (std::size_t i = steps.size(); i-- > 0;)
    for (int bits = 0; bits < 1 << course_.width; ++bits)
      for (DealtSet rest = reached_[row(i, bits)]; rest; rest &= rest - 1) {
        const Position from{i, bits, lowest_of(rest)};
        Number sum = 0;
        if (Position to = from; steps[i].card < 0) {
          if (go(to, nullptr)) sum += counts[at(to)];
        } else {
          for (int k = 0; k < steps[i].num_options; ++k)
            if (to = from; go(to, &steps[i].options[k])) sum += worth(steps[i], steps[i].options[k]) * counts[at(to)];
        }
        counts[at(from)] = sum;
      }
}

int Deals::holder(int way) const {
  const int distress = view_.mission.distress;
  return relative(view_.phase == Phase::kPass ? dealt_to(way) : held_by(way, distress), view_.seat);
}

double Deals::odds(int card, int way) const {
  const int at = holder(way);
  return at && open(card) ? odds_[std::size_t(card * kPlaces + at - 1)] : 1;
}

bool Deals::go(Position& at, const Step::Option* option) const {
  const Step& step = course_.steps[at.step++];
  at.bits = option ? course_.follow(*option, at.bits) : course_.end_colour(step, at.bits);
  if (at.bits < 0 || !option) return at.bits >= 0;
  if (!Course::room(at.dealt, option->dealt)) return false;
  at.dealt += option->dealt;
  return true;
}

World Deals::world(std::uint64_t number) const {
  World w = certain_;
  Position at;
  while (at.step < course_.steps.size()) {
    const Step& step = course_.steps[at.step];
    if (step.card < 0) {
      go(at, nullptr);
      continue;
    }
    for (int k = 0; k < step.num_options; ++k) {
      Position to = at;
      if (!go(to, &step.options[k])) continue;
      if (const std::uint64_t ways_on = ways(to); number >= ways_on) {
        number -= ways_on;
        continue;
      }
      put(w, step.card, step.options[k].way, view_.mission.distress);
      at = to;
      break;
    }
  }
  return w;
}

World Deals::weighted(Rng& rng) const {
  World w = certain_;
  Position at;
  while (at.step < course_.steps.size()) {
    const Step& step = course_.steps[at.step];
    if (step.card < 0) {
      go(at, nullptr);
      continue;
    }
    double left = rng.uniform() * weights_[start_[row(at.step, at.bits)] + std::size_t(at.dealt)];
    Position next;
    int way = 0;  // the option at which the sum passes the random number, or the last one if rounding prevents that
    for (int k = 0; k < step.num_options && left >= 0; ++k) {
      Position to = at;
      if (!go(to, &step.options[k])) continue;
      const double on = weights_[start_[row(to.step, to.bits)] + std::size_t(to.dealt)];
      if (on == 0) continue;
      left -= odds(step.card, step.options[k].way) * on;
      way = step.options[k].way;
      next = to;
    }
    put(w, step.card, way, view_.mission.distress);
    at = next;
  }
  return w;
}

double Deals::log_prob(const World& w) const {
  if (!is_consistent(w)) return -std::numeric_limits<double>::infinity();
  if (weights_.empty()) return -std::log(double(total_));
  double sum = -std::log(weights_[start_[0]]);
  for (const Step& step : course_.steps)
    if (step.card >= 0) sum += std::log(odds(step.card, way_in(w, step.card, view_.mission.distress)));
  return sum;
}

void Deals::places(const World& w, std::int8_t* at) const {
  for (int card = 0; card < kNumCards; ++card)
    at[card] = std::int8_t(open(card) ? holder(way_in(w, card, view_.mission.distress)) - 1 : -1);
}

void Deals::marginals(double* out) const {
  std::fill(out, out + kNumCards * kPlaces, 0.0);
  const std::vector<Step>& steps = course_.steps;
  std::vector<double> reach(counts_.size());  // sums over all ways to reach a position
  const auto place = [&](const Position& p) { return start_[row(p.step, p.bits)] + std::size_t(p.dealt); };
  const auto on = [&](std::size_t i) { return weights_.empty() ? double(counts_[i]) : weights_[i]; };
  reach[place({})] = 1;
  const double all = on(place({}));
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (int bits = 0; bits < 1 << course_.width; ++bits)
      for (DealtSet rest = reached_[row(i, bits)]; rest; rest &= rest - 1) {
        const Position from{i, bits, lowest_of(rest)};
        const double here = reach[place(from)];
        if (Position next = from; steps[i].card < 0) {
          if (go(next, nullptr)) reach[place(next)] += here;
          continue;
        }
        for (int k = 0; k < steps[i].num_options; ++k) {
          Position next = from;
          if (!go(next, &steps[i].options[k])) continue;
          const int way = steps[i].options[k].way, card = steps[i].card;
          const double part = here * (weights_.empty() ? 1 : odds(card, way));
          reach[place(next)] += part;
          if (open(card) && holder(way)) out[card * kPlaces + holder(way) - 1] += part * on(place(next)) / all;
        }
      }
}

bool Deals::is_consistent(const World& w) const {
  const int distress = view_.mission.distress;
  World same = empty();
  int way[kNumCards];
  for (int card = 0; card < kNumCards; ++card) {
    if (w.dealt[card] >= kPlayers) return false;
    way[card] = way_in(w, card, distress);
    if (!(ways_.of(card) >> way[card] & 1)) return false;
    put(same, card, way[card], distress);
  }
  if (!std::equal(w.passed, w.passed + kPlayers, same.passed) || !std::equal(w.drawn, w.drawn + kPlayers, same.drawn))
    return false;
  Position at;
  for (const Step& step : course_.steps) {
    const Step::Option* option = nullptr;
    for (int k = 0; k < step.num_options; ++k)
      if (step.options[k].way == way[step.card]) option = &step.options[k];
    if (!go(at, option)) return false;
  }
  return at.bits == course_.goal && at.dealt == Course::kGoal;
}

State state(const SeatView& v, const World& w) {
  State s;
  static_cast<PublicState&>(s) = v;
  for (int p = 0; p < kPlayers; ++p) {
    if (w.passed[p] != kNoCard) s.passed[p] = w.passed[p];
    if (w.drawn[p] != kNoCard) s.drawn[p] = w.drawn[p];
  }
  for (int card = 0; card < kNumCards; ++card) {
    const int way = way_in(w, card, v.mission.distress);
    const int holder = v.phase == Phase::kPass ? dealt_to(way) : held_by(way, v.mission.distress);
    if (!(v.played >> card & 1)) s.hand[holder] |= bit(card);
  }
  return s;
}

}  // namespace trickformer::crew
