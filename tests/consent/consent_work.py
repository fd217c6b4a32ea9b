"""Work of worker processes that asks for consent."""

from stratagem.base.consent.table import check_command, check_host


def ask_server(url):
    """Ask whether a server may be asked."""
    check_host(url)


def start_command(command):
    """Ask whether a command may be started."""
    check_command(command)
