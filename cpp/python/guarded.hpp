// Guards for objects whose methods change them or release the GIL. A second call at the same time raises an error,
// whether it comes from another thread or from a Python tracker that the first call uses.
#pragma once
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/bind.hpp"

namespace trickformer {

// A call in progress, from construction to destruction. A call that changes the object runs alone; calls that only read
// may share it. The caller holds the GIL at construction and at destruction. The GIL also guards the list `calls()`.
class Use {
 public:
  Use(const void* object, bool alone) : mine_{object, alone} {
    for (const Call& call : calls())
      if (call.object == object && (alone || call.alone))
        throw std::runtime_error(
            "another thread is using this object, or a tracker calls the object that it belongs to; give each thread "
            "its own object");
    calls().push_back(mine_);
  }
  ~Use() { calls().erase(std::find(calls().begin(), calls().end(), mine_)); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  struct Call {
    const void* object;
    bool alone;
    bool operator==(const Call&) const = default;
  };
  static std::vector<Call>& calls() {
    static std::vector<Call> list;
    return list;
  }
  Call mine_;
};

// A class whose methods are guarded. A method that takes a T& runs alone; methods that take a const T& may run at the
// same time. Constructors, and methods that take the Python object, are not guarded.
template <typename T>
class Guarded : public nb::class_<T> {
 public:
  using nb::class_<T>::class_;
  explicit Guarded(nb::class_<T> bound) : nb::class_<T>(std::move(bound)) {}

  template <typename F, typename... Extra>
  Guarded& def(const char* name, F f, const Extra&... extra) {
    nb::class_<T>::def(name, guard(f, decltype(signature(f)){}), extra...);
    return *this;
  }
  template <typename... Args, typename... Extra>
  Guarded& def(nb::init<Args...> init, const Extra&... extra) {
    nb::class_<T>::def(std::move(init), extra...);
    return *this;
  }
  template <typename F, typename... Extra>
  Guarded& def_prop_ro(const char* name, F f, const Extra&... extra) {
    nb::class_<T>::def_prop_ro(name, guard(f, decltype(signature(f)){}), extra...);
    return *this;
  }

 private:
  template <typename R, typename Self, typename... Args>
  struct Signature {};
  template <typename F, typename R, typename Self, typename... Args>
  static Signature<R, Self, Args...> of_call(R (F::*)(Self, Args...) const);
  template <typename R, typename... Args>
  static Signature<R, T&, Args...> signature(R (T::*)(Args...));
  template <typename R, typename... Args>
  static Signature<R, const T&, Args...> signature(R (T::*)(Args...) const);
  template <typename F>
  static auto signature(const F&) -> decltype(of_call(&F::operator()));

  template <typename F, typename R, typename Self, typename... Args>
  static auto guard(F f, Signature<R, Self, Args...>) {
    if constexpr (std::is_same_v<Self, T&> || std::is_same_v<Self, const T&>)
      return [f](Self self, Args... args) -> R {
        const Use use(&self, std::is_same_v<Self, T&>);
        return std::invoke(f, self, std::forward<Args>(args)...);
      };
    else
      return f;  // takes the Python object, such as a property whose array shares the object's memory
  }
};

}  // namespace trickformer
