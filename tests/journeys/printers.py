"""A stand-in for a till's receipt printer: the test gets the bytes that a page sends to it."""

import time
from dataclasses import dataclass, field

from playwright.sync_api import Page

from testing.escpos import Printout, decode

# The parts of WebUSB, Web Serial and Web Bluetooth that a page calls.
_FAKES = """
(() => {
  const fail = (name) => { throw new DOMException("of the test", name); };
  const take = async (bytes) => {
    if (await printerState() === "gone") fail("NotFoundError");
    await printerTakes([...bytes]);
  };
  const open = async (of) => {
    if (of.isOpen) fail("InvalidStateError");
    if (await printerState() === "busy") fail("NetworkError");
    of.isOpen = true;
  };
  const given = async (printer) => await printerState() === "unchosen" ? [] : [printer];
  const choose = async (printer) => {
    if (await printerState() === "refused") fail("NotFoundError");
    await printerChosen();
    return printer;
  };
  const put = (name, value) => Object.defineProperty(navigator, name, { value });

  const out = { endpointNumber: 1, direction: "out", type: "bulk" };
  const alternates = [{ alternateSetting: 0, interfaceClass: 7, endpoints: [out] }];
  const usb = {
    productName: "POS-58",
    configuration: null,
    open: () => open(usb),
    close: async () => { usb.isOpen = false; },
    selectConfiguration: async () => { usb.configuration = { interfaces: [{ interfaceNumber: 0, alternates }] }; },
    claimInterface: async () => {},
    transferOut: async (_endpoint, bytes) => { await take(bytes); return { status: "ok" }; },
  };
  put("usb", { getDevices: () => given(usb), requestDevice: () => choose(usb) });

  // A port keeps what it is given until its writer is closed, and drops it when the port closes first.
  let waiting = [];
  const writer = {
    write: async (bytes) => { waiting.push(...bytes); },
    close: async () => { await take(waiting); waiting = []; },
    abort: async () => { waiting = []; },
    releaseLock() {},
  };
  const port = {
    open: ({ baudRate }) => baudRate === 19200 ? open(port) : fail("NetworkError"),
    close: async () => { port.isOpen = false; },
    writable: { getWriter: () => writer },
  };
  put("serial", { getPorts: () => given(port), requestPort: () => choose(port) });

  // As most browsers: without `getDevices`, so that a page asks again.
  const characteristic = { properties: { write: true }, writeValueWithResponse: take };
  const service = { getCharacteristics: async () => [characteristic] };
  const gatt = { connect: async () => ({ getPrimaryServices: async () => [service] }), disconnect() {} };
  put("bluetooth", { requestDevice: () => choose({ name: "BT-58", gatt }) });
})();
"""


@dataclass
class FakePrinter:
    """The printer. `state`: "unchosen", "refused", "busy", "gone", or "" when it works. `jobs`: each job's bytes."""

    state: str = "unchosen"
    jobs: list[list[int]] = field(default_factory=list)

    def connect(self, page: Page) -> None:
        """Plug it into every window of this page's browser, in each way; serially at 19200 bits per second."""
        context = page.context
        context.expose_function("printerState", lambda: self.state)
        context.expose_function("printerTakes", self._take)
        context.expose_function("printerChosen", self._choose)
        context.add_init_script(_FAKES)

    def _take(self, sent: list[int]) -> None:
        self.jobs.append(sent)

    def _choose(self) -> None:
        self.state = ""

    def await_job(self, page: Page) -> None:
        """Wait until a job has come: the page sends it while it shows other things."""
        deadline = time.monotonic() + 10
        while not self.jobs and time.monotonic() < deadline:
            page.wait_for_timeout(20)
        assert self.jobs

    def printed(self) -> list[Printout]:
        """The printouts, job by job."""
        return [decode(job) for job in self.jobs]
