from foresail.pipeline.stream.bucket.rules import BucketRules
from foresail.pipeline.stream.query.pair_rows import pair_bucket_rules, pair_settings


def test_only_what_conditions_read_of_either_track_is_carried_and_when_it_arrived() -> None:
    assert pair_settings(800.0, {"speed_kn_a", "vessel_type_b", "distance_m"}).attributes == (
        *("speed_kn", "vessel_type"),
        "arrived_us",
    )
    assert pair_settings(800.0).attributes[:2] == ("speed_kn", "course_deg")
    assert pair_settings(800.0).distance_m == 800.0


def test_pairs_are_read_at_once_and_timed_out_late() -> None:
    rules = BucketRules(out_of_order_us=60_000_000, rest_after_us=1, rerun_us=600_000_000, keep_same_time=True)
    assert pair_bucket_rules(rules, pair_settings(800.0)) == BucketRules(rest_after_us=1, timers_wait_us=1_200_000_000)
