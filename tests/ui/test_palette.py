import pytest

from ui.charts.palette import METHOD_COLORS, METHOD_DASHES, PALETTE

PAGES = {"light": "#ffffff", "dark": "#14191f"}


def luminance(color):
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("method", METHOD_COLORS)
def test_methods_are_visible_on_light_and_dark_pages(method, page):
    darker, lighter = sorted((luminance(METHOD_COLORS[method]), luminance(page)))
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_each_method_has_its_own_color_and_line():
    assert len(set(METHOD_COLORS.values())) == len(METHOD_COLORS)
    assert not set(METHOD_COLORS.values()) & set(PALETTE)
    assert METHOD_COLORS.keys() == METHOD_DASHES.keys()
