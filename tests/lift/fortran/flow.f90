! Statements that leave a loop or a procedure early, and choices by cases.

! case skips: CYCLE between other statements, and in a construct of its own
subroutine skips(n, m, a, b, c)
  integer, intent(in) :: n, m
  real(8) :: a(n,m), b(n,m), c(n,m)
  integer :: i, j
  do j = 1, m
    do i = 1, n
      if (a(i,j) > 1) then
        b(i,j) = 3
        cycle
      else if (a(i,j) > 0) then
        b(i,j) = 4 * a(i,j)
      end if
      c(i,j) = a(i,j) * 2
      if (c(i,j) < -1) cycle
      c(i,j) = c(i,j) + b(i,j)
    end do
  end do
end subroutine

! case skips_rest: CYCLE of the loop around, by its name, where nothing follows the inner loop
subroutine skips_rest(n, m, a, b, on)
  integer, intent(in) :: n, m
  real(8) :: a(n,m), b(n,m)
  logical, intent(in) :: on
  integer :: i, j
  rows: do j = 1, m
    if (on) then
      if (j == 3) cycle rows
    end if
    do i = n, 1, -1
      b(i,j) = a(i,j)
    end do
  end do rows
end subroutine

! case returns_early: RETURN in front of the loops, behind an IF
subroutine returns_early(n, a, b, k)
  integer, intent(in) :: n, k
  real(8) :: a(n), b(n)
  integer :: i
  if (k == 2) return
  do i = 1, n
    b(i) = a(i) + k
  end do
  if (k > 3) then
    do i = 1, n
      b(i) = b(i) * 2
    end do
    return
  end if
  do i = 1, n
    b(i) = b(i) - 1
  end do
end subroutine

! case chooses: SELECT CASE of a number for all cells
subroutine chooses(n, a, b, k)
  integer, intent(in) :: n, k
  real(8) :: a(n), b(n)
  integer :: i
  select case (k)
  case (1)
    do i = 1, n
      b(i) = a(i)
    end do
  case (2:4, 7)
    do i = 1, n
      b(i) = 2 * a(i)
    end do
  case (:-2)
    do i = 1, n
      b(i) = -a(i)
    end do
  case default
    do i = 1, n
      b(i) = 0
    end do
  end select
end subroutine

! case chooses_in_cells: SELECT CASE of a cell, in which one case does nothing
subroutine chooses_in_cells(n, m, kind, a, b)
  integer, intent(in) :: n, m
  integer :: kind(n,m)
  real(8) :: a(n,m), b(n,m)
  integer :: i, j
  do j = 1, m
    do i = 1, n
      select case (kind(i,j))
      case (0)
        b(i,j) = a(i,j)
      case (3:)
        cycle
      case default
        b(i,j) = 2 * a(i,j)
      case (2)
      end select
      b(i,j) = b(i,j) + 1
      select case (kind(i,j))
      case (:1)
        b(i,j) = b(i,j) + a(i,j)
      case default
      end select
    end do
  end do
end subroutine

! case goes_on nests 2: EXIT of a loop over time, in which and behind which are nests
subroutine goes_on(n, a, b, end)
  integer, intent(in) :: n
  real(8) :: a(n), b(n), end, most
  integer :: i, t
  do t = 1, 100
    most = 0
    do i = 2, n - 1
      b(i) = a(i-1) + a(i+1)
    end do
    if (b(2) < end) exit
  end do
  do i = 1, n
    a(i) = b(i)
  end do
end subroutine

! case while nests 1: DO WHILE around a nest, and GO TO over another
subroutine while(n, a, b, left)
  integer, intent(in) :: n
  real(8) :: a(n), b(n)
  integer :: left, i
  do while (left > 0)
    left = left - 1
    do i = 1, n
      b(i) = a(i)
    end do
  end do
end subroutine

! case jumps: GO TO as IF and CYCLE had to be written
subroutine jumps(n, a, b, k)
  integer n, k
  real(8) a(n), b(n)
  integer i
  if (k .gt. 2) go to 20
  do 10 i = 1, n
    if (a(i) .lt. 0) go to 10
    b(i) = a(i)
10 continue
20 continue
  do 30 i = 1, n
    a(i) = 0
30 continue
end subroutine
