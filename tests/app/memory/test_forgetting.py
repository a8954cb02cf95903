"""What is forgotten is nowhere in the home any more: not what was made of it, not its index, not its vectors."""

import json
import re
from pathlib import Path

from hob.core.ids import CallId
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.models import ModelReply, Usage
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL
from hob.gateway.memory import ForgetRequest, MemoryQuery, SetGoalRequest
from hob.store.backup.backup import restore
from tests.app.memory.test_control import last, memory
from tests.app.memory.test_facts import found, says, until
from tests.app.memory.test_memory import eventually
from tests.app.visiting import ME, Visited, visited

WORD = "zanzibarquux"
"""One word, so that its stem in an index would be found too."""
SAID = f"I keep my boat in {WORD}, close to the river."
OWNER = Scope("owner")


def holds(home: Path) -> list[str]:
    """The files of the home in which anything of the word is left."""
    stem = WORD[:9].encode()
    files = (path for path in home.rglob("*") if path.is_file())
    return [path.name for path in files if stem in path.read_bytes().lower()]


def derived(of: MemoryItem, kind: str, text: str) -> MemoryItem:
    return MemoryItem(
        scope=OWNER, layer=Layer.OBSERVATION, source=f"observation:{kind}", text=text, label=HOB_LABEL, at=of.at,
        kind=kind, evidence=(of.id,),
    )  # fmt: skip


async def fill(hob: Visited) -> str:
    """Say it, and have everything made of it that memory makes; the id of the message."""
    hob.model.background = [found({"predicate": "keeps_boat_in", "object": WORD}, usage=Usage(50, 5))]
    note = {"content": f"The boat is in {WORD}."}
    hob.model.script = [
        ModelReply("", calls=(ToolCall(CallId("c_1"), "load_tools", json.dumps({"names": ["notes"]})),)),
        ModelReply("", calls=(ToolCall(CallId("c_2"), "update_working_memory", json.dumps(note)),)),
        f"I noted that your boat lies in {WORD}, as you have told me now; it will be there when you ask for it again.",
    ]
    await says(hob, SAID)
    await until(hob, bool)
    (said,) = [item for item in await hob.app.store.items.of(OWNER).select("i.role = 'user'") if WORD in item.text]
    observed = derived(said, "high", f"Keeps a boat in {WORD}")
    await hob.app.store.items.add([observed])
    await hob.app.store.items.add([derived(observed, "summary", f"They talked of the boat in {WORD}.")])
    goal = await memory(hob).facts.set_goal(SetGoalRequest(text=f"Sail from {WORD}"))
    await memory(hob).facts.set_goal(SetGoalRequest(id=goal["id"], note=f"Left {WORD} once"))
    embedder = await hob.app.store.memory_vectors.begin("fake|embed|8|1")
    rows = await hob.app.store.memory_vectors.pending(embedder, 100)
    await hob.app.store.memory_vectors.keep(embedder, (0, rows[-1][0]), [(seq, [0.5] * 8) for seq, *_ in rows])
    await says(hob, "Where is my boat, what do you know of it?")  # the profile and the memories stand in this request
    assert WORD in hob.seen
    return said.id


async def forget_all(hob: Visited, id: str) -> None:
    (goal,) = (await memory(hob).facts.goals(closed=True))["goals"]
    for one in (id, goal["id"]):
        await memory(hob).upkeep.forget(ForgetRequest(id=one, preview=False, said=True))
    rest = (await memory(hob).items.items(MemoryQuery(query=WORD)))["items"]
    for each in rest:  # what Hob answered of it, in another turn
        await memory(hob).upkeep.forget(ForgetRequest(id=each["id"], preview=False, said=True))


async def test_forgotten_word_is_in_no_byte_of_the_home_and_does_not_come_back(tmp_path: Path) -> None:
    copy, home = tmp_path / "copy.db", tmp_path / "state"
    async with visited(tmp_path) as hob:
        await hob.knows()
        id = await fill(hob)
        exported = [line async for line in memory(hob).upkeep.export()]
        assert sum(WORD in line for line in exported) >= 5
        await hob.app.operations.backup(copy)
        preview = await memory(hob).upkeep.forget(ForgetRequest(id=id, preview=True, said=True))
        assert len(preview["items"]) == 1
        assert holds(home)
        await forget_all(hob, id)
        assert holds(home) == []
        counts = await hob.app.store.memory_vectors.counts(await hob.app.store.memory_vectors.find("fake|embed"))
        left = {item.seq for item in await hob.app.store.items.of(OWNER).select()}
        assert counts[0] <= len(left)
        assert await hob.app.store.facts.known(OWNER) == []
        assert (await last(memory(hob).upkeep.import_items([line for line in exported if WORD in line])))["new"] == 0
        await hob.app.store.followers.forget("memory")  # it is taken up from the beginning
        assert WORD not in "".join([line async for line in memory(hob).upkeep.export()])
    async with visited(tmp_path) as hob:
        await eventually(hob, [item.text for item in await hob.app.store.items.of(OWNER).select("i.role = 'user'")])
        assert holds(home) == []
    restore(home, copy)
    async with visited(tmp_path) as hob:
        assert await hob.app.store.facts.known(OWNER) == []
        assert WORD not in "".join([line async for line in memory(hob).upkeep.export()])
        assert (await memory(hob).facts.goals(closed=True))["goals"] == []
        assert holds(home) == []


async def test_preview_names_the_backups_that_still_hold_it(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        backups = tmp_path / "state" / "backups"
        backups.mkdir(exist_ok=True)
        await hob.app.operations.backup(backups / "before.db")
        item = await memory(hob).items.add(SAID)
        await hob.app.operations.backup(backups / "after.db")
        seen = await memory(hob).upkeep.forget(ForgetRequest(id=item["id"], preview=True))
        assert seen["backups"] == [str(backups / "after.db")]


async def test_command_replies_that_repeat_it_are_counted_and_forgotten(tmp_path: Path) -> None:
    home = tmp_path / "state"

    async def remembered(hob: Visited) -> str:
        await hob.clock.advance(1)
        return (await hob.answer(f"/remember My cellar code is {WORD}", ME)).rpartition(" ")[2]

    async with visited(tmp_path, "Hm.") as hob:
        await hob.knows()
        id = await remembered(hob)
        assert WORD in await hob.answer("/memory", ME)
        for said in (False, True):
            assert (await memory(hob).upkeep.forget(ForgetRequest(id=id, preview=True, said=said)))["quoted"] == 2
        assert holds(home)
        done = await memory(hob).upkeep.forget(ForgetRequest(id=id, preview=False, said=True))
        assert done["quoted"] == 0
        assert holds(home) == []
        id = await remembered(hob)
        told = await hob.answer(f"/forget {id} said", ME)
        assert re.fullmatch(rf"Forgotten: {id}\nErased, messages included: [1-9]\d*\.", told)
        assert holds(home) == []


async def test_messages_that_still_say_it_can_be_erased_later(tmp_path: Path) -> None:
    home = tmp_path / "state"
    async with visited(tmp_path, "Hm.") as hob:
        await hob.knows()
        id = (await hob.answer(f"/remember My cellar code is {WORD}", ME)).rpartition(" ")[2]
        told = await hob.answer(f"/forget {id}", ME)
        assert told.splitlines()[1] == f"Messages that still say it: 1. `/forget {id} said` erases those too."
        assert holds(home)
    async with visited(tmp_path, "Hm.") as hob:
        await hob.knows()
        preview = await memory(hob).upkeep.forget(ForgetRequest(id=id, preview=True, said=True))
        assert (preview["items"], preview["quoted"]) == ([], 1)
        told = await hob.answer(f"/forget {id} said", ME)
        assert re.fullmatch(rf"Forgotten: {id}\nErased, messages included: [1-9]\d*\.", told)
        assert holds(home) == []
        assert await hob.answer(f"/forget {id} said", ME) == f"nothing in memory has the id {id}"


async def test_terminal_input_history_is_forgotten_with_it(tmp_path: Path) -> None:
    home = tmp_path / "state"
    async with visited(tmp_path, "Hm.") as hob:
        await hob.knows()
        typed = [f"/remember My cellar code is {WORD}", "What is my cellar code?", f"My cellar code is {WORD}, or not?"]
        (home / "chat_history").write_text("".join(json.dumps(line) + "\n" for line in typed))
        id = (await hob.answer(typed[0], ME)).rpartition(" ")[2]
        await memory(hob).upkeep.forget(ForgetRequest(id=id, preview=False, said=True))
        assert (home / "chat_history").read_text() == json.dumps(typed[1]) + "\n"
        assert (home / "chat_history").stat().st_mode & 0o777 == 0o600


async def test_later_answers_that_repeat_it_are_forgotten_with_it(tmp_path: Path) -> None:
    home, asked = tmp_path / "state", {"query": "boat", "limit": 5}
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.script = ["I see."]
        await says(hob, SAID)
        await eventually(hob, [SAID])
        (item,) = (await memory(hob).items.items(MemoryQuery(query=WORD)))["items"]
        hob.model.script = [ModelReply("", calls=(ToolCall(CallId("c_1"), "recall", json.dumps(asked)),)), "As told."]
        await says(hob, "Where is my boat?")
        preview = await memory(hob).upkeep.forget(ForgetRequest(id=item["id"], preview=True, said=True))
        assert (len(preview["turns"]), preview["quoted"]) == (1, 1)
        done = await memory(hob).upkeep.forget(ForgetRequest(id=item["id"], preview=False, said=True))
        assert done["quoted"] == 0
        assert holds(home) == []
