!mod$ v1 sum:00d0fcaff9f81a4b
module m
contains
subroutine smooth(u,w,c)
real(8),intent(in)::u(:,:)
real(8),intent(inout)::w(0_8:,1_8:)
real(8),intent(in)::c
end
subroutine smooth2(nx,ny,u,w)
integer(4),intent(in)::nx
integer(4),intent(in)::ny
real(8),intent(in)::u(:,:)
real(8),intent(out)::w(:,:)
end
end
