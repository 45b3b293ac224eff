! Arithmetic of whole arrays and sections, WHERE, and DO CONCURRENT.

! case sections: sections that are shifted, a whole array, and a row
subroutine sections(n, m, u, w, c)
  integer, intent(in) :: n, m
  real(8) :: u(0:n, m), w(0:n, m), c
  w(1:n-1, :) = u(0:n-2, :) + c * u(2:n, :)
  u = 0.25
  w(:, 1) = sqrt(abs(u(:, 2)))
end subroutine

! case relax_sections: what is assigned is computed first, of the same array
subroutine relax_sections(n, m, u)
  integer, intent(in) :: n, m
  real(8), intent(inout) :: u(n, m)
  u(2:n-1, 2:m-1) = 0.25d0 * (u(1:n-2, 2:m-1) + u(3:n, 2:m-1) + u(2:n-1, 1:m-2) + u(2:n-1, 3:m))
end subroutine

! case whole_arrays: arrays that begin elsewhere, choices, and kinds that differ
subroutine whole_arrays(n, m, u, v, w, k)
  integer, intent(in) :: n, m
  real(8) :: u(0:n-1, m), v(n, -1:m-2), w(n, m)
  real(4) :: k(n, m)
  w = merge(u, v, u > v) + max(u, 1.0d0)
  k = v
  v = (u) - w * (u + 2) ** 2
end subroutine

! case shapes_of_sections: arrays of assumed shape, a number of one of their elements, and a loop over time
module sections_of_shapes
contains
subroutine shapes_of_sections(count, u, v, p)
  integer, intent(in) :: count
  real(8) :: u(:), v(0:), p
  integer :: t, n
  n = size(u)
  do t = 1, count
    v(1:n-2) = p * (u(1:n-2) + u(3:n))
    u(2:n-1) = v(1:n-2)
  end do
end subroutine

! case whole_shapes: arrays of assumed shape as wholes, which are then as long as each other
subroutine whole_shapes(u, v, w)
  real(8), intent(in) :: u(:,:), v(0:,:)
  real(8), intent(inout) :: w(:,:)
  w = u + v
  w(2:,:) = w(:size(w, 1)-1,:) * v(:size(u, 1)-2,:)
end subroutine
end module

! case masked: WHERE as a statement and a construct, of an array that it changes
subroutine masked(n, m, u, w)
  integer, intent(in) :: n, m
  real(8) :: u(n, m), w(n, m)
  where (u > 1) u = u - 1
  where (u > 0.5d0)
    w = sqrt(u)
  elsewhere (u < 0.25d0)
    w = merge(-1.0d0, 2.0d0, n > m)
  end where
  where (w > 1)
    u = w + 1
  elsewhere
    u = 0
  end where
end subroutine

! case masked_sections: masks and sections that are shifted
subroutine masked_sections(n, u, w)
  integer, intent(in) :: n
  real(8) :: u(n), w(n)
  where (u(1:n-2) < u(3:n))
    w(2:n-1) = u(3:n)
  elsewhere
    w(2:n-1) = u(1:n-2)
  end where
  where (w(3:n) > 1) w(2:n-1) = w(1:n-2)
end subroutine

! case concurrent: DO CONCURRENT of two indices, with a mask
subroutine concurrent(n, m, u, w)
  integer, intent(in) :: n, m
  real(8) :: u(n, m), w(n, m)
  integer :: i, j
  do concurrent (j = 2:m-1, i = 2:n-1, u(i,j) > 0.75d0)
    w(i,j) = u(i-1,j) + u(i+1,j) - u(i,j+1)
  end do
end subroutine

! case sections_in_nests nests 3: sections among statements that are none
subroutine sections_in_nests(n, m, u, w)
  integer, intent(in) :: n, m
  real(8) :: u(n, m), w(n, m)
  integer :: t
  do t = 1, 10
    w(2:n-1, :) = u(1:n-2, :) + u(3:n, :)
    where (w > 1)
      w = w / 2
    end where
    if (w(2, 2) < 0) exit
    u = w
  end do
end subroutine
