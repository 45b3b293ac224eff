// Views and parallel loops of Kokkos, by the header that haloc lift has for them.
#include <Kokkos_Core.hpp>
#include <cstdio>

using Plane = Kokkos::View<double**>;
using Given = Kokkos::View<const double**>;
using Block = Kokkos::View<double***>;

// case view_loops --no-alias: loops over views by reference
void view_loops(const Given& u, const Plane& w, double k) {
    for (int j = 1; j < u.extent_int(0) - 1; ++j)
        for (std::size_t i = 1; i + 1 < u.extent(1); ++i)
            w(j, i) = u(j, i) + k * (u(j - 1, i) + u(j + 1, i) + u(j, i - 1) + u(j, i + 1) - 4 * u(j, i));
}

// case md_range --no-alias: a range of two dimensions and a lambda
void md_range(Given u, Plane w, double k) {
    const int ny = u.extent(0), nx = u.extent(1);
    Kokkos::parallel_for(
        "step", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({1, 1}, {ny - 1, nx - 1}),
        KOKKOS_LAMBDA(const int j, const int i) {
            w(j, i) = u(j, i) + k * (u(j - 1, i) + u(j + 1, i) + u(j, i - 1) + u(j, i + 1) - 4 * u(j, i));
        });
}

// case rows_of_range --no-alias: a range of rows, and a loop in each
void rows_of_range(Given u, Kokkos::View<double**, Kokkos::LayoutRight> w) {
    const int nx = u.extent(1);
    Kokkos::parallel_for(
        u.extent(0), KOKKOS_LAMBDA(const int j) {
            for (int i = 1; i < nx - 1; ++i)
                w(j, i) = 0.5 * (u(j, i - 1) + u(j, i + 1));
        });
    Kokkos::fence();
}

// case views_of_pointers: views that the function makes, and a range of one dimension
void views_of_pointers(int n, const float* __restrict pu, float* __restrict pw) {
    using Traits = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Kokkos::View<const float*, Kokkos::HostSpace, Traits> u(pu, n);
    const Kokkos::View<float*, Kokkos::HostSpace, Traits> w(pw, n);
    Kokkos::parallel_for(
        Kokkos::RangePolicy<>(1, n - 1), KOKKOS_LAMBDA(int i) { w(i) = u(i - 1) + u[i + 1]; });
}

struct Heat {
    Block u, w;
    double k;
    KOKKOS_INLINE_FUNCTION void operator()(int z, int j, int i) const {
        w(z, j, i) = u(z, j, i) + k * (u(z - 1, j, i) - 2 * u(z, j, i) + u(z + 1, j, i));
    }
};
// case functor --no-alias: an object that is called, in three dimensions
void functor(Block u, Block w, double k, int nz, int ny, int nx) {
    using Policy = Kokkos::MDRangePolicy<Kokkos::DefaultExecutionSpace, Kokkos::Rank<3>>;
    Kokkos::parallel_for("heat", Policy({1, 0, 0}, {nz - 1, ny, nx}, {1, 4, 8}), Heat{u, w, k});
}

struct Across {
    Given u;
    Plane w;
    Across(const Given& from, Plane& to) : u(from), w(to) {}
    KOKKOS_INLINE_FUNCTION void operator()(int j, int i) const { w(j, i) = u(j - 1, i) + u(j + 1, i); }
};
// case functor_made_there --no-alias: an object with a constructor, which is made for the call
void functor_made_there(Given u, Plane w, int ny, int nx) {
    Kokkos::parallel_for(Kokkos::MDRangePolicy<Kokkos::Rank<2>>({1, 0}, {ny - 1, nx}), Across(u, w));
}

// case columns_of_three --no-alias: columns first, and a length that the compiler knows
void columns_of_three(Kokkos::View<const float* [3], Kokkos::LayoutLeft> u,
                      Kokkos::View<float* [3], Kokkos::LayoutLeft> w) {
    for (int c = 0; c < 3; ++c)
        for (std::size_t i = 1; i < u.extent(0) - 1; ++i)
            w(i, c) = u(i - 1, c) + u(i + 1, c);
}

class Wave {
public:
    void step();

private:
    Plane now_, next_;
    double k_;
};
// case Wave::step --no-alias: members that are copied for the lambda
void Wave::step() {
    auto now = now_, next = next_;
    const double k = k_;
    const long ny = now.extent(0), nx = now.extent(1);
    Kokkos::parallel_for(
        Kokkos::MDRangePolicy<Kokkos::Rank<2>>({1L, 0L}, {ny - 1, nx}),
        KOKKOS_LAMBDA(int j, int i) { next(j, i) = now(j, i) + k * now(j - 1, i); });
}

// case between_prints --no-alias nests 1: a parallel loop in a function that prints
void between_prints(Kokkos::View<const double*> u, Kokkos::View<double*> w, int n) {
    std::printf("%d cells\n", n);
    Kokkos::parallel_for(
        Kokkos::RangePolicy<Kokkos::Serial>(1, n), KOKKOS_LAMBDA(int i) { w(i) = u(i) - u(i - 1); });
    std::printf("done\n");
}

// case in_any_order refused: another iteration of this loop: each cell reads one that another iteration
// writes
void in_any_order(Plane u, int ny, int nx) {
    Kokkos::parallel_for(
        Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {ny, nx - 1}),
        KOKKOS_LAMBDA(int j, int i) { u(j, i) = u(j, i + 1); });
}

// case one_cell_for_all --no-alias refused: they have no order: a cell that each iteration writes
void one_cell_for_all(Kokkos::View<double*> u, Kokkos::View<double*> last, int n) {
    Kokkos::parallel_for(n, KOKKOS_LAMBDA(int i) { last(0) = u(i); });
}

// case sum_of_range refused: `Kokkos::parallel_reduce` is called here: a reduction
double sum_of_range(Kokkos::View<double*> u, int n) {
    double sum = 0;
    for (int t = 0; t < 3; ++t)
        Kokkos::parallel_reduce(n, KOKKOS_LAMBDA(int i, double& s) { s += u(i); }, sum);
    return sum;
}

// case teams refused: and its body is not in this file: teams of threads
void teams(Plane u, int ny) {
    using Policy = Kokkos::TeamPolicy<>;
    for (int t = 0; t < 3; ++t)
        Kokkos::parallel_for(Policy(ny, 8), KOKKOS_LAMBDA(const Policy::member_type& team) { u(0, 0) = 2; });
}
