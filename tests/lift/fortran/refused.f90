! What is refused, and why.

! case by_twos refused: this assignment of arrays is not understood: a section that leaves out elements
subroutine by_twos(n, a, b)
  integer, intent(in) :: n
  real(8) :: a(n), b(n)
  integer :: i
  do i = 1, 3
    b(1:n:2) = a(1:n:2) + 1
  end do
end subroutine

! case between_masks refused: another assignment under the same mask changes this at another cell: assignments of one WHERE
subroutine between_masks(n, u, w)
  integer, intent(in) :: n
  real(8) :: u(n), w(n)
  where (u(2:n-1) > 1)
    w(2:n-1) = u(2:n-1)
    u(2:n-1) = w(1:n-2)
  end where
end subroutine

! case between_others refused: another assignment under the same mask changes this at another cell: a mask of what is changed
subroutine between_others(n, u)
  integer, intent(in) :: n
  real(8) :: u(n)
  where (u(1:n-2) > 1)
    u(2:n-1) = 0
  elsewhere (u(1:n-2) > 0.5d0)
    u(2:n-1) = 2
  end where
end subroutine

! case of_any_length refused: that these arrays are as long as each other is not said: arrays whose lengths are arguments
subroutine of_any_length(n, m, u, w)
  integer, intent(in) :: n, m
  real(8) :: u(n), w(m)
  w = u
end subroutine

! case truth_values refused: `on` is of a type that is not understood: an array of truth values
subroutine truth_values(n, u, on)
  integer, intent(in) :: n
  real(8) :: u(n)
  logical :: on(n)
  where (on) u = 1
end subroutine

! case sum_of_array refused: this is not understood: flang has `hlfir.sum` for it: a function of a whole array
subroutine sum_of_array(n, u, s)
  integer, intent(in) :: n
  real(8) :: u(n), s
  integer :: i
  do i = 1, n
    u(i) = sum(u)
  end do
end subroutine

! case leaves_early refused: the loop is left early here: EXIT
subroutine leaves_early(n, a)
  integer, intent(in) :: n
  real(8) :: a(n)
  integer :: i
  do i = 1, n
    if (a(i) > 1) exit
    a(i) = 0
  end do
end subroutine

! case ends_early refused: the function is left from within this loop: RETURN in a loop
subroutine ends_early(n, a)
  integer, intent(in) :: n
  real(8) :: a(n)
  integer :: i
  do i = 1, n
    if (a(i) > 1) return
    a(i) = 0
  end do
  a(1) = 1
end subroutine

! case leaves_both refused: this goes on somewhere else than behind its construct or loop: EXIT of the loop around
subroutine leaves_both(n, m, a)
  integer, intent(in) :: n, m
  real(8) :: a(n,m)
  integer :: i, j
  rows: do j = 1, m
    do i = 1, n
      if (a(i,j) > 1) exit rows
      a(i,j) = 0
    end do
  end do rows
  a(1,1) = 2
end subroutine

! case several_labels refused: GO TO of several labels, or into a loop, is not followed: a GO TO that is computed
subroutine several_labels(n, a, k)
  integer, intent(in) :: n, k
  real(8) :: a(n)
  integer :: i
  go to (10, 20) k
  a(1) = 1
10 a(2) = 1
20 do i = 1, n
    a(i) = 0
  end do
end subroutine

! case counts_down_time refused: how often this loop goes round is not known before: DO WHILE
subroutine counts_down_time(n, a)
  integer, intent(in) :: n
  real(8) :: a(n)
  do while (a(1) > 0)
    a(1) = a(1) - 1
  end do
end subroutine

! case allocated refused: `a` is declared allocatable, which is not understood: an allocatable array
subroutine allocated(n, a)
  integer, intent(in) :: n
  real(8), allocatable :: a(:)
  integer :: i
  do i = 1, n
    a(i) = 0
  end do
end subroutine

! case calls refused: `next_value` is called here: a function of its own
subroutine calls(n, a)
  integer, intent(in) :: n
  real(8) :: a(n), next_value
  external :: next_value
  integer :: i
  do i = 1, n
    a(i) = next_value()
  end do
end subroutine

! case complex_numbers refused: `a` is of a type that is not understood: complex numbers
subroutine complex_numbers(n, a)
  integer, intent(in) :: n
  complex(8) :: a(n)
  integer :: i
  do i = 1, n
    a(i) = 0
  end do
end subroutine

! case quadruple refused: `a` is of a type that is not understood: reals of 128 bits
subroutine quadruple(n, a)
  integer, intent(in) :: n
  real(16) :: a(n)
  integer :: i
  do i = 1, n
    a(i) = 2 * a(i)
  end do
end subroutine

! case gauss_seidel refused: this reads a cell of `u` that an earlier iteration of the loop has already changed: in place
subroutine gauss_seidel(n, u)
  integer, intent(in) :: n
  real(8), intent(inout) :: u(n)
  integer :: i
  do i = 2, n
    u(i) = 0.5d0 * (u(i-1) + u(i))
  end do
end subroutine

! case moved_bound refused: the bounds of `a` are made of `n`, which something here may change: the size of an array is changed
subroutine moved_bound(n, a)
  integer :: n
  real(8) :: a(n)
  integer :: i
  n = n - 1
  do i = 1, n
    a(i) = 1
  end do
end subroutine

! case unknown_step refused: by how much this DO counts is not known: a step that is an argument
subroutine unknown_step(n, by, a)
  integer, intent(in) :: n, by
  real(8) :: a(n)
  integer :: i
  do i = 1, n, by
    a(i) = 1
  end do
end subroutine

! case for_all refused: this FORALL or WHERE is not understood: FORALL
subroutine for_all(n, a)
  integer, intent(in) :: n
  real(8) :: a(n)
  integer :: i, t
  do t = 1, 3
    forall (i = 1:n) a(i) = 1
  end do
end subroutine

! case member_array refused: `m` is of a type that is not understood: an array of a derived type
subroutine member_array(m, a)
  type :: mesh
    real(8) :: u(100)
  end type
  type(mesh) :: m
  real(8) :: a(100)
  m%u = a
end subroutine

! case kept refused: `calls` keeps its value from call to call: a variable that is saved
subroutine kept(n, a)
  integer, intent(in) :: n
  real(8) :: a(n)
  integer, save :: calls = 0
  integer :: i
  calls = calls + 1
  do i = 1, n
    a(i) = calls
  end do
end subroutine

! case member refused: `m` is of a type that is not understood: a member of a derived type
subroutine member(m, n)
  type :: mesh
    real(8) :: u(100)
  end type
  type(mesh) :: m
  integer, intent(in) :: n
  integer :: i
  do i = 1, n
    m%u(i) = 0
  end do
end subroutine

! case unbounded_of_module refused: `u` is an array of a module whose bounds are no numbers: an allocatable array of a module
module unbounded
  real(8), allocatable :: u(:)
contains
  subroutine unbounded_of_module(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      u(i) = 0
    end do
  end subroutine
end module
