"""The rules R1 to R9, and the acceptance cases that are worked out on them."""

RULES = {
    "R1": """Rule R1 define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and each Temp(area=$a and value>45) within 5 min. from Smoke
        where area=Smoke.area and measuredTemp=Temp.value""",
    "R2": """Rule R2 define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and last Temp(area=$a and value>45) within 5 min. from Smoke
        where area=Smoke.area and measuredTemp=Temp.value""",
    "R3": """Rule R3 define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and each Temp(area=$a and value>45) within 5 min. from Smoke
        where area=Smoke.area and measuredTemp=Temp.value consuming Temp""",
    "R4": """Rule R4 define Fire(area: string, measuredTemp: double)
        from Temp(area=$a and value>45) and not Rain(area=$a) within 5 min. from Temp
        where area=Temp.area and measuredTemp=Temp.value""",
    "R5": """Rule R5 define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and 45 < $t=Avg(Temp(area=$a).value within 5 min. from Smoke)
        where area=Smoke.area and measuredTemp=$t""",
    "R6a": """Rule R6a define NotIncrTemp(area: string)
        from Temp(area=$a and value=$t) as T1 and
             last Temp(area=$a and value>=$t) as T2 within 5 min. from T1 and
             not Temp(area=$a) between T2 and T1
        where area=T1.area""",
    "R6b": """Rule R6b define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and not NotIncrTemp(area=$a) within 5 min. from Smoke and
             Count(Temp(area=$a) within 5 min. from Smoke) >= 10
        where area=Smoke.area and measuredTemp=Avg(Temp(area=$a).value within 5 min. from Smoke)""",
    "R6c": """Rule R6c define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and last NotIncrTemp(area=$a) as N within 5 min. from Smoke and
             Count(Temp(area=$a) between Smoke and N) >= 10
        where area=Smoke.area and measuredTemp=Avg(Temp(area=$a).value between Smoke and N)""",
    "R7": """Rule R7 define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and each Temp(area=$a and value>45) within 5 min. from Smoke and
             each Wind(area=$a and speed>20) within 5 min. from Smoke and
             not Rain(area=$a) between Smoke and Wind
        where area=Smoke.area and measuredTemp=Temp.value""",
    "R8": """Rule R8 define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and last Temp(area=$a and value>45) within 5 min. from Smoke
        where area=Smoke.area and measuredTemp=Temp.value consuming Temp""",
    "R9": """Rule R9 define Fire(area: string, measuredTemp: double)
        from Smoke(area=$a) and first Temp(area=$a and value>45) within 5 min. from Smoke
        where area=Smoke.area and measuredTemp=Temp.value""",
}
RULES["R6"] = "\n".join(RULES[name] for name in ("R6a", "R6b", "R6c"))
CASES: list[tuple[str, str, str, str, dict[str, str]]] = [
    (
        "01 each: 3 temps + smoke -> 3",
        "R1",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) Smoke@240(area='A')",
        "Fire@240(area='A', measuredTemp=50) Fire@240(area='A', measuredTemp=60) Fire@240(area='A', measuredTemp=70)",
        {},
    ),
    (
        "02 last",
        "R2",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) Smoke@240(area='A')",
        "Fire@240(area='A', measuredTemp=70)",
        {},
    ),
    (
        "03 first (R9)",
        "R9",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) Smoke@240(area='A')",
        "Fire@240(area='A', measuredTemp=50)",
        {},
    ),
    (
        "04 2-last",
        "Rule R2 define Fire(area: string, measuredTemp: double) from Smoke(area=$a) and 2-last "
        "Temp(area=$a and value>45) within 5 min. from Smoke where area=Smoke.area and "
        "measuredTemp=Temp.value",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) Smoke@240(area='A')",
        "Fire@240(area='A', measuredTemp=60) Fire@240(area='A', measuredTemp=70)",
        {},
    ),
    (
        "05 2-first",
        "Rule R9 define Fire(area: string, measuredTemp: double) from Smoke(area=$a) and 2-first "
        "Temp(area=$a and value>45) within 5 min. from Smoke where area=Smoke.area and "
        "measuredTemp=Temp.value",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) Smoke@240(area='A')",
        "Fire@240(area='A', measuredTemp=50) Fire@240(area='A', measuredTemp=60)",
        {},
    ),
    (
        "07 Figure 3 of the paper (minutes): T1@1 T2@2 S(wrong)@5 T3@7 S2@8 S3@9",
        "R1",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=51) Smoke@300(area='B') Temp@420(area='A', "
        "value=52) Smoke@480(area='A') Smoke@540(area='A')",
        "Fire@480(area='A', measuredTemp=52) Fire@540(area='A', measuredTemp=52)",
        {},
    ),
    (
        "08 window closed at exactly 5 min, open beyond",
        "R1",
        "Temp@0(area='A', value=50) Temp@1(area='A', value=51) Smoke@300(area='A') Smoke@301(area='A')",
        "Fire@300(area='A', measuredTemp=50) Fire@300(area='A', measuredTemp=51) Fire@301(area='A', measuredTemp=51)",
        {},
    ),
    (
        "09 same timestamp is not 'before' (strict)",
        "R1",
        "Temp@60(area='A', value=50) Smoke@60(area='A')",
        "",
        {},
    ),
    (
        "10 same timestamp, ties=arrival: temp arrived first",
        "R1",
        "Temp@60(area='A', value=50) Smoke@60(area='A')",
        "Fire@60(area='A', measuredTemp=50)",
        {"ties": "arrival"},
    ),
    (
        "11 static constraint: value=45 not > 45",
        "R1",
        "Temp@0(area='A', value=45) Temp@1(area='A', value=45.5) Smoke@2(area='A')",
        "Fire@2(area='A', measuredTemp=45.5)",
        {},
    ),
    (
        "13 last with static constraint: newer Temp with value<=45 is not a candidate",
        "R2",
        "Temp@10(area='A', value=50) Temp@20(area='A', value=30) Smoke@30(area='A')",
        "Fire@30(area='A', measuredTemp=50)",
        {},
    ),
    (
        "14 R9 first slides: T1 expires, T2 becomes first",
        "R9",
        "Temp@60(area='A', value=50) Temp@240(area='A', value=60) Smoke@300(area='A') Smoke@420(area='A')",
        "Fire@300(area='A', measuredTemp=50) Fire@420(area='A', measuredTemp=60)",
        {},
    ),
    (
        "15 no consumption: two smokes reuse 3 temps -> 6",
        "R1",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) "
        "Smoke@240(area='A') Smoke@250(area='A')",
        "Fire@240(area='A', measuredTemp=50) Fire@240(area='A', measuredTemp=60) Fire@240(area='A', "
        "measuredTemp=70) Fire@250(area='A', measuredTemp=50) Fire@250(area='A', measuredTemp=60) "
        "Fire@250(area='A', measuredTemp=70)",
        {},
    ),
    (
        "16 R3 consuming: second smoke finds none",
        "R3",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) "
        "Smoke@240(area='A') Smoke@250(area='A')",
        "Fire@240(area='A', measuredTemp=50) Fire@240(area='A', measuredTemp=60) Fire@240(area='A', measuredTemp=70)",
        {},
    ),
    (
        "18 consumption is per rule",
        "Rule R3 define Fire(area: string, measuredTemp: double) from Smoke(area=$a) and each "
        "Temp(area=$a and value>45) within 5 min. from Smoke where area=Smoke.area and "
        "measuredTemp=Temp.value consuming Temp Rule R1b define Fire2(area: string, measuredTemp: double) "
        "from Smoke(area=$a) and each Temp(area=$a and value>45) within 5 min. from Smoke where "
        "area=Smoke.area and measuredTemp=Temp.value",
        "Temp@60(area='A', value=50) Smoke@70(area='A') Smoke@80(area='A')",
        "Fire@70(area='A', measuredTemp=50) Fire2@70(area='A', measuredTemp=50) Fire2@80(area='A', measuredTemp=50)",
        {},
    ),
    (
        "21 R4 time-based negation (inclusive far edge, per area)",
        "R4",
        "Rain@0(area='A') Temp@300(area='A', value=50) Temp@301(area='A', value=51) Rain@310(area='B') "
        "Temp@320(area='A', value=52) Rain@330(area='A') Temp@331(area='A', value=53)",
        "Fire@301(area='A', measuredTemp=51) Fire@320(area='A', measuredTemp=52)",
        {},
    ),
    (
        "22 R7 cartesian: 3 T x 2 W = 6",
        "R7",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) "
        "Wind@190(area='A', speed=30) Wind@200(area='A', speed=30) Smoke@240(area='A')",
        "Fire@240(area='A', measuredTemp=50) Fire@240(area='A', measuredTemp=50) Fire@240(area='A', "
        "measuredTemp=60) Fire@240(area='A', measuredTemp=60) Fire@240(area='A', measuredTemp=70) "
        "Fire@240(area='A', measuredTemp=70)",
        {},
    ),
    (
        "24 R7: no wind -> nothing",
        "R7",
        "Temp@60(area='A', value=50) Temp@120(area='A', value=60) Temp@180(area='A', value=70) Smoke@240(area='A')",
        "",
        {},
    ),
    (
        "26 first + interval negation, local selection: T1 selected then negated",
        "define Fire(area: string, measuredTemp: double) from Smoke(area=$a) and first Temp(area=$a and "
        "value>45) within 5 min. from Smoke and not Rain(area=$a) between Temp and Smoke where "
        "area=Smoke.area and measuredTemp=Temp.value",
        "Temp@10(area='A', value=50) Rain@20(area='A') Temp@30(area='A', value=60) Smoke@40(area='A')",
        "",
        {},
    ),
    (
        "27 same, selection=admissible (paper's automaton deletes T1 first)",
        "define Fire(area: string, measuredTemp: double) from Smoke(area=$a) and first Temp(area=$a and "
        "value>45) within 5 min. from Smoke and not Rain(area=$a) between Temp and Smoke where "
        "area=Smoke.area and measuredTemp=Temp.value",
        "Temp@10(area='A', value=50) Rain@20(area='A') Temp@30(area='A', value=60) Smoke@40(area='A')",
        "Fire@40(area='A', measuredTemp=60)",
        {"selection": "admissible"},
    ),
    (
        "28 R5 avg > 45",
        "R5",
        "Temp@0(area='A', value=40) Temp@10(area='A', value=60) Smoke@20(area='A') Temp@30(area='A', "
        "value=10) Smoke@40(area='A')",
        "Fire@20(area='A', measuredTemp=50.0)",
        {},
    ),
    (
        "29 R5 empty window: Avg is null -> no firing",
        "R5",
        "Smoke@20(area='A')",
        "",
        {},
    ),
    (
        "31 empty: Sum=0 Count=0 Min/Max/Avg null",
        "define X(s: int, c: int, lo: int, hi: int, m: double) from E() and each B() within 100 from E "
        "and $s = Sum(V().x between B and E) where s=$s, c=Count(V() between B and E), lo=Min(V().x "
        "between B and E), hi=Max(V().x between B and E), m=Avg(V().x between B and E)",
        "B@1() E@4()",
        "X@4(s=0, c=0, lo=None, hi=None, m=None)",
        {},
    ),
    (
        "32 R6a: NotIncrTemp on <= previous only (adjacent in area)",
        "R6a",
        "Temp@0(area='A', value=10) Temp@1(area='A', value=11) Temp@2(area='A', value=11) "
        "Temp@3(area='B', value=50) Temp@4(area='A', value=12) Temp@5(area='A', value=5) "
        "Temp@400(area='A', value=1)",
        "NotIncrTemp@2(area='A') NotIncrTemp@5(area='A')",
        {},
    ),
    (
        "33 R6: 10 increasing then smoke -> R6b",
        "R6",
        "Temp@0(area='A', value=20) Temp@10(area='A', value=21) Temp@20(area='A', value=22) "
        "Temp@30(area='A', value=23) Temp@40(area='A', value=24) Temp@50(area='A', value=25) "
        "Temp@60(area='A', value=26) Temp@70(area='A', value=27) Temp@80(area='A', value=28) "
        "Temp@90(area='A', value=29) Smoke@100(area='A')",
        "Fire@100(area='A', measuredTemp=24.5)",
        {},
    ),
    (
        "34 R6: 9 increasing -> nothing",
        "R6",
        "Temp@0(area='A', value=20) Temp@10(area='A', value=21) Temp@20(area='A', value=22) "
        "Temp@30(area='A', value=23) Temp@40(area='A', value=24) Temp@50(area='A', value=25) "
        "Temp@60(area='A', value=26) Temp@70(area='A', value=27) Temp@80(area='A', value=28) "
        "Smoke@100(area='A')",
        "",
        {},
    ),
    (
        "36 R6: drop, then 9 increasing -> only NotIncrTemp",
        "R6",
        "Temp@1(area='A', value=90) Temp@2(area='A', value=1) Temp@3(area='A', value=10) Temp@4(area='A', "
        "value=11) Temp@5(area='A', value=12) Temp@6(area='A', value=13) Temp@7(area='A', value=14) "
        "Temp@8(area='A', value=15) Temp@9(area='A', value=16) Temp@10(area='A', value=17) "
        "Temp@11(area='A', value=18) Smoke@20(area='A')",
        "NotIncrTemp@2(area='A')",
        {},
    ),
    (
        "37 recursion: length of strictly increasing run",
        "Rule Base define Run(area: string, len: int, v: double) from Temp(area=$a and value=$v) and not "
        "Temp(area=$a) within 60 from Temp where area=$a, len=1, v=$v Rule Step define Run(area: string, "
        "len: int, v: double) from Temp(area=$a and value=$v) and last Run(area=$a and v<$v) as P within "
        "60 from Temp and not Temp(area=$a) between P and Temp where area=$a, len=P.len+1, v=$v",
        "Temp@0(area='A', value=1) Temp@10(area='A', value=2) Temp@20(area='A', value=3) "
        "Temp@25(area='B', value=7) Temp@30(area='A', value=3)",
        "Run@0(area='A', len=1, v=1) Run@10(area='A', len=2, v=2) Run@20(area='A', len=3, v=3) "
        "Run@25(area='B', len=1, v=7)",
        {},
    ),
    (
        "39 chain of lasts, local: last B has no C -> nothing",
        "define X(b: int, c: int) from A() and last B() within 10 from A and last C() within 2 from B "
        "where b=B.i, c=C.i",
        "C@1(i=1) B@2(i=1) B@6(i=2) A@8()",
        "",
        {},
    ),
    (
        "40 chain of lasts, admissible: last B that has a C",
        "define X(b: int, c: int) from A() and last B() within 10 from A and last C() within 2 from B "
        "where b=B.i, c=C.i",
        "C@1(i=1) B@2(i=1) B@6(i=2) A@8()",
        "X@8(b=1, c=1)",
        {"selection": "admissible"},
    ),
    (
        "41 null attribute compares false, also !=",
        "define X(v: int) from A(k != 3) where v=A.k",
        "A@1(k=None) A@2(k=4) A@3(k=3)",
        "X@2(v=4)",
        {},
    ),
    (
        "42 composite timestamp = terminator's; composite usable as terminator",
        "define L1(x: int) from A() where x=A.k define L2(x: int) from L1() and each A() within 10 from L1 where x=A.k",
        "A@1(k=1) A@2(k=2)",
        "L1@1(x=1) L1@2(x=2) L2@2(x=1)",
        {},
    ),
    (
        "43 filter rule (single event)",
        "define Hot(v: double) from Temp(value=7) where v=Temp.value",
        "Temp@1(area='A', value=6) Temp@2(area='A', value=7)",
        "Hot@2(v=7)",
        {},
    ),
]

REFUSED: list[tuple[str, str, str]] = [
    ("define X(v: int) from A() and not B(k=$k) within 5 from A where v=A.k", "1:39", "$k is used inside a negation"),
    ("define X(v: int) from A(k=$k+1) where v=A.k", "1:27", "$k is used before it is bound"),
    ("define X(v: int) from A() and Count(B(k=$k) within 5 from A) > 1 where v=A.k", "1:41", "inside an aggregate"),
    ("define X(v: int) from A() and each B() within 5 from C where v=A.k", "1:54", "C is no event declared"),
    (
        "define X(v: int) from A() and not D() within 5 from A and each B() within 5 from D where v=A.k",
        "1:82",
        "D is neg",
    ),
    ("define X(v: int) from A() and not D() between A and B where v=A.k", "1:47", "B is no event declared"),
    ("define X(v: int) from A() where v=B.k", "1:35", "B is no event declared"),
    ("define X(v: int) from A() and each A() within 5 from A where v=A.k", "1:36", "the event name 'A' is taken"),
    ("define X(v: int) from A() and not B() within 5 from A where v=A.k consuming B", "1:77", "B is negated"),
    ("define A(v: int) from A() where v=A.k", "1:23", "would fire for ever"),
    ("define A(v: int) from B() where v=1 define B(v: int) from A() where v=1", "1:59", "B -> A -> B"),
    ("define X(v: int, w: int) from A() where v=A.k", "1:18", "'where' does not set 'w'"),
    ("define X(v: int) from A() where v=A.k, u=1", "1:40", "attribute 'u' is not declared"),
    ("define X(v: int) from A() and Avg(B() within 5 from A) > 3 where v=A.k", "1:31", "avg needs an attribute"),
    ("define X(v: int) from A() and each B() between A and A where v=A.k", "1:31", "cannot select between"),
    ("define X(v: int) from A() and 0-last B() within 5 from A where v=A.k", "1:31", "must select 1 to"),
    ("define X(v: int) from A() and each B() within 0 from A where v=A.k", "1:47", "a window of 0 s is impossible"),
    ("define X(v: int) from A() and each B() within 5 parsec from A where v=A.k", "1:49", "unknown unit 'parsec'"),
    ("define X(v: integer) from A() where v=A.k", "1:10", "unknown type 'integer'"),
    ("define X(v: int) from A() where v='a'", "1:33", "'v' is declared as number and set to a string"),
    ("define X(v: int) from A() where v=1 define Y(s: string) from X(v='a') where s='b'", "1:64", "is compared with a"),
    ("define X(v: int) from A( where v=1", "1:32", "cannot stand here"),
    ("define X(v: int) from A() where v=A.k and", "1:42", "the rule ends too early"),
]
"""What is refused: the text, the place that is told, and a part of what is said."""
