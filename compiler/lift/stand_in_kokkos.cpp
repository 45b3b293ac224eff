#include "compiler/lift/stand_in_headers.h"

namespace halo::lift {

const char kAnyOrder[] = "halo_lift_any_order", kElsewhere[] = "halo_lift_elsewhere",
           kTurn[] = "halo_lift_turn";

// Views of up to four dimensions in the host's memory, and loops over ranges. What is declared and has no
// body is refused where it is called; what is not here does not compile.
const char kKokkosHeader[] = R"(
#pragma once
#pragma clang system_header
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <type_traits>
#include <utility>
#define KOKKOS_VERSION 40000
#define KOKKOS_FUNCTION
#define KOKKOS_INLINE_FUNCTION inline
#define KOKKOS_FORCEINLINE_FUNCTION inline
#define KOKKOS_DEFAULTED_FUNCTION
#define KOKKOS_LAMBDA [=]
#define KOKKOS_CLASS_LAMBDA [=, *this]
#define KOKKOS_RESTRICT __restrict
namespace Kokkos {

using std::abs;
using std::fabs; using std::sqrt; using std::cbrt; using std::exp; using std::log; using std::pow;
using std::sin; using std::cos; using std::tan; using std::asin; using std::acos; using std::atan;
using std::atan2; using std::sinh; using std::cosh; using std::tanh; using std::floor; using std::ceil;
using std::trunc; using std::fmin; using std::fmax;
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }

struct HostSpace { using size_type = std::size_t; };
struct Serial { using memory_space = HostSpace; using size_type = std::size_t; void fence() const {} };
struct OpenMP { using memory_space = HostSpace; using size_type = std::size_t; void fence() const {} };
struct Threads { using memory_space = HostSpace; using size_type = std::size_t; void fence() const {} };
using DefaultExecutionSpace = Serial;
using DefaultHostExecutionSpace = Serial;
template <class E, class M> struct Device { using execution_space = E; using memory_space = M; };
struct LayoutRight {};
struct LayoutLeft {};
enum MemoryTraitsFlags : unsigned { Unmanaged = 1, RandomAccess = 2, Atomic = 4, Restrict = 8, Aligned = 16 };
template <unsigned F> struct MemoryTraits { static_assert((F & Atomic) == 0, "haloc lift knows no atomic views"); };
using MemoryUnmanaged = MemoryTraits<Unmanaged>;
struct Static {};
struct Dynamic {};
template <class T = Static> struct Schedule {};
template <class T> struct IndexType { using type = T; };
template <unsigned T, unsigned B = 0> struct LaunchBounds {};
enum class Iterate { Default, Left, Right };
template <unsigned N, Iterate Outer = Iterate::Default, Iterate Inner = Iterate::Default>
struct Rank { static constexpr unsigned rank = N; };
template <class T, std::size_t N> struct Array {
    T held[N];
    constexpr T& operator[](std::size_t r) { return held[r]; }
    constexpr const T& operator[](std::size_t r) const { return held[r]; }
    static constexpr std::size_t size() { return N; }
};

namespace Impl {
// double**[3]: what an element is, how many dimensions have a length of then, and those of the others.
template <class D> struct Shape { using element = D; static constexpr unsigned dynamic = 0, fixed = 0; };
template <class D> struct Shape<D*> {
    using element = typename Shape<D>::element;
    static constexpr unsigned dynamic = Shape<D>::dynamic + 1, fixed = 0;
};
template <class D, std::size_t N> struct Shape<D[N]> {
    using element = typename Shape<std::remove_all_extents_t<D>>::element;
    static constexpr unsigned dynamic = Shape<std::remove_all_extents_t<D>>::dynamic, fixed = std::rank_v<D> + 1;
};
template <class D, unsigned R> constexpr std::size_t fixed_extent() {
    if constexpr (R < Shape<D>::dynamic) return 0;
    else return std::extent_v<D, R - Shape<D>::dynamic>;
}
template <class T> struct Tag { static constexpr bool value = true; };
template <> struct Tag<Serial> { static constexpr bool value = false; };
template <> struct Tag<OpenMP> { static constexpr bool value = false; };
template <> struct Tag<Threads> { static constexpr bool value = false; };
template <class T> struct Tag<Schedule<T>> { static constexpr bool value = false; };
template <class T> struct Tag<IndexType<T>> { static constexpr bool value = false; };
template <unsigned T, unsigned B> struct Tag<LaunchBounds<T, B>> { static constexpr bool value = false; };
template <unsigned N, Iterate O, Iterate I> struct Tag<Rank<N, O, I>> { static constexpr bool value = false; };
template <class... P> struct Index { using type = std::size_t; };
template <class T, class... P> struct Index<T, P...> {
    using type = std::conditional_t<std::is_integral_v<T>, T, typename Index<P...>::type>;
};
template <class T, class... P> struct Index<IndexType<T>, P...> { using type = T; };
template <class... P> struct RankOf { static constexpr unsigned value = 0; };
template <class T, class... P> struct RankOf<T, P...> : RankOf<P...> {};
template <unsigned N, Iterate O, Iterate I, class... P> struct RankOf<Rank<N, O, I>, P...> {
    static constexpr unsigned value = N;
};
template <class... P> constexpr bool has_tag = ((Tag<P>::value && !std::is_integral_v<P>) || ...);
}  // namespace Impl

template <class D, class... P> class View {
    using shape = Impl::Shape<D>;
    static constexpr bool is_left = (std::is_same_v<P, LayoutLeft> || ...);

public:
    using element_type = typename shape::element;
    using value_type = element_type;
    using non_const_value_type = std::remove_const_t<element_type>;
    using size_type = std::size_t;
    using array_layout = std::conditional_t<is_left, LayoutLeft, LayoutRight>;
    using execution_space = DefaultExecutionSpace;
    using memory_space = HostSpace;
    using host_mirror_type = View;
    using HostMirror = View;
    static constexpr unsigned rank = shape::dynamic + shape::fixed;
    static constexpr unsigned Rank = rank;
    static_assert(rank >= 1 && rank <= 4, "haloc lift knows views of one to four dimensions");

    View() = default;
    View(const View&) = default;
    View& operator=(const View&) = default;
    template <class E, class... Q> View(const View<E, Q...>& of)
        : data_(of.data_), n0_(of.n0_), n1_(of.n1_), n2_(of.n2_), n3_(of.n3_), stride_(of.stride_) {}
    explicit View(element_type* data, std::size_t n0 = 0, std::size_t n1 = 0, std::size_t n2 = 0, std::size_t n3 = 0)
        : data_(data), n0_(n0), n1_(n1), n2_(n2), n3_(n3),
          stride_(is_left ? n0_ : length<1>() * (rank > 2 ? length<2>() : 1) * (rank > 3 ? length<3>() : 1)) {}
    explicit View(const std::string& label, std::size_t n0 = 0, std::size_t n1 = 0, std::size_t n2 = 0,
                  std::size_t n3 = 0);

    template <class... I> element_type& operator()(const I&... at) const {
        static_assert(sizeof...(I) == rank, "haloc lift knows one index for each dimension");
        return data_[offset(at...)];
    }
    template <class I> element_type& operator[](const I& at) const {
        static_assert(rank == 1, "haloc lift knows [] of views of one dimension");
        return data_[at];
    }
    template <class I> std::size_t extent(const I& r) const {
        return r == 0 ? length<0>() : r == 1 ? length<1>() : r == 2 ? length<2>() : r == 3 ? length<3>() : 1;
    }
    template <class I> int extent_int(const I& r) const { return static_cast<int>(extent(r)); }
    std::size_t size() const {
        return length<0>() * (rank > 1 ? length<1>() : 1) * (rank > 2 ? length<2>() : 1) *
               (rank > 3 ? length<3>() : 1);
    }
    element_type* data() const { return data_; }
    std::string label() const;
    bool is_allocated() const;
    bool span_is_contiguous() const;
    std::size_t stride(std::size_t) const;
    int use_count() const;

private:
    template <class, class...> friend class View;
    template <unsigned R> std::size_t length() const {
        if constexpr (R >= rank) return 1;
        else if constexpr (R >= shape::dynamic) return Impl::fixed_extent<D, R>();
        else if constexpr (R == 0) return n0_;
        else if constexpr (R == 1) return n1_;
        else if constexpr (R == 2) return n2_;
        else return n3_;
    }
    static constexpr bool has_stride = rank > 1 && shape::dynamic > 0;
    template <class I> const I& offset(const I& i) const { return i; }
    template <class I, class J> std::size_t offset(const I& i, const J& j) const {
        if constexpr (is_left) return has_stride ? i + stride_ * j : i + length<0>() * j;
        else return has_stride ? j + i * stride_ : j + length<1>() * i;
    }
    template <class I, class J, class K> std::size_t offset(const I& i, const J& j, const K& k) const {
        if constexpr (is_left) return i + (has_stride ? stride_ : length<0>()) * (j + length<1>() * k);
        else return k + length<2>() * j + i * (has_stride ? stride_ : length<1>() * length<2>());
    }
    template <class I, class J, class K, class L>
    std::size_t offset(const I& i, const J& j, const K& k, const L& l) const {
        if constexpr (is_left)
            return i + (has_stride ? stride_ : length<0>()) * (j + length<1>() * (k + length<2>() * l));
        else
            return l + length<3>() * (k + length<2>() * j) +
                   i * (has_stride ? stride_ : length<1>() * length<2>() * length<3>());
    }

    element_type* data_ = nullptr;
    std::size_t n0_ = 0, n1_ = 0, n2_ = 0, n3_ = 0, stride_ = 0;
};

template <class... P> class RangePolicy {
public:
    using index_type = typename Impl::Index<P...>::type;
    using member_type = index_type;
    RangePolicy(index_type begin, index_type end) : begin_(begin), end_(end) {}
    template <class S> RangePolicy(const S&, index_type begin, index_type end) : begin_(begin), end_(end) {}
    index_type begin() const { return begin_; }
    index_type end() const { return end_; }

private:
    index_type begin_, end_;
};

template <class... P> class MDRangePolicy {
public:
    static constexpr unsigned rank = Impl::RankOf<P...>::value;
    static_assert(rank >= 2 && rank <= 4, "haloc lift knows ranges of two to four dimensions");
    using index_type = typename Impl::Index<P...>::type;
    using point_type = Array<std::int64_t, rank>;
    using tile_type = Array<std::int64_t, rank>;
    template <class L, std::size_t N, class U, std::size_t M>
    MDRangePolicy(const L (&lower)[N], const U (&upper)[M]) {
        for (unsigned r = 0; r < rank; ++r) {
            lower_[r] = lower[r];
            upper_[r] = upper[r];
        }
    }
    template <class L, std::size_t N, class U, std::size_t M, class T, std::size_t K>
    MDRangePolicy(const L (&lower)[N], const U (&upper)[M], const T (&)[K]) : MDRangePolicy(lower, upper) {}
    template <class S, class L, std::size_t N, class U, std::size_t M>
    MDRangePolicy(const S&, const L (&lower)[N], const U (&upper)[M]) : MDRangePolicy(lower, upper) {}
    MDRangePolicy(const point_type& lower, const point_type& upper) {
        for (unsigned r = 0; r < rank; ++r) {
            lower_[r] = lower[r];
            upper_[r] = upper[r];
        }
    }
    MDRangePolicy(const point_type& lower, const point_type& upper, const tile_type&)
        : MDRangePolicy(lower, upper) {}
    std::int64_t lower(unsigned r) const { return lower_[r]; }
    std::int64_t upper(unsigned r) const { return upper_[r]; }

private:
    std::int64_t lower_[rank], upper_[rank];
};

// Upwards or downwards: each run has another order.
inline std::int64_t in_order(bool is_down, std::int64_t i, std::int64_t from, std::int64_t to) {
    return is_down ? to - 1 - (i - from) : i;
}
}  // namespace Kokkos
extern "C" unsigned halo_lift_turn();
extern "C" void kokkos_library();
namespace Kokkos {
#define HALO_LIFT_LOOP(i) for ([[clang::annotate("halo_lift_any_order")]] std::int64_t i = from_##i; i < to_##i; ++i)
#define HALO_LIFT_RANGE(i, axis) const std::int64_t from_##i = range.lower(axis), to_##i = range.upper(axis)
#define HALO_LIFT_CELL(i, down) static_cast<I>(in_order(turn / down % 2 == 1, i, from_##i, to_##i))
template <class... P, class F> std::enable_if_t<!Impl::has_tag<P...>>
parallel_for(const RangePolicy<P...>& range, const F& body) {
    using I = typename RangePolicy<P...>::index_type;
    const unsigned turn = halo_lift_turn();
    const auto from_i = static_cast<std::int64_t>(range.begin()), to_i = static_cast<std::int64_t>(range.end());
    HALO_LIFT_LOOP(i) body(HALO_LIFT_CELL(i, 1));
}
template <class... P, class F> std::enable_if_t<!Impl::has_tag<P...>>
parallel_for(const MDRangePolicy<P...>& range, const F& body) {
    using I = typename MDRangePolicy<P...>::index_type;
    const unsigned turn = halo_lift_turn();
    HALO_LIFT_RANGE(i, 0);
    HALO_LIFT_RANGE(j, 1);
    if constexpr (MDRangePolicy<P...>::rank == 2) {
        HALO_LIFT_LOOP(i)
            HALO_LIFT_LOOP(j) body(HALO_LIFT_CELL(i, 1), HALO_LIFT_CELL(j, 2));
    } else if constexpr (MDRangePolicy<P...>::rank == 3) {
        HALO_LIFT_RANGE(k, 2);
        HALO_LIFT_LOOP(i)
            HALO_LIFT_LOOP(j)
                HALO_LIFT_LOOP(k) body(HALO_LIFT_CELL(i, 1), HALO_LIFT_CELL(j, 2), HALO_LIFT_CELL(k, 4));
    } else {
        HALO_LIFT_RANGE(k, 2);
        HALO_LIFT_RANGE(l, 3);
        HALO_LIFT_LOOP(i)
            HALO_LIFT_LOOP(j)
                HALO_LIFT_LOOP(k)
                    HALO_LIFT_LOOP(l) body(HALO_LIFT_CELL(i, 1), HALO_LIFT_CELL(j, 2), HALO_LIFT_CELL(k, 4), HALO_LIFT_CELL(l, 8));
    }
}
template <class N, class F> std::enable_if_t<std::is_integral_v<N>> parallel_for(const N& count, const F& body) {
    parallel_for(RangePolicy<>(0, count), body);
}
#undef HALO_LIFT_CELL
#undef HALO_LIFT_RANGE
template <class P, class F> std::enable_if_t<!std::is_integral_v<P>> parallel_for(const P& range, const F& body, const std::string&) {
    parallel_for(range, body);
}
template <class P, class F> void parallel_for(const std::string&, const P& range, const F& body) {
    parallel_for(range, body);
}
#undef HALO_LIFT_LOOP
// Ranges with tags, teams, and what is accumulated: functions of a lambda need a body.
#define HALO_LIFT_ELSEWHERE __attribute__((annotate("halo_lift_elsewhere")))
template <class... P, class F> HALO_LIFT_ELSEWHERE std::enable_if_t<Impl::has_tag<P...>>
parallel_for(const RangePolicy<P...>&, const F&) { kokkos_library(); }
template <class... P, class F> HALO_LIFT_ELSEWHERE std::enable_if_t<Impl::has_tag<P...>>
parallel_for(const MDRangePolicy<P...>&, const F&) { kokkos_library(); }
template <class... P> struct TeamPolicy {
    template <class... A> explicit TeamPolicy(const A&...);
    struct member_type { int league_rank() const; int team_rank() const; int team_size() const; };
};
struct AUTO_t {};
inline constexpr AUTO_t AUTO{};
template <class... P, class F> HALO_LIFT_ELSEWHERE void parallel_for(const TeamPolicy<P...>&, const F&) { kokkos_library(); }
template <class... A> HALO_LIFT_ELSEWHERE void parallel_reduce(A&&...) { kokkos_library(); }
template <class... A> HALO_LIFT_ELSEWHERE void parallel_scan(A&&...) { kokkos_library(); }
template <class A, class B> void deep_copy(const A&, const B&);
template <class V> V create_mirror_view(const V&);
template <class V> V create_mirror(const V&);
template <class V, class... N> void resize(V&, N...);
template <class V, class... N> void realloc(V&, N...);
template <class T> void atomic_add(T*, std::common_type_t<T>);
template <class T> void atomic_inc(T*);
template <class T> T atomic_fetch_add(T*, std::common_type_t<T>);
#undef HALO_LIFT_ELSEWHERE
inline void fence() {}
inline void fence(const std::string&) {}
struct InitializationSettings {};
void initialize();
void initialize(int&, char**);
void finalize();
struct ScopeGuard {
    ScopeGuard();
    ScopeGuard(int&, char**);
};
class Timer {
public:
    Timer();
    void reset();
    double seconds() const;
};
}  // namespace Kokkos
)";

}  // namespace halo::lift
