! Forms of statements, expressions and declarations.

! case kinds: reals and whole numbers of several kinds
subroutine kinds(n, m, a, b, c, flags)
  implicit none
  integer(8), intent(in) :: n
  integer, intent(in) :: m
  real(4), intent(in) :: a(n, m)
  real(4), intent(out) :: b(n, m)
  real(8), intent(inout) :: c(0:n-1, m)
  integer, intent(in) :: flags(n, m)
  integer(8) :: i
  integer :: j
  do j = 1, m
    do i = 1, n
      b(i, j) = 0.1 * a(i, j) + real(flags(i, j))
      c(i-1, j) = c(i-1, j) + 0.1d0 * dble(flags(i, j))
    end do
  end do
end subroutine

! case choices: MERGE, SIGN, MIN and MAX of several, and powers
subroutine choices(n, a, b, x)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: a(n), x
  real(8), intent(out) :: b(n)
  integer :: i
  do i = 2, n - 1
    b(i) = merge(a(i-1), a(i+1), a(i) > 0.5d0) + sign(2.0d0, a(i)) + max(a(i-1), a(i), x) &
         - min(a(i), a(i+1))**3 + (a(i) + x)**2
  end do
end subroutine

! case signs: SIGN by zeros below zero, and by numbers that are written down
subroutine signs(n, a, b, f, g)
  integer, intent(in) :: n
  real(8) :: a(n), b(n)
  real(4) :: f(n), g(n)
  integer :: i
  do i = 1, n
    b(i) = sign(a(i), 0 * a(i)) + sign(2.0d0, -a(i)) * sign(a(i), -1.0d0)
    g(i) = sign(f(i) + 1, -(f(i) - f(i)))
  end do
end subroutine

! case logic: all relations and logical operators
subroutine logic(n, k, on, a, b)
  implicit none
  integer, intent(in) :: n, k
  logical, intent(in) :: on
  real(8), intent(in) :: a(n)
  real(8), intent(inout) :: b(n)
  integer :: i
  logical :: is_large
  do i = 1, n
    is_large = a(i) >= 1.0d0
    if (.not. is_large .and. (on .or. k == 3)) then
      b(i) = a(i)
    else if (on .eqv. is_large) then
      b(i) = -a(i)
    else
      if (i /= k) b(i) = b(i) + 1
    end if
  end do
end subroutine

! case boxes: three axes, bounds below zero, and a plane beside them
subroutine boxes(nx, ny, nz, u, w, ground)
  implicit none
  integer, intent(in) :: nx, ny, nz
  real(8), intent(in) :: u(-1:nx, -1:ny, -1:nz), ground(-1:nx, -1:ny)
  real(8), intent(out) :: w(-1:nx, -1:ny, -1:nz)
  integer :: i, j, k
  do k = 0, nz - 1
    do j = 0, ny - 1
      do i = 0, nx - 1
        w(i, j, k) = u(i-1, j, k) + 2 * u(i+1, j, k) - u(i, j-1, k) * ground(i, j+1) + u(i, j, k+1)
      end do
    end do
  end do
end subroutine

! case weighted: an array of constants, and a short loop over it
subroutine weighted(n, a, b)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: a(n)
  real(8), intent(out) :: b(n)
  real(8), parameter :: w(3) = (/ 0.25d0, 0.5d0, 0.3d0 /)
  real(8) :: total
  integer :: i, l
  do i = 2, n - 1
    total = 0
    do l = 1, 3
      total = total + w(l) * a(i + l - 2)
    end do
    b(i) = total
  end do
end subroutine

! case steps: a loop over time, and an array of the procedure's own
subroutine steps(n, count, u)
  implicit none
  integer, intent(in) :: n, count
  real(8), intent(inout) :: u(n)
  real(8) :: next(n)
  integer :: i, t
  do t = 1, count
    do i = 2, n - 1
      next(i) = u(i) + 0.1d0 * (u(i-1) - 2 * u(i) + u(i+1))
    end do
    do i = 2, n - 1
      u(i) = next(i)
    end do
  end do
end subroutine

! case product_of_sizes nests 1: rows of an array that is declared as one, and a call after the loops
subroutine product_of_sizes(nx, ny, u, w)
  implicit none
  integer, intent(in) :: nx, ny
  real(8), intent(in) :: u(nx * ny)
  real(8), intent(inout) :: w(nx * ny)
  integer :: i, j, at
  external :: report
  at = nx + 1
  do j = 2, ny
    do i = 1, nx
      w((j-1)*nx + i) = u((j-1)*nx + i) + u((j-2)*nx + i)
    end do
  end do
  call report(at)
end subroutine

! case constants_of_nests nests 1: constants of a procedure, of which a nest is run by itself
subroutine constants_of_nests(n, a, b, s)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: a(n)
  real(8), intent(inout) :: b(n), s
  real(8) :: w(3) = (/ 0.5, 0.25, 2.0 /), third = 1.0d0 / 3.0d0
  integer :: i, last
  last = n - 1
  s = 0
  do i = 2, last
    b(i) = w(1) * a(i-1) + w(3) * third * a(i+1)
    s = s + b(i)
  end do
end subroutine

! case total nests 1: a function, and its result as a sum
real(8) function total(n, a)
  integer, intent(in) :: n
  real(8), intent(in) :: a(n)
  integer :: i
  total = 0
  do i = 1, n
    total = total + a(i) * a(i)
  end do
end function
