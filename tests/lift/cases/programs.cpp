// C++ functions that do other things besides.
#include <cstdio>

namespace app {

// case by_reference nests 1: a sum into a number by reference
void by_reference(int n, const double* __restrict u, double& total) {
    std::printf("%d\n", n);
    for (int i = 0; i < n; ++i)
        total += u[i] * u[i];
}

// case counts_by_reference nests 1: a count into a long by reference
void counts_by_reference(int n, const double* __restrict u, long& found) {
    std::printf("%d\n", n);
    for (int i = 0; i < n; ++i)
        if (u[i] > 0) found += 2;
}

// case sets_reference nests 1: a number by reference that is set besides
void sets_reference(int n, const double* __restrict u, double* __restrict w, int& last) {
    for (int i = 0; i < n; ++i)
        w[i] = u[i];
    last = n;
}

// case second_name nests 0 refused: by another name: a sum that has a second name
double second_name(int n, const double* __restrict u, double* __restrict w) {
    double sum = 0;
    const double& now = sum;
    for (int i = 0; i < n; ++i) {
        sum += u[i];
        w[i] = now;
    }
    return sum;
}

// case copied_before nests 0 refused: which function this calls: a lambda that has copied what has changed
// since
void copied_before(int n, const double* __restrict u, double* __restrict w) {
    int shift = 1;
    const auto at = [shift](int i) { return i + shift; };
    shift = 2;
    std::printf("%d\n", shift);
    for (int i = 0; i < n - 1; ++i)
        w[i] = u[at(i)];
}

template <class T>
const T& larger(const T& a, const T& b) {
    return a < b ? b : a;
}
// case set_after_choice: a reference that a function returns, to what changes afterwards
void set_after_choice(int n, double p, double q, const double* __restrict u, double* __restrict w) {
    const double& most = larger(p, q);
    p = 0.5;
    q = 0.25;
    for (int i = 0; i < n; ++i)
        w[i] = most * u[i];
}

template <class T>
T& first(T& a, T&) {
    return a;
}
// case set_by_returned nests 1: a length that is changed by a reference that a function returns
void set_by_returned(int n, int k, const double* __restrict u, double* __restrict w) {
    int& other = first(n, k);
    const int cells = n * 2;
    other = 7;
    std::printf("%d\n", n);
    for (int i = 0; i < cells; ++i)
        w[i] = u[i] * n;
}

}  // namespace app
