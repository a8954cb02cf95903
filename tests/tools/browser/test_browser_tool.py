"""The browser tool: reading, acting, uploads and downloads."""

import asyncio

import pytest

from hob.core.trust.labels import Trust
from tests.tools.web.server import reply

from .browsing import ONE_BROWSER, Desk

pytestmark = [ONE_BROWSER, pytest.mark.slow]

FORM = """<title>A form</title><h1>Hello</h1>
<form action=/done><input aria-label=Name name=name><input aria-label=Town name=town>
<input type=password aria-label=Secret value=hunter2>
<select aria-label=Size name=size><option>small<option>large</select><button>Send</button></form>"""


async def test_snapshot_shows_visible_content_with_references(desk: Desk) -> None:
    shown = await desk.show(f"{FORM}<img alt='A cat' src=x><p style='display:none'>unseen</p>")
    assert "'A form'" in shown
    assert 'heading "Hello"' in shown
    assert 'img "A cat"' in shown
    assert "unseen" not in shown


async def test_snapshot_hides_password_values(desk: Desk) -> None:
    assert "hunter2" not in await desk.show(FORM)
    assert "hunter2" not in await desk.say(action="snapshot")


async def test_form_is_filled_and_sent(desk: Desk) -> None:
    shown = await desk.show(FORM)
    desk.web.pages["*"] = reply(b"<h1>Thanks</h1>")
    name, town = desk.ref(shown, '"Name"'), desk.ref(shown, '"Town"')
    await desk.act("fill", fields=[f"{name}=Jane = Doe", f"{town}=Bonn"])
    await desk.act("select", ref=desk.ref(shown, '"Size"'), text="large")
    assert "Thanks" in await desk.act("click", ref=desk.ref(shown, '"Send"'))
    assert "name=Jane+%3D+Doe&town=Bonn&size=large" in desk.web.heads[-1]


async def test_keys_and_texts_reach_the_element(desk: Desk) -> None:
    shown = await desk.show(FORM)
    name = desk.ref(shown, '"Name"')
    assert "Jan\n" in await desk.act("type", ref=name, text="Jan") + "\n"
    assert ": JanE" in await desk.act("press", ref=name, text="E")
    assert ": Jan\n" in await desk.act("press", text="Backspace") + "\n"


async def test_element_is_dragged_and_hovered(desk: Desk) -> None:
    shown = await desk.show(
        "<div role=button draggable=true style='height:50px'>thing</div>"
        "<div role=region aria-label=box style='height:99px' ondragover='event.preventDefault()' "
        "ondrop='this.textContent=\"dropped\"' onmouseover='document.title=\"over\"'>here</div>"
    )
    thing, box = desk.ref(shown, "thing"), desk.ref(shown, '"box"')
    assert "'over'" in await desk.act("hover", ref=box)
    assert "dropped" in await desk.act("drag", ref=thing, to=box)


async def test_acting_requires_the_address_of_the_page(desk: Desk) -> None:
    """So the owner approves, or has named, the place of the action."""
    shown = await desk.show(FORM)
    for page in ("", "http://bank.example/", desk.page.replace("http:", "https:")):
        told = await desk.say(action="act", kind="click", ref=desk.ref(shown, '"Send"'), page=page)
        assert f"page must be the address where this is: {desk.page}" in told
    assert len(desk.web.heads) == len([head for head in desk.web.heads if "/done" not in head])


async def test_frame_of_another_site_is_judged_as_its_own_site(desk: Desk) -> None:
    desk.web.pages["/inner"] = reply(b"<button>Pay</button>")
    inner = desk.web.url("/inner", "pay.site.example")
    await desk.show(f"<iframe src='{inner}'></iframe>")
    shown = await desk.act("wait", seconds=0.5)
    told = await desk.act("click", ref=desk.ref(shown, '"Pay"'))
    assert f"page must be the address where this is: {inner}" in told


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "chrome://settings",
        "view-source:http://site.example/",
        "data:text/html,hi",
        "javascript:1",
        "x",
    ],
)
async def test_only_web_pages_are_opened(desk: Desk, url: str) -> None:
    for action in ("open", "navigate"):
        assert "is no address of a web page" in await desk.say(action=action, url=url)


async def test_links_to_files_and_data_urls_lead_nowhere(desk: Desk) -> None:
    shown = await desk.show("<a href='file:///etc/passwd'>file</a> <a href='data:text/html,hi'>data</a>")
    for name in ("file", "data"):
        assert desk.page in await desk.act("click", ref=desk.ref(shown, f'"{name}"'))
    assert "root:" not in await desk.say(action="snapshot")


async def test_results_are_untrusted_and_include_screenshots(desk: Desk) -> None:
    await desk.show(FORM)
    for full in (False, True):
        result = await desk.call(action="screenshot", full=full)
        assert result.label.trust is Trust.UNTRUSTED
        assert [each.media_type for each in result.images] == ["image/jpeg"]


async def test_script_returns_its_value_and_console_its_messages(desk: Desk) -> None:
    await desk.show("<script>console.log('first words')</script>")
    assert await desk.act("evaluate", script="() => ({a: [1, null]})") > '{"a": [1, null]}'
    assert "log: first words" in await desk.say(action="console")
    assert "SyntaxError" in await desk.act("evaluate", script="((")


async def test_dialog_is_dismissed_and_reported_unless_an_answer_is_prepared(desk: Desk) -> None:
    shown = await desk.show("<button onclick='document.title=prompt(\"How many?\")'>Ask</button>")
    ask = desk.ref(shown, '"Ask"')
    assert "a dialog (prompt) was dismissed: 'How many?'" in await desk.act("click", ref=ask)
    await desk.say(action="dialog", page=desk.page, accept=True, text="seven")
    told = await desk.act("click", ref=ask)
    assert "was accepted" in told
    assert "'seven'" in told


async def test_download_is_accepted_only_when_awaited(desk: Desk) -> None:
    desk.web.pages["/get"] = reply(
        b"some bytes", "application/octet-stream", Content_Disposition='attachment; filename="../.bashrc"'
    )
    shown = await desk.show("<a href=/get>Get</a><button onclick='location=\"/get\"'>Other</button>")
    assert "was not taken" in await desk.act("click", ref=desk.ref(shown, '"Other"'))
    assert [*desk.work.iterdir()] == []
    for name in ("_.bashrc", "_-2.bashrc"):
        told = await desk.say(action="download", page=desk.page, ref=desk.ref(shown, '"Get"'))
        assert told.startswith(f"{name}: 10 bytes")
        assert (desk.work / name).read_bytes() == b"some bytes"
    for outside in ("../x", "/etc/x"):
        told = await desk.say(action="download", page=desk.page, ref=desk.ref(shown, '"Get"'), path=outside)
        assert "outside of what tools may see" in told


async def test_file_is_uploaded_only_from_permitted_folders(desk: Desk) -> None:
    (desk.work / "photo.txt").write_text("my photo")
    form = "<form action=/up method=post enctype=multipart/form-data>"
    shown = await desk.show(f"{form}<input type=file name=f aria-label=File><button>Go</button></form>")
    field = desk.ref(shown, '"File"')
    assert "outside of what tools may see" in await desk.say(
        action="upload", page=desk.page, ref=field, path="/etc/passwd"
    )
    await desk.say(action="upload", page=desk.page, ref=field, path="photo.txt")
    await desk.act("click", ref=desk.ref(shown, '"Go"'))
    assert b"my photo" in desk.web.bodies[-1]


async def test_page_is_saved_as_pdf(desk: Desk) -> None:
    await desk.show(FORM)
    told = await desk.say(action="pdf")
    assert told.endswith("application/pdf")
    assert (desk.work / told.partition(":")[0]).read_bytes().startswith(b"%PDF")


async def test_tabs_are_opened_focused_and_closed(desk: Desk) -> None:
    await desk.show("<h1>one</h1>")
    desk.web.pages["/two"] = reply(b"<h1>two</h1>")
    assert 'heading "two"' in await desk.say(action="open", url=desk.web.url("/two"))
    listed = (await desk.say(action="tabs")).splitlines()
    first = int(listed[0].split()[1].rstrip(":"))
    assert 'heading "one"' in await desk.say(action="focus", tab=first)
    assert "there is no tab 99" in await desk.say(action="focus", tab=99)
    assert "two" not in await desk.say(action="snapshot")
    await desk.say(action="close")
    assert 'heading "two"' in await desk.say(action="snapshot")


async def test_act_close_closes_the_tab_and_the_last_one_leaves_no_page(desk: Desk) -> None:
    await desk.show("<h1>one</h1>")
    desk.web.pages["/two"] = reply(b"<h1>two</h1>")
    await desk.say(action="open", url=desk.web.url("/two"))
    assert "'two'" not in await desk.act("close")
    assert 'heading "one"' in await desk.say(action="snapshot")
    assert await desk.act("close") == "no page is open"


async def test_page_is_resized_within_bounds(desk: Desk) -> None:
    await desk.show(FORM)
    for asked, made in (((800, 600), "[800, 600]"), ((10**9, 1), "[4000, 200]"), ((1280, 800), "[1280, 800]")):
        await desk.act("resize", width=asked[0], height=asked[1])
        assert (await desk.act("evaluate", script="[innerWidth, innerHeight]")).splitlines()[0] == made


async def test_profiles_are_the_conversations_own_and_the_owners(desk: Desk) -> None:
    listed = (await desk.say(action="profiles")).splitlines()
    assert [line.partition(":")[0] for line in listed] == ["(empty)", "owner"]
    assert "a profile is chosen with action start" in await desk.say(action="snapshot", profile="owner")


async def test_popup_flood_is_stopped(desk: Desk) -> None:
    shown = await desk.show("<button onclick='for (let n = 0; n < 15; n++) open(\"/?\" + n)'>Flood</button>")
    await desk.act("click", ref=desk.ref(shown, '"Flood"'))
    await asyncio.sleep(0.5)
    listed = [line for line in (await desk.say(action="tabs")).splitlines() if line.startswith("tab")]
    assert len(listed) <= 8


async def test_stale_or_invented_reference_is_reported(desk: Desk) -> None:
    await desk.show(FORM)
    assert "take a snapshot" in await desk.act("click", ref="e999")
    assert "is no reference" in await desk.act("click", ref="text=Send")


async def test_wait_ends_when_the_text_appears_or_at_the_timeout(desk: Desk) -> None:
    await desk.show("<script>setTimeout(() => document.body.append('ready now'), 300)</script>")
    assert "ready now" in await desk.act("wait", text="ready now", seconds=5)
    assert "in time" in await desk.act("wait", text="never", seconds=0.2)
