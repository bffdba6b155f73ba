/* coefficients.h - the numbers behind functions.h, for both twins: TWIN(poly_exp) picks.
**
** Polynomials, lowest power first, near minimax (Remez, 60 digits), each one or two
** degrees beyond what its twin can see. */
#ifndef EVL_KERNELS_COEFFICIENTS_H
#define EVL_KERNELS_COEFFICIENTS_H

/* (exp(r) - 1 - r) / r^2, |r| <= log(2) / 2. */
static const float poly_exp_f[] = {
    0.5000000078f,   0.1666666686f,   0.04166626931f,
    0.008333264266f, 0.001394611887f, 0.0001991843274f,
};
static const double poly_exp_d[] = {
    0.4999999999999999997,     0.1666666666666668391,   0.04166666666666672451,
    0.008333333333316684950,   0.001388888888885845268, 0.0001984126989719407978,
    0.00002480158737371138513, 2.755723409970803783e-6, 2.755723338775407150e-7,
    2.511228830125521719e-8,   2.092693430669560751e-9,
};

/* (log((1 + s) / (1 - s)) / s - 2) / z, z = s^2, 1 + s over 1 - s from sqrt(1/2) to sqrt(2). */
static const float poly_log_f[] = {
    0.6666666655f,
    0.4000012309f,
    0.2855069897f,
    0.2333341875f,
};
static const double poly_log_d[] = {
    0.6666666666666669748, 0.3999999999989788820, 0.2857142862665137655, 0.2222221103177091421,
    0.1818289620498245645, 0.1533149787729358716, 0.1461909540045933882,
};

/* erf(x) / x - 1 of z = x^2, 0 <= x <= 1. */
static const float poly_erf_f[] = {
    0.1283791671f,   -0.3761263848f,    0.1128378275f,    -0.02686544584f,
    0.005221074913f, -0.0008484711840f, 0.0001127054666f, -9.680140968e-6f,
};
static const double poly_erf_d[] = {
    0.1283791670955125738,    -0.3761263890318374818,     0.1128379167095488444,
    -0.02686617064507786955,  0.005223977624828385843,    -0.0008548326981423439953,
    0.0001205533113289414224, -0.00001492559577101336717, 1.646100846350294509e-6,
    -1.635039611264966564e-7, 1.466032822750662595e-8,    -1.137495466483581576e-9,
    5.960684792692576949e-11,
};

/* exp(x^2) erfc(x) of u = 1 / (x + 2) - 1/4, 1 <= x <= 6. */
static const float poly_erfc_f[] = {
    0.2553956779f, 1.708743414f, 3.866516320f, 5.055162146f, 0.9548108513f, -7.385640822f,
};
static const double poly_erfc_d[] = {
    0.2553956763105057594, 1.708743389655827323,  3.866531107879500836,  5.054629185050596010,
    0.9556204540260919205, -7.165400868513603826, -3.469896050807842690, 16.08870263861827146,
    2.853185829444322605,  -45.68867725642026588, 28.96500654431940186,  111.6167117663684854,
    -212.1330064577709214,
};

/* log(2) in two parts: n times the first is exact for every exponent n. */
static const float ln2_high_f = 0.693145751953125f, ln2_low_f = 1.428606820309417232e-6f;
static const double ln2_high_d = 0.693147180559890330187045,
                    ln2_low_d = 5.497923018708371174712e-14;

/* Beyond these exp(x) is infinite, or rounds to 0. */
static const float exp_most_f = 89, exp_least_f = -104;
static const double exp_most_d = 710, exp_least_d = -746;
#endif
