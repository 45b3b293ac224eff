// A view of several dimensions that is built as the reference implementation of std::mdspan is: extents of
// which some are known to the compiler, a mapping that takes one index after the other, an accessor, and
// members that take no room where they are empty.
#include <array>
#include <cassert>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace views {

constexpr std::size_t any = static_cast<std::size_t>(-1);

// The value number r of a list that the compiler knows.
template <std::size_t R, std::size_t First, std::size_t... Rest>
struct Fixed {
    static constexpr std::size_t get(std::size_t r) {
        if constexpr (sizeof...(Rest) > 0) {
            if (r != R) return Fixed<R + 1, Rest...>::get(r);
        }
        return First;
    }
};
// The sum of those before number r.
template <std::size_t R, std::size_t First, std::size_t... Rest>
struct Before {
    static constexpr std::size_t get(std::size_t r) {
        if (r <= R) return 0;
        if constexpr (sizeof...(Rest) > 0)
            return First + Before<R + 1, Rest...>::get(r);
        else
            return First;
    }
};

template <class T, std::size_t N>
struct Held {
    T values[N];
    constexpr const T& operator[](std::size_t r) const { return values[r]; }
};
template <class T>
struct Held<T, 0> {
    constexpr T operator[](std::size_t) const { return 1; }
};

template <class I, std::size_t... E>
class Extents {
public:
    using Index = I;
    template <class... N>
    constexpr explicit Extents(N... n) : held_{static_cast<I>(n)...} {}
    static constexpr std::size_t rank() { return sizeof...(E); }
    constexpr I extent(std::size_t r) const noexcept {
        const std::size_t known = Fixed<0, E...>::get(r);
        return known == any ? held_[Before<0, std::size_t(E == any)...>::get(r)] : static_cast<I>(known);
    }

private:
    [[no_unique_address]] Held<I, ((E == any) + ... + 0)> held_;
};

template <class A, class B>
class Both {
public:
    constexpr Both(A&& first, B&& second) : first_(std::move(first)), second_(std::move(second)) {}
    constexpr const A& first() const noexcept { return first_; }
    constexpr const B& second() const noexcept { return second_; }

private:
    [[no_unique_address]] A first_;
    [[no_unique_address]] B second_;
};

struct ByRows {
    template <class X>
    class Mapping {
    public:
        constexpr Mapping(const X& extents) noexcept : extents_(extents) {}
        constexpr const X& extents() const noexcept { return extents_; }
        template <class... I>
        constexpr typename X::Index operator()(I... at) const noexcept {
            return offset(Level<0>(), static_cast<typename X::Index>(0),
                          static_cast<typename X::Index>(at)...);
        }

    private:
        template <std::size_t>
        struct Level {};
        template <std::size_t R, class I, class... Rest>
        constexpr I offset(Level<R>, I before, const I& at, Rest... rest) const {
            return offset(Level<R + 1>(), before * extents_.extent(R) + at, rest...);
        }
        template <class I>
        constexpr I offset(Level<X::rank()>, I all) const {
            return all;
        }
        [[no_unique_address]] X extents_;
    };
};

template <class T>
struct Plain {
    constexpr T& access(T* first, std::size_t at) const noexcept { return first[at]; }
};

template <class T, class X, class Layout = ByRows, class Access = Plain<T>>
class View {
public:
    using Index = typename X::Index;
    template <class... N>
    constexpr explicit View(T* first, N... n)
        : members_(std::move(first), Inner(Mapping(X(static_cast<Index>(std::move(n))...)), Access())) {}
    template <class... I>
    constexpr T& operator()(I... at) const {
        return members_.second().second().access(
            members_.first(), members_.second().first()(static_cast<Index>(std::move(at))...));
    }
    constexpr Index extent(std::size_t r) const noexcept {
        return members_.second().first().extents().extent(r);
    }

private:
    using Mapping = typename Layout::template Mapping<X>;
    using Inner = Both<Mapping, Access>;
    Both<T*, Inner> members_;
};

template <class T>
using Plane = View<T, Extents<int, any, any>>;

// case view_given --no-alias: views by value
void view_given(Plane<const double> u, Plane<double> w) {
    for (int j = 1; j < u.extent(0) - 1; ++j)
        for (int i = 0; i < u.extent(1); ++i)
            w(j, i) = u(j - 1, i) + u(j + 1, i);
}

// case view_of_fixed_rows --no-alias: rows of a length that the compiler knows, and unsigned indices
void view_of_fixed_rows(const View<const float, Extents<std::size_t, any, 24>>& u,
                        const View<float, Extents<std::size_t, any, 24>>& w) {
    for (std::size_t j = 0; j < u.extent(0); ++j)
        for (std::size_t i = 1; i < w.extent(1) - 1; ++i)
            w(j, i) = 0.5f * (u(j, i - 1) + u(j, i + 1));
}

// case view_made: views that a function makes of its pointers
void view_made(int nz, int ny, int nx, const double* __restrict u, double* __restrict w) {
    using Block = Extents<int, any, any, any>;
    const View<const double, Block> from(u, nz, ny, nx);
    const View<double, Block> to(w, nz, ny, nx);
    for (int k = 1; k < nz - 1; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i)
                to(k, j, i) = from(k - 1, j, i) - 2 * from(k, j, i) + from(k + 1, j, i);
}

}  // namespace views

// Of the newer implementations (libc++, CCCL): lengths in an array, tables that the compiler computes, parts
// that are private base classes, and checks.
namespace views::newer {

template <std::size_t... IsOpen>
struct Positions {
    static constexpr std::array<std::size_t, sizeof...(IsOpen)> make() {
        const std::array<std::size_t, sizeof...(IsOpen)> open{IsOpen...};
        std::array<std::size_t, sizeof...(IsOpen)> found{};
        std::size_t sum = 0;
        for (std::size_t r = 0; r != sizeof...(IsOpen); ++r) {
            found[r] = sum;
            sum += open[r];
        }
        return found;
    }
    static constexpr std::array<std::size_t, sizeof...(IsOpen)> all = make();
    static constexpr std::size_t of(std::size_t r) { return all[r]; }
};

template <class I, std::size_t... E>
class Lengths {
public:
    static constexpr std::size_t rank() { return sizeof...(E); }
    static constexpr std::size_t open() { return ((E == any) + ... + 0); }
    constexpr explicit Lengths(const std::array<I, sizeof...(E)>& all) {
        constexpr std::array<std::size_t, sizeof...(E)> known{E...};
        for (std::size_t r = 0; r < rank(); ++r)
            if (known[r] == any) held_[Positions<(E == any)...>::of(r)] = all[r];
    }
    constexpr I extent(std::size_t r) const {
        assert(r < rank());
        constexpr std::array<std::size_t, sizeof...(E)> known{E...};
        return known[r] == any ? held_[Positions<(E == any)...>::of(r)] : static_cast<I>(known[r]);
    }

private:
    I held_[open()];
};

template <std::size_t N, class T>
struct Part {
    T held;
    constexpr explicit Part(const T& of) : held(of) {}
    Part(const Part& of) = default;
    constexpr const T& get() const { return held; }
};
template <class A, class B>
struct Parts : private Part<0, A>, private Part<1, B> {
    constexpr Parts(const A& a, const B& b) : Part<0, A>(a), Part<1, B>(b) {}
    template <std::size_t N>
    constexpr decltype(auto) get() const {
        if constexpr (N == 0)
            return static_cast<const Part<0, A>*>(this)->get();
        else
            return static_cast<const Part<1, B>*>(this)->get();
        __builtin_unreachable();
    }
};

template <class T, class L>
class Checked : private Parts<T*, L> {
public:
    Checked(T* first, const L& lengths) : Parts<T*, L>(first, lengths) {}
    int extent(std::size_t r) const { return this->template get<1>().extent(r); }
    T& operator()(int j, int i) const {
        assert(j >= 0 && j < extent(0) && i >= 0 && i < extent(1));
        return this->template get<0>()[j * extent(1) + i];
    }
    T& at(int j, int i) const {
        if (j < 0 || j >= extent(0) || i < 0 || i >= extent(1)) throw std::out_of_range("a cell");
        return (*this)(j, i);
    }
};
using Open = Lengths<int, any, any>;
using Rows = Lengths<int, any, 24>;

// case checked_views --no-alias: accesses that are checked, where the loops show that they are inside
void checked_views(const Checked<const double, Open>& u, const Checked<double, Open>& w) {
    for (int j = 0; j + 1 < u.extent(0); ++j)
        for (int i = 1; i < u.extent(1); ++i)
            w.at(j, i) = u(j + 1, i) - u.at(j, i - 1);
}

// case past_the_view refused: this leaves the loops by an exception: a cell that is checked and not inside
void past_the_view(const Checked<double, Open>& w) {
    for (int j = 0; j < w.extent(0); ++j)
        for (int i = 0; i < w.extent(1); ++i)
            w.at(j, i + 1) = 2;
}

// case views_of_arrays: views whose lengths come in an array
void views_of_arrays(int ny, const float* __restrict u, float* __restrict w) {
    const std::array<int, 2> shape{ny, 24};
    const Checked<const float, Rows> from(u, Rows(shape));
    const Checked<float, Rows> to(w, Rows({ny, 24}));
    for (int j = 1; j < ny - 1; ++j)
        for (int i = 1; i < 23; ++i)
            to(j, i) = 0.5f * (from(j, i - 1) + from(j - 1, i));
}

struct Box {
    std::pair<int, int> rows;
    std::array<int, 2> columns;
};
std::array<int, 2> inside(std::array<int, 2> of) {
    of[0] = of[0] + 1;
    return {of[0], of[1] - 1};
}
// case pairs_and_arrays nests 1: a pair of the library, and short arrays as values
void pairs_and_arrays(int nx, int ny, const double* __restrict u, double* __restrict w) {
    const std::array<int, 2> whole{0, nx};
    const Box box{std::pair(1, ny - 1), inside(whole)};
    for (int j = box.rows.first; j < box.rows.second; ++j)
        for (int i = box.columns[0]; i < box.columns[1]; ++i)
            w[j * nx + i] = u[j * nx + i - 1] + u[(j + 1) * nx + i];
}

}  // namespace views::newer
