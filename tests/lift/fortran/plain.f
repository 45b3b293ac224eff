C     Fortran 77 in its fixed form: labels, continuation by column 6, names by their first letter.
C     case smooth: labelled loops, an adjustable array and a statement in two lines
      SUBROUTINE SMOOTH(NX, NY, LD, U, W, C)
      INTEGER NX, NY, LD
      DOUBLE PRECISION U(LD,*), W(LD,*), C
      DO 20 J = 2, NY-1
      DO 10 I = 2, NX-1
      W(I,J) = C*(U(I-1,J) + U(I+1,J)
     &       + U(I,J-1) + U(I,J+1)) - 4*C*U(I,J)
   10 CONTINUE
   20 CONTINUE
      END

C     case implicit: single precision, by implicit types
      SUBROUTINE IMPLICIT(N, A, B, Q)
      DIMENSION A(N), B(N)
      DO 30 K = N-1, 2, -1
        T = A(K+1) - A(K)
        B(K) = Q*T + 0.1*A(K-1)
        IF (T .GT. 0.5) B(K) = 2*T
   30 CONTINUE
      END
