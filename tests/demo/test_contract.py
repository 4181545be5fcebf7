"""Everything that the demo says is something that the machine API takes."""

import json

from pydantic import BaseModel

from approvals.api.schemas.campaigns import CampaignIn
from approvals.api.schemas.events import EventsIn
from approvals.api.schemas.runs import RunIn
from tests.demo.conftest import Start
from tests.demo.recorder import RecordedApi, until


def schema_of(target: str) -> type[BaseModel]:
    if target.endswith("/events"):
        return EventsIn
    return {"/api/v1/runs": RunIn, "/api/v1/campaigns": CampaignIn}[target]


def test_every_body_fits_the_schema_of_its_route(api: RecordedApi, start: Start) -> None:
    start()
    until(lambda: len(api.told("newsletter-autumn")) == 4 and len(api.told("refund-4711")) == 6)
    posted = [request for request in list(api.requests) if request.method == "POST"]
    for request in posted:
        schema_of(request.target).model_validate(json.loads(request.body))
    assert {schema_of(request.target) for request in posted} == {RunIn, EventsIn, CampaignIn}
