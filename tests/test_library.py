"""The library as `import glossa` offers it: what it refuses, and how."""

import pytest

import glossa

CORPUS = glossa.Corpus((glossa.Document("d", "He had gout.", ()),))


@pytest.mark.parametrize("act", [glossa.label, glossa.train])
def test_a_match_preset_that_does_not_exist_is_an_error_that_names_the_presets(act):
    with pytest.raises(glossa.InputError) as error:
        act(CORPUS, [], match="nonsense")
    message = '"nonsense" is not a match preset; choose one of strict, balanced, loose'
    assert str(error.value) == message
