! Kernels in the style of hydrodynamics mini-apps: a module, bounds that are arguments, halos of two cells.
module hydro_kernels

  integer :: which_law = 1
  integer, parameter :: left = 1, right = 2

contains

  ! case pressure_of: an equation of state, with constants of both kinds and a root
  SUBROUTINE pressure_of(x_min,x_max,y_min,y_max,density,energy,pressure,speed)
    IMPLICIT NONE
    INTEGER :: x_min,x_max,y_min,y_max
    REAL(KIND=8), DIMENSION(x_min-2:x_max+2,y_min-2:y_max+2) :: density,energy
    REAL(KIND=8), DIMENSION(x_min-2:x_max+2,y_min-2:y_max+2) :: pressure,speed
    INTEGER :: j,k
    REAL(KIND=8) :: v,by_energy
!$OMP PARALLEL
!$OMP DO PRIVATE(v,by_energy)
    DO k=y_min,y_max
      DO j=x_min,x_max
        v=1.0/density(j,k)
        pressure(j,k)=(1.4-1.0)*density(j,k)*energy(j,k)
        by_energy=(1.4_8-1.0_8)*density(j,k)
        speed(j,k)=SQRT(ABS(v*v*(pressure(j,k)*by_energy+density(j,k)*pressure(j,k))))
      ENDDO
    ENDDO
!$OMP END DO
!$OMP END PARALLEL
  END SUBROUTINE pressure_of

  ! case work_done: a logical argument chooses between two nests, and statements go on in further lines
  SUBROUTINE work_done(predict,x_min,x_max,y_min,y_max,dt,area,volume,vel0,vel1,energy)
    IMPLICIT NONE
    LOGICAL :: predict
    INTEGER :: x_min,x_max,y_min,y_max
    REAL(KIND=8) :: dt
    REAL(KIND=8), DIMENSION(x_min-2:x_max+3,y_min-2:y_max+2) :: area
    REAL(KIND=8), DIMENSION(x_min-2:x_max+2,y_min-2:y_max+2) :: volume,energy
    REAL(KIND=8), DIMENSION(x_min-2:x_max+3,y_min-2:y_max+3) :: vel0,vel1
    INTEGER :: j,k
    REAL(KIND=8) :: from_left,from_right
    IF (predict) THEN
      DO k=y_min,y_max
        DO j=x_min,x_max
          from_left=(area(j  ,k)*(vel0(j  ,k)+vel0(j  ,k+1)       & ! old velocities
                     +vel0(j  ,k)+vel0(j  ,k+1)))*0.25_8*dt*0.5
          from_right=(area(j+1,k)*(vel0(j+1,k)+vel0(j+1,k+1)      &

                     +vel0(j+1,k)+vel0(j+1,k+1)))*0.25_8*dt*0.5
          energy(j,k)=energy(j,k)-(from_right-from_left)/volume(j,k)
        ENDDO
      ENDDO
    ELSE
      DO k=y_min,y_max
        DO j=x_min,x_max
          from_left=area(j,k)*(vel0(j,k)+vel1(j,k+1))*dt
          from_right=area(j+1,k)*(vel0(j+1,k)+vel1(j+1,k+1))*dt
          energy(j,k)=energy(j,k)-(from_right-from_left)/volume(j,k)
        ENDDO
      ENDDO
    ENDIF
  END SUBROUTINE work_done

  ! case donor_rows: the sign of a flux chooses the row, the last of which is clamped; first values that stay
  SUBROUTINE donor_rows(x_min,x_max,y_min,y_max,flux,d,dy,mass)
    IMPLICIT NONE
    INTEGER :: x_min,x_max,y_min,y_max
    REAL(KIND=8), DIMENSION(x_min-2:x_max+2,y_min-2:y_max+3) :: flux,mass
    REAL(KIND=8), DIMENSION(x_min-2:x_max+2,y_min-2:y_max+2) :: d
    REAL(KIND=8), DIMENSION(y_min-2:y_max+3) :: dy
    INTEGER :: j,k,upwind,donor,downwind
    REAL(KIND=8) :: before,after,wind,limiter
    REAL(KIND=8) :: sixth=1.0_8/6.0_8
    DO k=y_min,y_max+2
      DO j=x_min,x_max
        IF (flux(j,k).GT.0.0) THEN
          upwind=k-2
          donor=k-1
          downwind=k
        ELSE
          upwind=MIN(k+1,y_max+2)
          donor=k
          downwind=k-1
        ENDIF
        before=d(j,donor)-d(j,upwind)
        after=d(j,downwind)-d(j,donor)
        wind=1.0_8
        IF (after.LE.0.0) wind=-1.0_8
        IF (before*after.GT.0.0) THEN
          limiter=wind*MIN(ABS(before),ABS(after),sixth*(dy(k)*ABS(before)+ABS(after)))
        ELSE
          limiter=0.0
        ENDIF
        mass(j,k)=flux(j,k)*(d(j,donor)+limiter)
      ENDDO
    ENDDO
  END SUBROUTINE donor_rows

  ! case shortest_step nests 1: the smallest of several values over the cells, and what is written then
  SUBROUTINE shortest_step(x_min,x_max,y_min,y_max,small,big,dx,dy,vel,dt,is_small)
    IMPLICIT NONE
    INTEGER :: x_min,x_max,y_min,y_max
    REAL(KIND=8) :: small,big,dt
    INTEGER, INTENT(OUT) :: is_small
    REAL(KIND=8), DIMENSION(x_min-2:x_max+2) :: dx
    REAL(KIND=8), DIMENSION(y_min-2:y_max+2) :: dy
    REAL(KIND=8), DIMENSION(x_min-2:x_max+3,y_min-2:y_max+3) :: vel
    INTEGER :: j,k
    REAL(KIND=8) :: div,along
    is_small=0
    dt=big
    DO k=y_min,y_max
      DO j=x_min,x_max
        div=(vel(j+1,k)-vel(j,k))/dx(j)
        IF (div.LT.-small) THEN
          along=-1.0_8/div
        ELSE
          along=big
        ENDIF
        dt=MIN(dt,MIN(dx(j),dy(k))/MAX(ABS(vel(j,k)),small),along)
      ENDDO
    ENDDO
    IF (dt.LT.small) THEN
      is_small=1
      WRITE(0,*) 'the step is short: ',dt
    ENDIF
  END SUBROUTINE shortest_step

  ! case summary nests 1: sums into arguments, of loops over corners
  SUBROUTINE summary(x_min,x_max,y_min,y_max,volume,density,vel,mass,motion)
    IMPLICIT NONE
    INTEGER :: x_min,x_max,y_min,y_max
    REAL(KIND=8), DIMENSION(x_min-2:x_max+2,y_min-2:y_max+2) :: volume,density
    REAL(KIND=8), DIMENSION(x_min-2:x_max+3,y_min-2:y_max+3) :: vel
    REAL(KIND=8) :: mass,motion,squared
    INTEGER :: j,k,jv,kv
    mass=0.0
    motion=0.0
    DO k=y_min,y_max
      DO j=x_min,x_max
        squared=0.0
        DO kv=k,k+1
          DO jv=j,j+1
            squared=squared+0.25*vel(jv,kv)**2
          ENDDO
        ENDDO
        mass=mass+volume(j,k)*density(j,k)
        motion=motion+volume(j,k)*density(j,k)*0.5*squared
      ENDDO
    ENDDO
  END SUBROUTINE summary

  ! case solve_step nests 2: a halo as deep as an argument says, and a sum of changes
  SUBROUTINE solve_step(x_min,x_max,y_min,y_max,depth,rx,ry,kx,ky,error,u0,u1,un)
    IMPLICIT NONE
    INTEGER(KIND=4) :: x_min,x_max,y_min,y_max,depth
    REAL(KIND=8), DIMENSION(x_min-depth:x_max+depth,y_min-depth:y_max+depth) :: un,u1,u0,kx,ky
    REAL(KIND=8) :: rx,ry,error
    INTEGER(KIND=4) :: j,k
    error=0.0_8
    DO k=y_min,y_max
      DO j=x_min,x_max
        un(j,k)=u1(j,k)
      ENDDO
    ENDDO
    DO k=y_min,y_max
      DO j=x_min,x_max
        u1(j,k)=(u0(j,k)+rx*(kx(j+1,k)*un(j+1,k)+kx(j,k)*un(j-1,k)) &
                        +ry*(ky(j,k+1)*un(j,k+1)+ky(j,k)*un(j,k-1)))/(1.0_8+rx*(kx(j,k)+kx(j+1,k)))
        error=error+ABS(u1(j,k)-un(j,k))
      ENDDO
    ENDDO
  END SUBROUTINE solve_step

  ! case law_of_module: a number of the module, and named constants
  SUBROUTINE law_of_module(n,face,a,b)
    IMPLICIT NONE
    INTEGER, INTENT(IN) :: n,face
    REAL(KIND=8), INTENT(IN) :: a(n)
    REAL(KIND=8), INTENT(INOUT) :: b(n)
    INTEGER :: i
    IF (which_law.EQ.1.AND.face.NE.left) THEN
      DO i=2,n-1
        b(i)=a(i-1)+right*a(i+1)
      ENDDO
    ENDIF
  END SUBROUTINE law_of_module

end module hydro_kernels
