// What was once lifted as something else, or is near to that: control flow, whole numbers, rounding, order.
#include <math.h>
#include <stddef.h>
#include <stdint.h>

// case counter_from_param nests 1: a loop that stays, whose counter starts at a parameter
void counter_from_param(int n, int m, const float *restrict u, float *restrict w) {
    for (int s = m; s < 100; s += 7)
        for (int i = 0; i < n; i++) w[i] = w[i] + s * u[i];
}

// case counter_halved refused: by how much this loop counts: a counter that is halved, as a bound
void counter_halved(int n, const float *restrict u, float *restrict w) {
    for (int s = n; s > 4; s /= 2)
        for (int i = 1; i < s - 1; i++) w[i] = w[i] + u[i];
}

// case two_counters nests 1: several counters in one head
void two_counters(int n, int m, const float *restrict u, float *restrict w) {
    for (int s = m, r = n; s < r; s += 3, r -= 2)
        for (int i = 0; i < n; i++) w[i] = w[i] + (float)s * u[i];
}

// case counter_in_condition nests 1: a counter that the condition changes
void counter_in_condition(int n, int m, const float *restrict u, float *restrict w) {
    int s = m;
    if (s > 50) s = 50;
    while (s-- > 0)
        for (int i = 0; i < n; i++) w[i] = w[i] + (float)s * u[i];
}

// case other_branch: set in the other branch alone, without braces
void other_branch(int n, int m, int s, const float *restrict u, float *restrict w) {
    if (m > 3)
        s = m;
    else
        for (int i = 0; i < n; i++) w[i] = (float)s * u[i];
    w[0] = (float)s;
}

// case nested_continue: `continue` in a branch of a branch
void nested_continue(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) {
        float x = a[i];
        if (x > 0.7f) {
            if (x > 1.0f) continue;
        }
        b[i] = x;
    }
}

// case nested_else: `continue` in an else of a branch, and what follows it
void nested_else(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) {
        float x = a[i];
        if (x > 0.7f) {
            if (x < 1.0f) {
                x = 2 * x;
            } else {
                if (x > 1.2f) continue;
                x = 3 * x;
            }
            x = x + 1;
        } else {
            x = -x;
        }
        b[i] = x;
    }
}

// case return_in_loop refused: the function is left from within this loop: `return` in a loop
void return_in_loop(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) {
        if (a[i] > 0.9f) return;
        b[i] = a[i];
    }
}

// case unsigned_condition refused: may go below zero: an unsigned parameter less a number
void unsigned_condition(int n, unsigned k, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++)
        if (k - 5 > 0) b[i] = a[i];
}

// case negative_as_unsigned refused: may go below zero: a negative number as an unsigned one
void negative_as_unsigned(int n, int k, const float *restrict a, float *restrict b) {
    unsigned h = k;
    for (int i = 0; i < n; i++) b[i] = a[i] * (float)h;
}

// case long_as_int refused: too large for its type: a long number as a short one
void long_as_int(int n, long k, const float *restrict a, float *restrict b) {
    int h = (int)k;
    for (int i = 0; i < n; i++) b[i] = a[i] * (float)h;
}

// case minus_unsigned refused: may go below zero: the negative of an unsigned number
void minus_unsigned(int n, unsigned k, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] * -k;
}

// case minus_byte: the negative of a small unsigned number, which is an int
void minus_byte(int n, unsigned char k, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] * -k;
}

// case bool_param: a parameter that is true or false
void bool_param(int n, _Bool on, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) b[i] = on ? a[i] : -a[i];
}

// case bool_of_int: any number but zero is true
void bool_of_int(int n, int k, const float *restrict a, float *restrict b) {
    _Bool on = k;
    for (int i = 0; i < n; i++)
        if (on) b[i] = a[i];
}

// case unsigned_difference refused: may go below zero: unsigned less unsigned
void unsigned_difference(int n, unsigned k, unsigned m, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] * (double)(k - m);
}

// case spacing_of_size: a length less one, which cannot be below zero where there are cells
void spacing_of_size(size_t n, const double *restrict a, double *restrict b) {
    double h = 1.0 / (double)(n - 1);
    for (size_t i = 1; i < n - 1; i++) b[i] = (a[i + 1] - a[i - 1]) * h;
}

// case long_product refused: computed in 64 bits: a product that a spec would compute in 32 bits
void long_product(int n, int k, int m, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] * (double)((int64_t)k * m);
}

// case narrow_temporary refused: would compute it in double: a float among doubles
void narrow_temporary(int n, double c, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) {
        float t = a[i] * c;
        b[i] = 2.0 * t;
    }
}

// case narrow_cast refused: would compute it in double: a cast to float among doubles
void narrow_cast(int n, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = (float)a[i];
}

// case narrow_root refused: would compute it in double: a root in float among doubles
void narrow_root(int n, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = sqrtf(a[i]);
}

// case narrow_params refused: would compute it in double: parameters that are multiplied in float, among doubles
void narrow_params(int n, float x, float y, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] * (x * y);
}

// case narrow_store: doubles that are stored as floats
void narrow_store(int n, double c, const double *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) {
        float t = a[i] * c;
        b[i] = t;
    }
}

// case open_order refused: which comes first is not said: the index is counted in one part and read in another
void open_order(int n, const double *restrict u, double *restrict w) {
    int j = 1;
    for (int i = 0; i < n; i++) w[j++] = u[j - 1];
}

// case struct_set nests 1: a struct that is another one by then
struct spacing { double dx; };
void struct_set(int n, struct spacing p, struct spacing q, const double *restrict a, double *restrict b) {
    p = q;
    for (int i = 0; i < n; i++) b[i] = a[i] * p.dx;
}

// case constants_of_then: constants that are made of a variable, which changes afterwards
void constants_of_then(int n, double s, const double *restrict a, double *restrict b) {
    const double c[2] = {s, 2 * s};
    s = 5;
    for (int i = 0; i < n; i++) b[i] = c[0] * a[i] + c[1] * s;
}

// case small_matrix: a small matrix that is the function's own
void small_matrix(int n, const double *restrict a, double *restrict b) {
    double m[2][2] = {{1, 2}, {3, 4}};
    for (int i = 0; i < n - 1; i++) b[i] = m[0][0] * a[i] + m[0][1] * a[i + 1] + m[1][0] + m[1][1] * a[i];
}

// case selected: a choice by type, and one that the compiler makes
#define HALF(x) _Generic((x), float: 0.5f * (x), default: 0.5 * (x))
void selected(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) b[i] = HALF(a[i]) + __builtin_choose_expr(sizeof(int) == 4, 2.0f, 3.0f) * a[i];
}

// case padded_list: what a list in braces leaves out is zero
void padded_list(int n, const double *restrict a, double *restrict b) {
    const double w[3] = {1, [2] = 3};
    for (int i = 1; i < n - 1; i++) b[i] = w[0] * a[i - 1] + w[1] * a[i] + w[2] * a[i + 1];
}

// case character: a number that is written as a character, and a statement that does nothing
void character(int n, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) {
        ;
        b[i] = a[i] * '\x03';
    }
}

// case sum_of_cut refused: may be too large for its type: a number that is cut off, in a sum
double sum_of_cut(int n, long g, const double *restrict a) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] - (unsigned char)g;
    return sum;
}

// case turns_of_same nests 1: rotating arrays, of which a step names one alone
void turns_of_same(int n, int steps, float *a, float *b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) b[i] = 0.25f + b[i];
        float *held = a;
        a = b;
        b = held;
    }
}

// case constants_round: constants in calls and conditions, which C rounds one by one
void constants_round(int n, double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) {
        b[i] = (1.0 + 0.1) - fabs(2.0);
        a[i] = (0.5 > 0.25 ? 1.1 : 3.0) - sqrt(4.0);
    }
}

// case unsigned_choice refused: and may wrap around: an unsigned difference of a number that is chosen
void unsigned_choice(int n, _Bool on, const float *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] * ((unsigned)on - 5);
}

// case minus_chosen refused: and may wrap around: the negative of an unsigned number that is chosen
void minus_chosen(int n, const float *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = -(a[i] > 0.7f ? 1u : 2u);
}

// case chosen_constant refused: would compute it in double: constants that a cell chooses, in float among doubles
void chosen_constant(int n, const float *restrict a, double *restrict c) {
    for (int i = 0; i < n; i++) c[i] += a[i] - (2.0f < a[i]);
}

// case left_behind --no-alias refused: two names of one array: a pointer into an array whose name moves on
int left_behind(int n, int steps, float *a, float *b) {
    float *next = a + 1;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = next[i - 1] - a[i + 1];
        float *held = a;
        a = b;
        b = held;
    }
    return 0;
}

// case either_array --no-alias refused: may be the same memory: a pointer that is one of two arrays
int either_array(int n, int k, float *a, float *b) {
    float *to = b;
    if (k > 3) to = a;
    for (int i = 1; i < n; i++) to[i] = a[i - 1];
    return 0;
}

// case names_in_turn --no-alias nests 1: names that are swapped with each other alone
void names_in_turn(int n, int steps, float *a, float *b, void (*show)(const float *)) {
    float *now = a, *next = b;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) next[i] = 0.5f * (now[i - 1] + now[i + 1]);
        float *held = now;
        now = next;
        next = held;
        show(now);
    }
}

// case time_in_condition: a condition on the step, which narrows no loop over cells
void time_in_condition(int n, int k, int steps, const double *restrict a, double *restrict b) {
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < n; i++)
            if (k - 4 >= t) b[i] = b[i] + a[i] * t;
}

// case continue_and_turns: `continue`, and a loop that is written out after it
static const float thirds[3] = {1.5f, 2, 0.5f};
void continue_and_turns(int n, float p, const float *restrict a, float *restrict b) {
    for (int i = 1; i < n - 1; i++) {
        float x = a[i];
        if (x > 0.9f) {
        } else {
            if (p > 0.2f) {
                if (x > 0.7f) continue;
            }
            for (int w = 0; w < 3; w++) x += thirds[w] * a[i + w - 1];
        }
        b[i] = x;
    }
}

// case whole_in_reals refused: and a spec would compute it in whole numbers: ints that are multiplied as doubles
void whole_in_reals(int n, const int *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = (double)a[i] * a[i];
}

// case whole_and_double refused: would compute it in float: an int less a double, among floats
void whole_and_double(int n, double q, const int *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] - q;
}

// case mask_in_reals: a byte as a real
void mask_in_reals(int n, const unsigned char *restrict mask, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = 2.0 * mask[i] + 1.0;
}

// case chosen_double refused: and a spec would compute it in float: a double that a cell chooses, beside floats
void chosen_double(int n, const float *restrict a, float *restrict b) {
    for (int i = 0; i < n; i++)
        if (0.1f > (a[i] > 0.9f ? 1.5f : 0.1)) b[i] = a[i];
}

// case sum_from_zero: a sum that begins at zero, which makes 0 of a zero below zero
void sum_from_zero(int n, const double *restrict a, double *restrict b) {
    for (int i = 1; i < n - 1; i++) {
        double s = 0.0;
        for (int k = -1; k <= 1; k++) s += a[i + k];
        b[i] = 1.0 / s;
    }
}

// case zero_below_zero refused: and a spec's zero has no sign: a zero below zero
void zero_below_zero(int n, const double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = a[i] * -0.0;
}

// case stored_zero refused: and a spec's zero has no sign: one that is stored
void stored_zero(int n, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = -0.0;
}

// case zero_taken_away refused: and a spec's zero has no sign: a constant that is computed
void zero_taken_away(int n, double *restrict a) {
    const double none = 3.0 * 0.0;
    for (int i = 0; i < n; i++) a[i] = a[i] - -none;
}

// case no_minus_zero: whole numbers of parameters, whose negative is 0 and not -0.0
void no_minus_zero(int n, signed char k, signed char m, _Bool on, double *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) {
        a[i] = 1 / (double)-k + 1 / (double)(k * m) - 1 / (double)(-k - 2 * m);
        b[i] = 1 / (double)-on - 1 / (double)(k * on);
    }
}

// case minus_whole refused: no zero below zero: an int that is a real before its sign changes
void minus_whole(int n, const int *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = -(double)a[i];
}

// case times_minus_two refused: no zero below zero: a product of a byte and a number below zero
void times_minus_two(int n, const unsigned char *restrict a, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = 1.0 / (-2.0 * a[i]);
}

// case times_two: products of bytes and positive numbers, in reals
void times_two(int n, const unsigned char *restrict a, const unsigned char *restrict m, double *restrict b) {
    for (int i = 0; i < n; i++) b[i] = 1.0 / ((double)m[i] * (double)a[i] * 2.0);
}

// case bytes_in_double nests 0 refused: a spec would compute it in float: bytes less a double, where no field is a real one
double bytes_in_double(int n, const unsigned char *restrict a, double q) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += q - a[i];
    return sum;
}

// case packed_planes nests 0 refused: counts by 2: every second plane of an array without its rims
void packed_planes(int l, int m, int n, const float *restrict a, float *restrict b) {
    for (int k = 2; k < l - 2; k += 2)
        for (int j = 2; j < m - 2; j++)
            for (int i = 2; i < n - 2; i++)
                b[(k * m + j) * n + i] = a[((k - 2) * (m - 4) + j - 2) * (n - 4) + i - 2];
}
