"""What the first request to a model costs."""

import json

from tests.journeys.world import World


async def test_first_request_of_a_new_home_is_small(world: World) -> None:
    async with world.serve() as daemon:
        await daemon.post("hi")
    (request,) = [each for each in world.model.requests if each.path.endswith("/chat/completions")]
    assert len(request.body) <= 6_500
    assert len(json.loads(request.body)["tools"]) <= 12
