"""The contrast of randomised groups against ready-made tests."""

from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from episodic_absa.contrib.principles.contrast import randomised_contrast


def test_a_contrast_has_the_interval_of_welch_and_the_p_of_a_randomisation_test() -> None:
    draw = np.random.default_rng(8)
    first, second = draw.normal(0.6, 0.5, 25).tolist(), draw.normal(0, 1.5, 14).tolist()
    contrast = randomised_contrast(first, second)
    welch = stats.ttest_ind(first, second, equal_var=False)
    interval = welch.confidence_interval()
    assert (contrast.ci_low, contrast.ci_high) == pytest.approx((interval.low, interval.high), abs=1e-8)
    assert contrast.effect == pytest.approx(fmean(first) - fmean(second))
    dealt = stats.permutation_test(
        (first, second),
        lambda a, b, axis: stats.ttest_ind(a, b, axis=axis, equal_var=False).statistic ** 2,
        vectorized=True,
        n_resamples=2000,
        alternative="greater",
        rng=np.random.default_rng(1),
    )
    assert contrast.p_value == pytest.approx(dealt.pvalue, abs=0.03)
    assert contrast.p_value == randomised_contrast(first[::-1], second[::-1]).p_value


def test_a_contrast_without_variation_has_no_interval() -> None:
    assert randomised_contrast([0.5] * 12, [0.5] * 12) == (0.0, None, None, None)
    apart = randomised_contrast([1.0] * 12, [0.0] * 12)
    assert (apart.effect, apart.ci_low) == (1.0, None)
    assert apart.p_value == pytest.approx(1 / 10_001, abs=2e-4)
    assert randomised_contrast([1.0], [0.0, 1.0]) == (0.5, None, None, None)
