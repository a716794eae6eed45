// Python bindings of trackers, single and in bulk, and of the rollout networks that read their features.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "core/tracker.hpp"
#include "nn/rollout_net.hpp"
#include "python/guarded.hpp"
#include "python/tracker.hpp"

using namespace nb::literals;
using namespace trickformer;

namespace {

// A tracker written in Python.
class PythonTracker final : public Tracker {
 public:
  explicit PythonTracker(const nb::object& tracker) : self_(copy_of(tracker)) {
    vocabulary_ = int(array<bool>("possible").size());
    if (vocabulary_ > kMaxVocabulary)
      throw nb::type_error(("a vocabulary may have at most " + std::to_string(kMaxVocabulary) + " tokens").c_str());
  }
  PythonTracker(const PythonTracker& other)
      : self_(copy_of(other.self_)), vocabulary_(other.vocabulary_), features_(other.features_) {}
  PythonTracker& operator=(const PythonTracker&) = delete;
  ~PythonTracker() override {
    nb::gil_scoped_acquire gil;
    self_.reset();
  }

  std::unique_ptr<Tracker> copy() const override {
    nb::gil_scoped_acquire gil;
    return std::make_unique<PythonTracker>(*this);
  }
  int vocabulary() const override { return vocabulary_; }
  bool my_turn() const override { return says("my_turn"); }
  bool terminal() const override { return says("terminal"); }
  bool is_legal() const override { return says("is_legal"); }
  TokenSet legal() const override { return set("legal"); }
  TokenSet possible() const override { return set("possible"); }
  void push(int token) override {
    nb::gil_scoped_acquire gil;
    self_.attr("push")(token);
  }
  int outcome() const override {
    nb::gil_scoped_acquire gil;
    const nb::object found = self_.attr("outcome")(), index = nb::steal(PyNumber_Index(found.ptr()));
    if (!index.is_valid()) throw nb::python_error();
    int outcome = -1;
    if (!nb::try_cast(index, outcome)) throw nb::value_error("outcome() of a tracker returned a number out of range");
    return outcome;
  }
  int feature_count() const override {
    if (features_ < 0) {
      nb::gil_scoped_acquire gil;
      features_ = int(array<float>("features").size());
    }
    return features_;
  }
  void features(float* out) const override {
    const int n = feature_count();
    nb::gil_scoped_acquire gil;
    const In1<float> found = array<float>("features");
    if (int(found.size()) != n) throw nb::type_error("features() of a tracker changed its length");
    std::copy_n(found.data(), n, out);
  }

 private:
  static nb::object copy_of(const nb::object& tracker) {
    nb::object copy = tracker.attr("copy")();
    if (copy.is(tracker)) throw nb::type_error("copy() of a tracker returned the tracker itself");
    return copy;
  }
  bool says(const char* method) const {
    nb::gil_scoped_acquire gil;
    const int yes = PyObject_IsTrue(self_.attr(method)().ptr());
    if (yes < 0) throw nb::python_error();
    return yes;
  }
  // The array that a method returns; it keeps its memory alive. The GIL must be held.
  template <typename T>
  In1<T> array(const char* method) const {
    In1<T> out;
    if (!nb::try_cast(self_.attr(method)(), out, false))
      throw nb::type_error((std::string(method) + "() of a tracker returns a numpy array, " +
                            (std::is_same_v<T, bool> ? "bool [V]" : "float32 [F]"))
                               .c_str());
    return out;
  }
  TokenSet set(const char* method) const {
    nb::gil_scoped_acquire gil;
    const In1<bool> mask = array<bool>(method);
    if (int(mask.size()) != vocabulary_)
      throw nb::type_error((std::string(method) + "() of a tracker has another length than possible() had").c_str());
    TokenSet out;
    for (int t = 0; t < vocabulary_; ++t)
      if (mask(std::size_t(t))) out.add(t);
    return out;
  }

  nb::object self_;
  int vocabulary_ = 0;
  mutable int features_ = -1;  // number of features, -1 until the first request
};

struct Seats {
  Seats() = default;
  Seats(Seats&&) = default;  // it owns its trackers, so it can be moved but not copied
  std::vector<std::unique_ptr<Tracker>> trackers;
  std::size_t width() const { return trackers.empty() ? 0 : std::size_t(trackers[0]->feature_count()); }
};

// Writes the features of a tracker, whose number must be `width`: trackers written in Python may differ in theirs.
void write_features(const Tracker& tracker, std::size_t width, float* out) {
  if (std::size_t(tracker.feature_count()) != width) throw nb::type_error("features() of a tracker changed its length");
  tracker.features(out);
}

}  // namespace

std::unique_ptr<Tracker> trickformer::copy_tracker(nb::handle tracker) {
  if (nb::isinstance<Tracker>(tracker)) return constructed<Tracker>(tracker).copy();
  return std::make_unique<PythonTracker>(nb::borrow(tracker));
}

void bind_tracker(nb::module_& m) {
  const auto mask = [](const Tracker& tracker, const TokenSet& set) {
    auto out = make<bool>({std::size_t(tracker.vocabulary())});
    for (int t = 0; t < tracker.vocabulary(); ++t) out.data()[t] = set.has(t);
    return out;
  };
  nb::class_<Tracker>(m, "Tracker", "Tracker of one seat's observations in the core; see trickformer.base.Tracker.")
      .def("copy", &Tracker::copy)
      .def("__copy__", &Tracker::copy)
      .def("my_turn", &Tracker::my_turn)
      .def("terminal", &Tracker::terminal)
      .def("is_legal", &Tracker::is_legal)
      .def(
          "push", [](Tracker& t, int token) { t.push(as_token(token)); }, "token"_a)
      .def("outcome",
           [](const Tracker& t) -> std::optional<int> {
             if (!t.terminal()) throw nb::value_error("a history has an outcome only at its end");
             return t.is_legal() ? std::optional(t.outcome()) : std::nullopt;
           })
      .def("legal", [mask](const Tracker& t) { return mask(t, t.legal()); })
      .def("possible", [mask](const Tracker& t) { return mask(t, t.possible()); })
      .def_prop_ro("n_features", &Tracker::feature_count)
      .def_prop_ro(
          "script_features",
          [](const Tracker& t) {
            std::vector<int> indices;
            for (const auto& range : t.script_features())
              for (int i = range.first; i < range.last; ++i) indices.push_back(i);
            return indices;
          },
          "Indices of the features that hold the actions and ratings of the game's scripted player.")
      .def("features", [](const Tracker& t) {
        auto out = make<float>({std::size_t(t.feature_count())});
        t.features(out.data());
        return out;
      });
  m.def(
      "follow",
      [](nb::handle tracker, In2<std::int16_t> tokens, In1<std::int32_t> lengths, bool possible) {
        const std::unique_ptr<Tracker> own = copy_tracker(tracker);
        const Tracker& start = *own;
        const std::size_t n = tokens.shape(0), length = tokens.shape(1);
        const std::size_t features = std::size_t(start.feature_count()), vocabulary = std::size_t(start.vocabulary());
        if (lengths.size() != n) throw nb::value_error("lengths must have one entry per sequence");
        for (std::size_t i = 0; i < n; ++i)
          if (lengths(i) < 0 || std::size_t(lengths(i)) > length)
            throw nb::value_error("a length must be between 0 and the row's length");
        auto out = make<float>({n, length, features});
        auto next = make<bool>({possible ? n : 0, length, vocabulary});
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < n; ++i)
          follow(start, tokens.data() + i * length, lengths.data()[i], out.data() + i * length * features,
                 possible ? next.data() + i * length * vocabulary : nullptr);
        return std::make_pair(out, next);
      },
      "start"_a, "tokens"_a, "lengths"_a, "possible"_a,
      "Return the features after each of the first lengths[i] tokens of each sequence, float32 [n, T, F], and the "
      "possible next tokens, bool [n, T, V], or [0, T, V] if not `possible`. tokens: int16 [n, T]. Entries after "
      "lengths[i] are 0 and False.");

  nb::class_<RolloutNet>(m, "RolloutNet", "Rollout network: a small network on features that plays hands to the end.")
      .def(
          "__init__",
          [](RolloutNet* self, In2<float> first, In2<float> second, In1<float> third) {
            if (first.shape(0) < 1 || first.shape(1) != second.shape(1) || second.shape(0) != third.shape(0))
              throw nb::value_error(
                  "first, second and third must be [features + 1, hidden], [actions, hidden] and [actions]");
            new (self) RolloutNet(int(first.shape(0)) - 1, int(first.shape(1)), int(third.size()), finite(first),
                                  finite(second), finite(third));
          },
          "first"_a, "second"_a, "third"_a,
          "first: float32 [features + 1, hidden], weights of the hidden layer, the last row the bias. second: float32 "
          "[actions, hidden] and third: float32 [actions], weights and bias of the action values.")
      .def(
          "values",
          [](const RolloutNet& self, In2<float> features) {
            if (features.shape(1) != std::size_t(self.features))
              throw nb::value_error("features must have the length that the network was built for");
            auto out = make<float>({features.shape(0), std::size_t(self.actions)});
            for (std::size_t i = 0; i < features.shape(0); ++i) {
              RolloutState state(self);
              for (int f = 0; f < self.features; ++f)
                if (features(i, f) != 0) state(f, features(i, f));
              state.finish();
              for (int a = 0; a < self.actions; ++a)
                out.data()[i * std::size_t(self.actions) + std::size_t(a)] = state.value(a);
            }
            return out;
          },
          "features"_a, "Return action values, float32 [n, actions], for features, float32 [n, features].");

  Guarded<Seats>(m, "Seats", "Trackers of many growing sequences.")
      .def(
          "__init__",
          [](Seats* self, nb::handle start, std::size_t n) {
            Seats seats;
            check_room(n, 1024);  // a tracker has about that many bytes
            for (std::size_t i = 0; i < n; ++i) seats.trackers.push_back(copy_tracker(start));
            new (self) Seats(std::move(seats));
          },
          "start"_a, "n"_a)
      .def(
          "push",
          [](Seats& self, In1<std::int32_t> rows, In1<std::int32_t> tokens, In1<std::int32_t> lengths) {
            if (rows.size() != lengths.size())
              throw nb::value_error("the numbers of lengths and rows differ; give one length per row");
            std::size_t total = 0;
            for (std::size_t i = 0; i < rows.size(); ++i) {
              checked(rows(i), self.trackers.size(), "sequence");
              if (lengths(i) < 0) throw nb::value_error("lengths must not be negative");
              total += std::size_t(lengths(i));
            }
            if (total != tokens.size()) throw nb::value_error("the lengths must add up to the number of tokens");
            const std::size_t width = self.width();
            auto out = make<float>({total, width});
            float* at = out.data();
            const std::int32_t* token = tokens.data();
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < rows.size(); ++i) {
              Tracker& tracker = *self.trackers[std::size_t(rows(i))];
              for (int j = 0; j < lengths(i); ++j, at += width) {
                tracker.push(as_token(*token++));
                write_features(tracker, width, at);
              }
            }
            return out;
          },
          "rows"_a, "tokens"_a, "lengths"_a,
          "Extend sequence rows[i] by the next lengths[i] tokens. Returns the features after each token, float32 "
          "[tokens, F].")
      .def(
          "after",
          [](const Seats& self, In1<std::int32_t> rows, In1<std::int32_t> tokens) {
            if (rows.size() != tokens.size())
              throw nb::value_error("the numbers of tokens and rows differ; give one token per row");
            for (std::size_t i = 0; i < rows.size(); ++i) checked(rows(i), self.trackers.size(), "sequence");
            const std::size_t width = self.width();
            auto out = make<float>({tokens.size(), width});
            nb::gil_scoped_release release;
            for (std::size_t i = 0; i < rows.size(); ++i) {
              const auto next = self.trackers[std::size_t(rows(i))]->copy();
              next->push(as_token(tokens(i)));
              write_features(*next, width, out.data() + i * width);
            }
            return out;
          },
          "rows"_a, "tokens"_a,
          "Return the features of sequence rows[i] if token tokens[i] followed, float32 [n, F]. The sequences are "
          "unchanged.");
}
