from foresail.pipeline.stream.query.sinks import joined_replies


def ack(accepted: bool, **more: object) -> dict[str, object]:
    return {"id": "1", "accepted": accepted, "message": {"id": "1"}, **more}


def test_a_message_is_accepted_when_every_bucket_accepts_it() -> None:
    (reply,) = joined_replies([ack(True), ack(True)], 7)
    assert (reply["accepted"], reply["batch"], reply["buckets"], reply["obeyed"]) == (True, 7, 2, 2)


def test_one_bucket_that_refuses_is_heard() -> None:
    (reply,) = joined_replies([ack(True), ack(False, reason="no such model")], 7)
    assert (reply["accepted"], reply["reason"], reply["obeyed"]) == (False, "no such model", 1)


def test_messages_without_an_id_are_answered_each() -> None:
    acks = [{"id": None, "accepted": False, "reason": "not JSON", "message": text} for text in ("a", "a", "b", "b")]
    assert [reply["message"] for reply in joined_replies(acks, 3)] == ["a", "b"]


def test_equal_messages_are_answered_each_by_their_offset() -> None:
    acks = [
        {"id": None, "accepted": False, "reason": "not JSON", "message": "a", "offset": offset}
        for offset in (7, 7, 8, 8, 9, 9)
    ]
    replies = joined_replies(acks, 3)
    assert [(reply["offset"], reply["buckets"]) for reply in replies] == [(7, 2), (8, 2), (9, 2)]
