/* log over an array, in a loop that compilers turn into vector instructions: see _exp.h.
 *
 * x = 2^k m, sqrt(1/2) <= m < sqrt(2), f = m - 1, which is exact. With s = f / (2 + f), log m = 2 atanh(s), and
 * 2 atanh(s) = f - f^2/2 + s (f^2/2 + R), where R = 2 s^2/3 + 2 s^4/5 + ... What R leaves out from s^20 on is below
 * 2^-55 of log m. The relative error is below 2^-52 (tests/test_kernels.py), and every clone gives the same bits.
 */
#ifndef PNORM_LOG_H
#define PNORM_LOG_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "_clones.h"

/* values = log(values), for values >= 0. */
PNORM_WIDE_CLONES static void pnorm_log(double *values, ptrdiff_t m) {
    const uint64_t root_half = 0x3fe6a09e667f3bcd, bias = (uint64_t)1024 << 52;
    union { double as_double; uint64_t as_bits; } whole, part, power;
    for (ptrdiff_t i = 0; i < m; i++) {
        double x = values[i], small = x < 0x1p-1022 ? -54.0 : 0.0;
        whole.as_double = small < 0.0 ? x * 0x1p54 : x;
        uint64_t exponent = (whole.as_bits - root_half + bias) >> 52; /* k + 1024 */
        part.as_bits = whole.as_bits - (exponent << 52) + bias;
        power.as_bits = exponent | 0x4330000000000000; /* 2^52 + k + 1024 */
        double k = power.as_double - (0x1p52 + 1024.0) + small;
        double f = part.as_double - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z, half = 0.5 * f * f;
        double low = (2.0 / 3 + z * (2.0 / 5)) + z2 * (2.0 / 7 + z * (2.0 / 9));
        double high = (2.0 / 11 + z * (2.0 / 13)) + z2 * ((2.0 / 15 + z * (2.0 / 17)) + z2 * (2.0 / 19));
        double rest = z * (low + z2 * z2 * high);
        double y = k * 6.93147180369123816490e-1 - ((half - (s * (half + rest) + k * 1.90821492927058770002e-10)) - f);
        y = x == INFINITY ? x : y;
        values[i] = x > 0.0 ? y : -INFINITY;
    }
}

#endif
