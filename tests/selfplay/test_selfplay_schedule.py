"""Options of each iteration's training."""

from __future__ import annotations

from trickformer.selfplay.config import SelfPlay
from trickformer.selfplay.schedule import fit_options


def test_each_option_reaches_the_training_of_its_model(tmp_path):
    config = SelfPlay(
        game="crew",
        out=tmp_path,
        epochs=2,
        bootstrap_epochs=3,
        batch_size=5,
        learning_rate=0.02,
        bootstrap_learning_rate=0.08,
        muon=0.4,
        policy_weight=7.0,
        action_weight=11.0,
        bucket=13,
        augment=True,
        value_positions=17,
        save_every=19,
    )
    first, later = (fit_options(config, iteration) for iteration in (0, 1))
    assert (first.epochs, first.learning_rate, first.muon) == (3, 0.08, 0.4)
    assert (later.epochs, later.learning_rate, later.muon) == (2, 0.02, 0.1)  # Muon falls by the factor of AdamW
    for options in (first, later):
        assert (options.batch_size, options.policy_weight, options.action_weight) == (5, 7.0, 11.0)
        assert (options.bucket, options.value_positions, options.save_every) == (13, 17, 19)
        assert options.augment is not None
    plain = fit_options(SelfPlay(game="crew", out=tmp_path, augment=False, value_positions=0), 1)
    assert plain.augment is None and plain.value_positions is None
