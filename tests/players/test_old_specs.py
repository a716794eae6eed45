"""Specs of version 0.2 mean what they meant, and settings that are gone are refused in one line."""

import json

import pytest

from trickformer import players
from trickformer.base import TrickformerError
from trickformer.plumbing import config as configs
from trickformer.tournaments.plan import Tournament

SMALL = "checkpoint=skat-small"
PRIOR = f"prior=argmax:{SMALL}"


@pytest.mark.parametrize(
    ("before", "game", "after"),
    [
        (f"gomcts:{SMALL}", "skat", f"rollout:{PRIOR}"),
        (f"gomcts:{SMALL},runs=9,weighted=false,margin=2", "skat", f"rollout:{PRIOR},belief=uniform,runs=9,margin=2"),
        (f"gomcts:{SMALL},weighted=true", "trickformer_skat", f"rollout:{PRIOR},belief=weighted"),
        (f"gomcts:{SMALL},imagine=worlds,playing=script,root=halving", "hearts", f"rollout:{PRIOR}"),
        (f"gomcts:{SMALL},dtype=float32", "skat", f'rollout:prior="argmax:{SMALL},dtype=float32"'),
        (f"gomcts:{SMALL}", "hearts(jd_bonus=True)", f"gomcts:{SMALL}"),
        (f"gomcts:{SMALL},imagine=model,root=uct,early=false,mu=0.1", "skat", f"gomcts:{SMALL},mu=0.1"),
        ("rollout:threshold=0.5", "skat", "rollout:min_gain=0.5"),
        (f'rollout:policy="gomcts:{SMALL}"', "skat", f'rollout:policy="rollout:{PRIOR}"'),
        ("rules", "skat", "rules"),
    ],
)
def test_specs_of_old_files_are_translated(before, game, after):
    found = players.translate(before, True, game)
    if "policy" in after:  # specs in specs: the inner one is canonical
        assert players.parse(found)[1].policy == players.translate(f"gomcts:{SMALL}", True, game)
    else:
        assert players.parse(found) == players.parse(after)


def test_typed_specs_have_the_meaning_of_today():
    assert players.parse(f"gomcts:{SMALL}")[0] == "gomcts"
    assert players.parse(f"gomcts:{SMALL},imagine=worlds") == players.parse(f"rollout:{PRIOR}")


@pytest.mark.parametrize(
    "setting", ["imagine=worlds,root=uct", "imagine=worlds,playing=model", "early=true", "root=halving"]
)
def test_settings_that_are_gone_are_refused(setting):
    with pytest.raises(TrickformerError, match="no longer exists") as refusal:
        players.parse(f"gomcts:{SMALL},{setting}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("about", "name"), [({"builds": []}, "rollout"), ({"builds": [], "specs": 2}, "gomcts"), (None, "gomcts")]
)
def test_a_run_folder_says_which_form_its_specs_have(about, name, tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(f'game = "skat"\na = "gomcts:{SMALL}"\nb = "rules"\n')
    if about is not None:
        (tmp_path / "run.json").write_text(json.dumps(about))
    for config in (configs.read(Tournament, file), configs.load(Tournament, file, {})):
        assert players.parse(config.a)[0] == name
