"""Settings of the API that would let in everybody."""

import pytest

from hob.gateway.settings import GatewaySettings


@pytest.mark.parametrize("network", ["0.0.0.0/0", "::/0", "0.0.0.0/1", "128.0.0.0/7", "2000::/3"])
def test_proxy_that_is_everybody_is_not_trusted(network: str) -> None:
    with pytest.raises(ValueError, match="nearly every address"):
        GatewaySettings(trusted_proxies=[network])


@pytest.mark.parametrize("network", ["10.0.0.0/8", "127.0.0.1", "::1", "fd00::/16", "203.0.113.7"])
def test_proxy_of_ones_own_is_trusted(network: str) -> None:
    assert GatewaySettings(trusted_proxies=[network]).trusted_proxies == [network]


@pytest.mark.parametrize(
    ("proxies", "elsewhere"),
    [([], False), (["127.0.0.1"], False), (["::1", "10.0.0.2"], False), (["10.0.0.2", "fd00::/64"], True)],
)
def test_proxy_on_this_machine_is_no_reason_to_listen_to_others(proxies: list[str], elsewhere: bool) -> None:
    assert GatewaySettings(trusted_proxies=proxies).proxied_from_elsewhere is elsewhere
