"""A challenger is promoted when it is better by the margin on the same data, else kept, with the reason in words."""

from pathlib import Path

import pytest

from foresail.models.errors import PromotionError
from foresail.models.store import ModelStore
from tests.models.forecasting import model_of
from tests.models.letters import lettered

PATTERN = lettered("a ; b")
DAY = "20260101T000000Z-20260102T000000Z"


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path)


def rivals(store: ModelStore, champion: float, challenger: float) -> tuple[str, str]:
    one = store.add(model_of(PATTERN, ["abxab"]))
    other = store.add(model_of(PATTERN, ["abxabab"]), promote=False)
    store.keep_scores("lettered", one, DAY, {"mcc": champion})
    store.keep_scores("lettered", other, DAY, {"mcc": challenger})
    return one, other


def test_a_better_challenger_is_promoted_and_the_reason_is_kept(store: ModelStore) -> None:
    champion, challenger = rivals(store, 0.5, 0.6)
    judgement = store.promote_if_better("lettered", margin=0.05)
    assert judgement.better
    assert store.load("lettered").version == challenger
    assert f"mcc 0.6000 against 0.5000 of {champion} on {DAY}: better by 0.1000" in judgement.why
    assert store.record("lettered").decisions[-1].why == judgement.why


def test_a_challenger_that_just_reaches_the_margin_is_promoted(store: ModelStore) -> None:
    rivals(store, 0.5, 0.75)
    assert store.promote_if_better("lettered", margin=0.25).better


@pytest.mark.parametrize("score", [0.4, 0.5, 0.549])
def test_a_worse_or_hardly_better_challenger_is_kept_out_once_and_told_why(store: ModelStore, score: float) -> None:
    champion, _challenger = rivals(store, 0.5, score)
    judgement = store.promote_if_better("lettered", margin=0.05)
    assert not judgement.better
    assert "does not reach the margin of 0.05" in judgement.why
    assert store.load("lettered").version == champion
    assert store.record("lettered").decisions[-1].what == "kept"
    before = store.manifest()
    assert store.promote_if_better("lettered", margin=0.05).why == judgement.why
    assert store.manifest() == before


def test_the_first_model_needs_no_scores(store: ModelStore) -> None:
    version = store.add(model_of(PATTERN, ["abxab"]), promote=False)
    assert store.promote_if_better("lettered", margin=0.05).why == "there is no champion yet"
    assert store.load("lettered").version == version
    assert "nothing new was learned" in store.promote_if_better("lettered", margin=0.05).why


def test_a_model_of_older_data_is_never_promoted_by_its_scores(store: ModelStore) -> None:
    store.add(model_of(PATTERN, ["abxab"]), promote=False)
    champion = store.add(model_of(PATTERN, ["abxabababab"]))
    judgement = store.promote_if_better("lettered", margin=0.0)
    assert judgement.why == f"it was trained on older data than the champion {champion}"


def test_scores_that_are_missing_are_asked_for(store: ModelStore) -> None:
    one = store.add(model_of(PATTERN, ["abxab"]))
    other = store.add(model_of(PATTERN, ["abxabab"]), promote=False)
    with pytest.raises(PromotionError, match="no scores of it are known"):
        store.promote_if_better("lettered", margin=0.0)
    store.keep_scores("lettered", other, DAY, {"f1": 0.4})
    with pytest.raises(PromotionError, match=f"champion {one} was not"):
        store.promote_if_better("lettered", margin=0.0)
    store.keep_scores("lettered", one, DAY, {"f1": 0.3})
    with pytest.raises(PromotionError, match=r"no score 'mcc'\. There are: f1"):
        store.promote_if_better("lettered", margin=0.0)
    assert store.promote_if_better("lettered", margin=0.0, metric="f1").better
