! Arrays of assumed shape, which their callers must know by an interface.
module shapes
contains

  ! case assumed_shape: arrays that tell how long they are, one of which begins at 0
  subroutine assumed_shape(u, w, c)
    implicit none
    real(8), intent(in) :: u(:,:), c
    real(8), intent(inout) :: w(0:,:)
    integer :: i, j
    do j = 2, size(u, 2) - 1
      do i = 2, size(u, 1) - 1
        w(i-1, j) = c * (u(i-1, j) + u(i+1, j)) + w(i, j)
      end do
    end do
  end subroutine

  ! case shape_and_sizes nests 1: arrays of assumed shape, sizes beside them, and a sum of a part
  subroutine shape_and_sizes(nx, ny, nz, u, w, total)
    implicit none
    integer, intent(in) :: nx, ny, nz
    real(8), dimension(:,:,:), intent(in) :: u
    real(8), dimension(:,:,:), intent(inout) :: w
    real(8), intent(out) :: total
    integer :: i, j, k
    total = 0
    do k = 2, nz - 1
      do j = 2, ny - 1
        do i = 2, nx - 1
          w(i, j, k) = u(i-1, j, k) + u(i, j+1, k) - u(i, j, k-1)
          total = total + w(i, j, k)
        end do
      end do
    end do
  end subroutine

  ! case flags_of_shape nests 1: a short array of assumed shape beside a plane
  subroutine flags_of_shape(n, m, depth, fields, u)
    implicit none
    integer, intent(in) :: n, m, depth
    integer, intent(in) :: fields(:)
    real(8), intent(inout) :: u(n, m)
    integer :: i, j
    if (fields(3) == 1) then
      do j = 1, m
        do i = 1, n
          u(i, j) = u(i, j) + depth
        end do
      end do
    end if
  end subroutine

end module

! What is used in the procedure itself, by the names that it has there.
module used
  integer :: law = 1
  real(8) :: weight
  real(8) :: source(24)
end module
module uses
contains
  ! case uses_inside: a USE in a procedure of another module, with other names
  subroutine uses_inside(k, a, b)
    use used, only: scale => weight, law
    integer, intent(in) :: k
    real(8) :: a(k), b(k)
    integer :: i
    if (law == 2) return
    do i = 2, k - 1
      b(i) = scale * (a(i-1) + a(i+1))
    end do
  end subroutine
end module
! case uses_outside: a USE in a procedure of no module
subroutine uses_outside(k, a, b)
  use used
  integer, intent(in) :: k
  real(8) :: a(k), b(k)
  integer :: i
  do i = 2, k - 1
    b(i) = weight * (a(i-1) + a(i+1))
  end do
end subroutine
! case uses_in_nest nests 1: nests of such a procedure
subroutine uses_in_nest(k, b)
  use used
  integer, intent(in) :: k
  real(8) :: b(24)
  integer :: i
  do i = 2, 23
    b(i) = weight * (source(i-1) + source(i+1))
  end do
  print *, k
end subroutine

! Arrays of a module, whose bounds are numbers.
module fields_of_module
  integer, parameter :: nx = 12, ny = 7
  real(8) :: u(0:nx+1, 0:ny+1), w(0:nx+1, 0:ny+1) = 0
  real(8) :: factor = 0.25
contains

  ! case step_of_module: arrays of the module, and an argument beside them
  subroutine step_of_module(v)
    real(8), intent(in) :: v(nx)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        w(i,j) = factor * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1)) + v(i)
      end do
    end do
    u(1:nx,1:ny) = w(1:nx,1:ny)
  end subroutine

  ! case steps_of_module nests 2: nests of arrays of the module, and what is around them
  subroutine steps_of_module(end)
    real(8), intent(in) :: end
    integer :: i, j, t
    do t = 1, 100
      do j = 1, ny
        do i = 1, nx
          w(i,j) = 0.25d0 * (u(i-1,j) + u(i+1,j) + u(i,j-1) + u(i,j+1))
        end do
      end do
      if (w(3,3) < end) exit
      u = w
    end do
  end subroutine
end module
