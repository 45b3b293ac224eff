// Arrays that are objects of classes, and loops in member functions, in the styles of public codes.
namespace grids {

// ---- an array that owns its memory

template <class T>
class Array2D {
public:
    Array2D(int nx, int ny) : nx_(nx), ny_(ny), data_(new T[nx * ny]) {}
    ~Array2D() { delete[] data_; }
    T& operator()(int i, int j) { return data_[index(i, j)]; }
    const T& operator()(int i, int j) const { return data_[index(i, j)]; }
    int nx() const { return nx_; }
    int ny() const { return ny_; }
    T* data() { return data_; }

private:
    int index(int i, int j) const { return j * nx_ + i; }
    int nx_, ny_;
    T* data_;
};

// case call_operator --no-alias: an array with operator(), and its extents by functions
void call_operator(const Array2D<double>& u, Array2D<double>& w, double k) {
    for (int j = 1; j < u.ny() - 1; ++j)
        for (int i = 1; i < u.nx() - 1; ++i)
            w(i, j) = u(i, j) + k * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j));
}

// case call_in_place --no-alias: compound assignments through a reference that is returned
void call_in_place(Array2D<float>& u, const Array2D<float>& f) {
    for (int j = 0; j < u.ny(); ++j)
        for (int i = 0; i < u.nx(); ++i) {
            u(i, j) *= 0.5f;
            u(i, j) += f(i, j);
        }
}

// case pointer_of_object --no-alias: a pointer that an object gives
void pointer_of_object(Array2D<double>& u, const double* f) {
    double* p = u.data();
    for (int c = 0; c < u.nx(); ++c)
        p[c] = 2 * f[c];
}

// ---- rows

class Rows {
public:
    Rows(float* data, int length) : data_(data), length_(length) {}
    float* operator[](int j) { return data_ + j * length_; }
    const float* operator[](int j) const { return data_ + j * length_; }
    int length() const { return length_; }

private:
    float* data_;
    int length_;
};

// case row_pointers --no-alias: operator[] gives a pointer to a row
void row_pointers(int ny, const Rows& u, Rows& w) {
    for (int j = 1; j < ny; ++j)
        for (int i = 0; i < u.length() - 1; ++i)
            w[j][i] = u[j - 1][i] - u[j][i + 1];
}

class Plane {
public:
    class Row {
    public:
        Row(double* first, int step) : first_(first), step_(step) {}
        double& operator[](int i) const { return first_[i * step_]; }

    private:
        double* first_;
        int step_;
    };
    Row operator[](int j) const { return Row(first + j * pitch, 1); }
    double* first;
    int pitch, rows;
};

// case row_objects --no-alias: operator[] gives an object that is a row
void row_objects(Plane u, Plane w) {
    for (int j = 1; j < u.rows - 1; ++j)
        for (int i = 0; i < u.pitch; ++i)
            w[j][i] = u[j - 1][i] + u[j + 1][i];
}

// ---- views: extents, a layout that maps indices, and a pointer

struct Extents {
    int sizes[2];
    int extent(int r) const { return sizes[r]; }
};
struct LayoutRight {
    struct Mapping {
        Extents extents;
        long operator()(int i, int j) const { return static_cast<long>(i) * extents.extent(1) + j; }
    };
};
struct LayoutLeft {
    struct Mapping {
        Extents extents;
        long operator()(int i, int j) const { return i + static_cast<long>(j) * extents.extent(0); }
    };
};
template <class T>
struct PlainAccess {
    T& access(T* first, long at) const { return first[at]; }
};
template <class T, class Layout = LayoutRight, class Access = PlainAccess<T>>
class Span {
public:
    Span(T* first, int rows, int columns) : first_(first), map_{{{rows, columns}}} {}
    template <class... Index>
    T& operator()(Index... at) const {
        static_assert(sizeof...(Index) == 2);
        return access_.access(first_, map_(static_cast<int>(at)...));
    }
    int extent(int r) const { return map_.extents.extent(r); }

private:
    T* first_;
    typename Layout::Mapping map_;
    Access access_{};
};

// case span_given --no-alias: a view by value, with a mapping and an accessor
void span_given(Span<const double> u, Span<double> w) {
    for (int i = 1; i < u.extent(0) - 1; ++i)
        for (int j = 1; j < u.extent(1) - 1; ++j)
            w(i, j) = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
}

// case span_made: views that a function makes of its pointers, one of them by columns
void span_made(int nx, int ny, const double* __restrict u, double* __restrict w) {
    const Span<const double, LayoutLeft> from(u, nx, ny);
    const auto to = Span<double>(w, ny, nx);
    for (int j = 1; j < ny; ++j)
        for (int i = 0; i < nx; ++i)
            to(j, i) = from(i, j) - from(i, j - 1);
}

template <class Data>
class View;
template <class T>
class View<T**> {
public:
    using size_type = unsigned long;
    T& operator()(const size_type& i, const size_type& j) const { return data_[i * stride_ + j]; }
    size_type extent(int r) const { return r == 0 ? n0_ : n1_; }

private:
    T* data_;
    size_type n0_, n1_, stride_;
};
template <class T>
class View<T*> {
public:
    T& operator()(long i) const { return data_[i]; }
    int size() const { return size_; }

private:
    T* data_;
    int size_;
};
// case strided_view --no-alias: a view whose rows are as far apart as it says, and indices by reference
void strided_view(View<const double**> u, const View<double**>& w) {
    for (unsigned long i = 1; i < u.extent(0); ++i)
        for (unsigned long j = 0; j < u.extent(1); ++j)
            w(i, j) = u(i, j) - u(i - 1, j);
}

template <class Functor>
void parallel_for(int n, const Functor& functor) {
    for (int i = 0; i < n; ++i)
        functor(i);
}

// case loop_of_library --no-alias: a loop that calls what it is given, with views that it copies
void loop_of_library(View<const float*> u, View<float*> w, float a) {
    parallel_for(u.size(), [=](int i) { w(i) = a * u(i); });
}

// ---- a class with the loops

class Heat {
public:
    void step() {
        for (int j = 1; j < ny - 1; ++j)
            for (int i = 1; i < nx - 1; ++i)
                next[at(i, j)] = now[at(i, j)] + this->rate * laplacian(i, j);
    }
    double run(int steps);

private:
    int at(int i, int j) const { return j * nx + i; }
    double laplacian(int i, int j) const {
        return now[at(i - 1, j)] + now[at(i + 1, j)] + now[at(i, j - 1)] + now[at(i, j + 1)] -
               4 * now[at(i, j)];
    }
    int nx, ny;
    double rate;
    double* __restrict now, * __restrict next;
};

// case Heat::step: loops in a class, with members and functions of it
// case Heat::run --no-alias nests 2: loops of a function that is defined outside of its class
double Heat::run(int steps) {
    double largest = 0;
    for (int t = 0; t < steps; ++t) {
        for (int j = 1; j < ny - 1; ++j)
            for (int i = 1; i < nx - 1; ++i)
                next[at(i, j)] = now[at(i, j)] + rate * laplacian(i, j);
        double* held = now;
        now = next;
        next = held;
    }
    for (int c = 0; c < nx; ++c)
        if (now[c] > largest) largest = now[c];
    return largest;
}

// ---- fields that a struct holds

struct Box {
    int nx, ny, ghosts;
};
struct State {
    Box box;
    double *h, *u;
    double& depth(int i, int j) { return h[i + j * box.nx]; }
    double& speed(int i, int j) { return u[i + j * box.nx]; }
};
struct Model : State {
    const Box* inner;
    double gravity;
};

// case struct_of_fields --no-alias: accessors of a struct by reference
void struct_of_fields(State& s, double dt) {
    for (int j = 0; j < s.box.ny; ++j)
        for (int i = 1; i < s.box.nx; ++i)
            s.speed(i, j) = s.speed(i, j) - dt * (s.depth(i, j) - s.depth(i - 1, j));
}

// case parts_of_object --no-alias: members of a base class, and behind a pointer
void parts_of_object(Model& m) {
    for (int j = 0; j < m.inner->ny; ++j)
        for (int i = 1; i < m.inner->nx; ++i)
            m.u[j * m.inner->nx + i] -= m.gravity * m.h[j * m.inner->nx + i - 1];
}

// ---- objects that are made for a cell

struct Pair {
    double x, y;
    double scale = 0.5;
    Pair operator+(const Pair& other) const { return Pair{x + other.x, y + other.y, scale}; }
    Pair& operator*=(double by) {
        x *= by;
        y *= by;
        return *this;
    }
    double dot(const Pair& other) const { return x * other.x + y * other.y; }
};
Pair operator-(const Pair& a, const Pair& b) {
    return {a.x - b.x, a.y - b.y, a.scale};
}

// case pairs: pairs of numbers, with operators
void pairs(int n, const double* __restrict u, const double* __restrict v, double* __restrict w) {
    for (int i = 1; i < n - 1; ++i) {
        const Pair left{u[i - 1], v[i - 1]}, right{u[i + 1], v[i + 1]};
        Pair sum = left + right;
        sum *= left.scale;
        if (u[i] > 1) sum.x = 1;
        w[i] = sum.dot(right - left);
    }
}

class Average {
public:
    Average(const double* u, double weight) : u_(u), weight_(weight) {}
    double operator()(int i) const { return weight_ * u_[i - 1] + kRest * u_[i + 1]; }

private:
    static constexpr double kRest = 0.25;
    const double* u_;
    double weight_;
};

// case function_object: an object that is called
void function_object(int n, const double* __restrict u, double* __restrict w) {
    const Average average(u, 0.75);
    for (int i = 1; i < n - 1; ++i)
        w[i] = average(i);
}

// ---- what is refused

struct Shape {
    virtual double area(int i) const { return i; }
    double* side;
};
// case virtual_call --no-alias refused: `area` is virtual: a function that a derived class may have anew
void virtual_call(int n, const Shape& s, double* w) {
    for (int i = 0; i < n; ++i)
        w[i] = s.area(i);
}

struct Elsewhere {
    double at(int i) const;
};
// case body_elsewhere refused: its body is not in this file: a member function of another file
void body_elsewhere(int n, const Elsewhere& u, double* w) {
    for (int i = 0; i < n; ++i)
        w[i] = u.at(i);
}

struct Checked {
    double* data;
    int n;
    double& at(int i) {
        if (i < 0 || i >= n) throw i;
        return data[i];
    }
};
// case checked_access --no-alias refused: by an exception: an access that throws in the last cell
void checked_access(const double* u, Checked& w) {
    for (int i = 0; i < w.n; ++i)
        w.at(i + 1) = u[i];
}

struct Counted {
    double* data;
    mutable int reads;
    int writes;
    double get(int i) const {
        ++reads;
        return data[i];
    }
    void set(int i, double v) {
        ++writes;
        data[i] = v;
    }
};
// case counts_reads --no-alias refused: only plain members: a member that changes in what is constant
void counts_reads(int n, const Counted& u, double* w) {
    for (int i = 0; i < n; ++i)
        w[i] = u.get(i);
}
// case counts_writes --no-alias refused: belongs to a struct: a member that changes
void counts_writes(int n, const double* u, Counted& w) {
    for (int i = 0; i < n; ++i)
        w.set(i, u[i]);
}

// case made_and_freed --no-alias refused: do something when they end: an array of the function's own
void made_and_freed(int n, const double* u, double* w) {
    for (int i = 0; i < n; ++i) {
        Array2D<double> one(1, 1);
        one(0, 0) = u[i];
        w[i] = one(0, 0);
    }
}

struct Restricted {
    double* __restrict data;
};
// case same_object refused: may be the same memory: two references that may be to one object
void same_object(int n, const Restricted& u, Restricted& w) {
    for (int i = 1; i < n; ++i)
        w.data[i] = u.data[i - 1];
}

// case member_moves --no-alias refused: belongs to a struct: a size that the loop changes
void member_moves(Box& b, const double* u, double* w) {
    for (int i = 0; i < b.nx; ++i) {
        w[i] = u[i];
        b.nx = b.nx - 1;
    }
}

}  // namespace grids
