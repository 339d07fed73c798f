"""Every way to a gateway: what works over all of them, gateways that die under load, clients that speak something else."""

from __future__ import annotations

import links
from case import long
from link_case import LinkCase
from links import Link
from sasl_gateway import SERVICE


# Over these, tests of ./check write more than a few readings.
MAIN_JOBS = ("plain", "mutual-tls", "sasl-auth-conf", "https-spnego-doas")

# What clients hear of a port that speaks something else, by the family of its link.
HEARD = {
    "plain client": {"TLS": "speaks TLS", "SASL": "requires Kerberos (SASL)", "SASL in TLS": "speaks TLS", "HTTP": "speaks HTTP",
                     "HTTPS": "speaks TLS"},
    "TLS client": {"plain": "it may be a plain port", "SASL": "it may be a plain port", "SASL in TLS": "requires Kerberos (SASL)",
                   "HTTP": "it is a plain port"},
    "SASL client": {"plain": "did not answer the SASL negotiation", "TLS": "it expects TLS",
                    "SASL in TLS": "it expects TLS", "HTTP": "in HTTP", "HTTPS": "in TLS"},
    "HTTP client": {"plain": "it closes HTTP connections", "TLS": "it closes HTTP connections", "SASL": "it does not answer HTTP",
                    "SASL in TLS": "it closes HTTP connections"},
    "HTTPS client": {"plain": "it may be a plain port", "SASL": "it may be a plain port", "HTTP": "it is a plain port"},
}


class EachLink(LinkCase):

    def test_links_without_a_main_job(self) -> None:
        """The rest does ./check know from the tests of TLS, Kerberos and HTTP."""
        self.check_each(*(name for name in links.ALL if name not in MAIN_JOBS))

    @long
    def test_each_link(self) -> None:
        self.check_each(*links.ALL)

    def check_each(self, *names: str) -> None:
        """Tables are created, written and read back; by Kerberos from a keytab, without kinit."""
        self.create_topic(2)
        n_messages = self.simulate("--readings", "500", "--devices", "20", "--metrics", "3", "--late", "2%")
        for alone in [self.begin_to_write(link) for link in self.links.get_all(*names)]:
            self.check_written(alone, n_messages, 500)

    @long
    def test_clients_that_speak_something_else(self) -> None:
        """A client that speaks something else is told what the gateway speaks."""
        self.create_topic(1)
        for link in self.links.get_all(*links.ALL):
            self.check_other_clients(link)

    def check_other_clients(self, link: Link) -> None:
        tls = {"tls": self.links.tls()}
        ways = {"plain client": ("", {}), "TLS client": ("thrift+tls://", tls), "HTTP client": ("http://", {}),
                "HTTPS client": ("https://", tls),
                "SASL client": ("", {"sasl": {"service": SERVICE}, "kerberos": self.links.kerberos()})}
        for client, (scheme, security) in ways.items():
            if link.family in HEARD[client]:
                self.check_refused(link, client, HEARD[client][link.family], address=f"{scheme}{link.plain_address}",
                                   security=security)
