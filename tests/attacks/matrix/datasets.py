"""Lists of recipients that never change and add up, and a list of the suppressed from which nobody slips away."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert

OVER = "(dataset_over)"
OPEN = "trigger approvals_datasetrow datasetrow_of_an_open_dataset"
ENDS = "update approvals_dataset set ended_at = now()"
FILE = "update approvals_dataset set file_erased_at = {} where id = %(dataset_over)s"
ROW = "update approvals_datasetrow set {} where dataset_id = %(dataset)s"
EMPTIED = "erased_at = now(), email = '', address = '', dedupe_key = '', vars = '{}', unfit = ''"
NEVER_TRIED = "update approvals_delivery set state = 'skipped' where id = %(delivery)s"
FORGET = "update approvals_delivery set address = '', dedupe_key = id::text where id = {}"
ELSEWHERE = "(delivery_keeps_its_recipient)"

CASES = (
    Case(
        guard="constraint approvals_dataset dataset_runtime_same_workspace",
        attack=insert("dataset", runtime_id="%(b_runtime)s"),
    ),
    Case(
        guard="index approvals_dataset dataset_once",
        what="import the same file twice",
        attack=insert("dataset", sha256="repeat('0', 64)"),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="constraint approvals_dataset dataset_sha256_is_hex",
        attack=insert("dataset", sha256="'../../eve'"),
    ),
    Case(
        guard="constraint approvals_dataset dataset_adds_up",
        what="lose a row of the file",
        attack=f"{ENDS}, total = 2, addressable = 1 where id = %(dataset)s",
    ),
    *(
        Case(
            guard=f"constraint approvals_dataset approvals_dataset_{column}_check",
            attack=insert("dataset", **{column: "-1"}),
        )
        for column in ("total", "addressable", "duplicate", "suppressed", "refused", "formulas")
    ),
    Case(
        guard="trigger approvals_dataset dataset_over",
        what="count otherwise once it is over",
        attack="update approvals_dataset set formulas = 7 where id = %(dataset_over)s",
        refusal=OVER,
    ),
    Case(
        guard="trigger approvals_dataset dataset_over",
        what="end with fewer rows than it says",
        attack=f"{ENDS}, total = 3, addressable = 3 where id = %(dataset)s",
        refusal=OVER,
    ),
    Case(
        guard="trigger approvals_dataset dataset_over",
        what="fail, and keep half of it",
        attack=f"{ENDS}, trouble = 'eve', addressable = 1 where id = %(dataset)s",
        refusal=OVER,
    ),
    Case(
        guard=OPEN,
        what="add somebody to a list that is over",
        attack=insert("datasetrow", dataset_id="%(dataset_over)s"),
        refusal="(datasetrow_of_an_open_dataset)",
    ),
    Case(
        guard=OPEN,
        what="add a row to no list",
        attack=insert("datasetrow", dataset_id="gen_random_uuid()"),
        refusal="(datasetrow_of_an_open_dataset)",
    ),
    Case(
        guard="index approvals_datasetrow datasetrow_first_wins",
        what="write twice to one address",
        attack=insert("datasetrow", address="'Bo@x.example'", dedupe_key="'bo@x.example'"),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="constraint approvals_datasetrow datasetrow_state_known",
        what="a state nobody knows",
        attack=insert("datasetrow", state="'asleep'", reason="'x'"),
    ),
    Case(
        guard="constraint approvals_datasetrow datasetrow_state_known",
        what="excluded for no reason",
        attack=insert("datasetrow", state="'suppressed'"),
    ),
    Case(
        guard="constraint approvals_datasetrow datasetrow_addressed",
        what="another key than the address has",
        attack=insert("datasetrow", dedupe_key="'somebody@x.example'"),
    ),
    Case(
        guard="constraint approvals_datasetrow approvals_datasetrow_position_check",
        attack=insert("datasetrow", position="-1"),
    ),
    Case(
        guard="trigger approvals_datasetrow datasetrow_kept",
        what="lose a row",
        by="owner",
        attack="delete from approvals_datasetrow where dataset_id = %(dataset)s",
        refusal="append-only|refused",
    ),
    Case(
        guard="index approvals_suppression suppression_once",
        what="be on the list twice, and released once",
        attack=insert("suppression", dedupe_key="'gone@x.example'"),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="constraint approvals_suppression suppression_reason_known",
        attack=insert("suppression", reason="'bored'"),
    ),
    Case(
        guard="constraint approvals_suppression suppression_key_is_normal",
        what="be on the list in a spelling that nobody looks up",
        attack=insert("suppression", dedupe_key="'Eve@x.example'"),
    ),
    Case(
        guard="trigger approvals_suppression suppression_only_released",
        what="take a release back",
        attack="update approvals_suppression set released_at = null where id = %(released)s",
        refusal="(suppression_only_released)",
    ),
    Case(
        guard="trigger approvals_suppression suppression_kept",
        what="take somebody off without a trace",
        by="owner",
        attack="delete from approvals_suppression where id = %(suppression)s",
        refusal="append-only|refused",
    ),
    Case(
        guard="constraint approvals_dataset dataset_file_erased_once_over",
        what="take away the file that is still to be imported",
        attack=insert("dataset", file_erased_at="now()"),
    ),
    Case(
        guard="trigger approvals_dataset dataset_over",
        what="count otherwise by the way of taking its file away",
        by="owner",
        attack=FILE.format("now(), formulas = 7"),
        refusal=OVER,
    ),
    Case(
        guard="trigger approvals_dataset dataset_over",
        what="say that a file is there again that was erased",
        by="owner",
        attack=(FILE.format("now()"), FILE.format("null")),
        refusal=OVER,
    ),
    Case(
        guard="constraint approvals_datasetrow datasetrow_erased_is_empty",
        what="erased, and still there to read",
        attack=insert("datasetrow", erased_at="now()"),
    ),
    *(
        Case(
            guard="trigger approvals_datasetrow datasetrow_only_erased",
            what=what,
            by="owner",
            attack=attack,
            refusal="only ever erased",
        )
        for what, attack in {
            "give a row another address": ROW.format(
                "address = 'eve@x.example', dedupe_key = 'eve@x.example'"
            ),
            "count a row otherwise by the way of erasing it": ROW.format(f"{EMPTIED}, formula = true"),
            "put somebody else in the place of who was erased": (
                ROW.format(EMPTIED),
                ROW.format("erased_at = null, address = 'eve@x.example', dedupe_key = 'eve@x.example'"),
            ),
        }.items()
    ),
    *(
        Case(
            guard="trigger approvals_delivery delivery_keeps_its_recipient",
            what=what,
            by="owner",
            attack=attack,
            refusal=ELSEWHERE,
        )
        for what, attack in {
            "send what was approved to somebody else": (
                "update approvals_delivery set address = 'eve@x.example' where id = %(delivery)s"
            ),
            "forget to whom something was sent": FORGET.format("%(delivery_sent)s"),
            "forget whom a message is for that may leave": FORGET.format("%(delivery)s"),
            "forget somebody whose row is still there": (NEVER_TRIED, FORGET.format("%(delivery)s")),
        }.items()
    ),
    Case(
        guard="constraint approvals_suppression suppression_key_is_normal",
        what="hold for nobody",
        attack=insert("suppression", dedupe_key="''"),
    ),
    Case(
        guard="trigger approvals_suppression suppression_only_released",
        what="have released somebody else",
        by="owner",
        attack="update approvals_suppression set dedupe_key = 'eve@x.example' where id = %(released)s",
        refusal="(suppression_only_released)",
    ),
    Case(
        guard="trigger approvals_suppression suppression_only_released",
        what="take somebody off by the way of erasing",
        by="owner",
        attack="update approvals_suppression set dedupe_key = '' where id = %(suppression)s",
        refusal="(suppression_only_released)|(suppression_key_is_normal)",
        behind=("constraint approvals_suppression suppression_key_is_normal",),
    ),
)
