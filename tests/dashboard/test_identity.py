"""Changed identity files in the browser."""

from playwright.async_api import Browser, expect

from tests.dashboard.conftest import open_tab
from tests.journeys.world import World


async def test_changed_identity_file_is_reviewed_restored_and_accepted(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        assert (await daemon.ask("/status"))["unaccepted"] == []
        soul = world.root / "hob" / "SOUL.md"
        before = soul.read_text()
        for word, left in (("Restore the accepted version", before), ("Accept", before + "Rude.\n")):
            soul.write_text(before + "Rude.\n")
            tab = await open_tab(world, browser)
            page = tab.page
            await expect(page.get_by_role("banner")).to_contain_text("1 needs you")
            card = page.get_by_role("article", name="SOUL.md was changed")
            await expect(card.get_by_role("region", name="Changes")).to_contain_text("Rude.")
            await card.get_by_role("button", name=word, exact=True).click()
            await expect(card).to_have_count(0)
            await expect(page.get_by_role("banner")).not_to_contain_text("needs you")
            assert soul.read_text() == left
            assert (await daemon.ask("/status"))["unaccepted"] == []
            assert tab.errors == []
        told = (await world.hob("audit", "show", "--kind", "action", "--json")).out
        assert told.index('"put_back"') < told.index('"accept"')
