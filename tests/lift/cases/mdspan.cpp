// A view of several dimensions that is built as the reference implementation of std::mdspan is: extents of
// which some are known to the compiler, a mapping that takes one index after the other, an accessor, and
// members that take no room where they are empty.
#include <cstddef>
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
