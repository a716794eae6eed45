// numpy arrays as arguments and results.
//
// An argument of another dtype is accepted if it has the same values: integers that fit, and integers or floats if
// floats are required. A float is never accepted as an integer. An array that is not contiguous is copied. A caller
// must not write to an array while a call that has released the GIL reads it.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace trickformer {

namespace nb = nanobind;

template <typename T, typename... Shape>
class In : public nb::ndarray<const T, Shape..., nb::c_contig, nb::device::cpu> {
 public:
  using Array = nb::ndarray<const T, Shape..., nb::c_contig, nb::device::cpu>;
  In() = default;
  explicit In(Array array) : Array(std::move(array)) {}
};
template <typename T>
using In1 = In<T, nb::ndim<1>>;
template <typename T>
using In2 = In<T, nb::ndim<2>>;
template <typename T>
using In3 = In<T, nb::ndim<3>>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T>;

// Error for a size beyond the memory of this machine. Such an allocation may succeed, and the process is killed when it
// writes to the memory.
class TooLarge final : public std::bad_alloc {
 public:
  TooLarge(std::size_t n, std::size_t bytes)
      : message_(std::to_string(n) + " items of " + std::to_string(bytes) + " bytes exceed this machine's memory") {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// Raises TooLarge (MemoryError in Python) if n items of `bytes` bytes exceed the memory.
inline void check_room(std::size_t n, std::size_t bytes) {
  static const std::size_t kRoom = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  if (bytes && n > kRoom / bytes) throw TooLarge(n, bytes);
}

// A new numpy array that owns its memory.
template <typename T>
Out<T> make(std::initializer_list<std::size_t> shape, T fill = T{}) {
  std::size_t n = 1;
  for (const std::size_t d : shape) {
    check_room(d, n * sizeof(T));
    n *= d;
  }
  T* data = new T[n];
  std::fill(data, data + n, fill);
  return Out<T>(data, shape, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

// A new numpy array, int32 [n], of some numbers.
inline Out<std::int32_t> to_array(const std::vector<int>& numbers) {
  auto out = make<std::int32_t>({numbers.size()});
  std::copy(numbers.begin(), numbers.end(), out.data());
  return out;
}

// Returns whether all numbers of a strided array, of any number of dimensions, are in the range of T.
template <typename T, typename From, typename Array>
bool fits(const Array& array, const From* at, std::size_t axis = 0) {
  if (axis == array.ndim()) return std::in_range<T>(*at);
  for (std::size_t i = 0; i < array.shape(axis); ++i)
    if (!fits<T>(array, at + std::int64_t(i) * array.stride(axis), axis + 1)) return false;
  return true;
}

// Returns whether the values of an array of any dtype can be converted to T: integers if they fit, floats only to
// floats.
template <typename T>
bool keeps_values(const nb::ndarray<nb::ro, nb::device::cpu>& array) {
  using nb::dlpack::dtype_code;
  const auto code = dtype_code(array.dtype().code);
  const bool whole = code == dtype_code::Int || code == dtype_code::UInt || code == dtype_code::Bool;
  if constexpr (std::is_floating_point_v<T>) {
    return whole || code == dtype_code::Float || code == dtype_code::Bfloat;
  } else if constexpr (std::is_same_v<T, bool>) {
    return false;
  } else {
    const bool negative = code == dtype_code::Int;
    const auto look = [&](auto number, auto positive) {
      return negative ? fits<T>(array, static_cast<const decltype(number)*>(array.data()))
                      : fits<T>(array, static_cast<const decltype(positive)*>(array.data()));
    };
    if (!whole) return false;
    switch (array.dtype().bits) {
      case 8: return look(std::int8_t{}, std::uint8_t{});
      case 16: return look(std::int16_t{}, std::uint16_t{});
      case 32: return look(std::int32_t{}, std::uint32_t{});
      case 64: return look(std::int64_t{}, std::uint64_t{});
      default: return false;
    }
  }
}

}  // namespace trickformer

// Every array argument passes this caster: nanobind's own, without its silent conversions.
template <typename T, typename... Shape>
struct nanobind::detail::type_caster<trickformer::In<T, Shape...>> {
  using Plain = make_caster<typename trickformer::In<T, Shape...>::Array>;
  using Any = make_caster<nanobind::ndarray<nanobind::ro, nanobind::device::cpu>>;
  using Taken = trickformer::In<T, Shape...>;
  NB_TYPE_CASTER(Taken, Plain::Name)

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    const std::uint32_t as_it_is = flags & ~std::uint32_t(cast_flags::convert);
    Plain plain;
    if (!plain.from_python(source, as_it_is, cleanup)) {
      Any any;
      if (!(flags & std::uint32_t(cast_flags::convert)) || !any.from_python(source, as_it_is, cleanup) ||
          !trickformer::keeps_values<T>(any.value) || !plain.from_python(source, flags, cleanup))
        return false;
    }
    value = Taken(std::move(plain.value));
    return true;
  }
};
