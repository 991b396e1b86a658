"""A stand-in for a receipt printer at the till's USB port: what a page sends to it comes to the test as bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import Page

from testing.escpos import Printout, decode

# The part of WebUSB that a page calls. `usbPermission`: whether the person gave this browser the printer, before.
_FAKE = """
(() => {
  const out = { endpointNumber: 1, direction: "out", type: "bulk" };
  const alternate = { alternateSetting: 0, interfaceClass: 7, endpoints: [out] };
  let isOpen = false;
  const printer = {
    productName: "POS-58", configuration: null,
    async open() { if (isOpen) throw new DOMException("open", "InvalidStateError"); isOpen = true; },
    async close() { isOpen = false; },
    async selectConfiguration() {
      this.configuration = { interfaces: [{ interfaceNumber: 0, alternates: [alternate] }] };
    },
    async claimInterface() { if (await usbState() === "busy") throw new DOMException("claimed", "NetworkError"); },
    async transferOut(_endpoint, bytes) {
      if (await usbState() === "gone") throw new DOMException("disconnected", "NotFoundError");
      await usbTakes([...bytes]);
      return { status: "ok", bytesWritten: bytes.length };
    },
  };
  const usb = {
    async getDevices() { return await usbState() === "unchosen" ? [] : [printer]; },
    async requestDevice() {
      if (await usbState() === "refused") throw new DOMException("No device selected.", "NotFoundError");
      await usbChosen();
      return printer;
    },
  };
  Object.defineProperty(navigator, "usb", { value: usb });
})();
"""


@dataclass
class UsbPrinter:
    """The printer. `state`: "unchosen", "refused", "busy", "gone", or "" when it works."""

    state: str = "unchosen"
    jobs: list[list[int]] = field(default_factory=list)

    def connect(self, page: Page) -> None:
        """Plug it into every window of this page's browser."""
        context = page.context
        context.expose_function("usbState", lambda: self.state)
        context.expose_function("usbTakes", self._take)
        context.expose_function("usbChosen", self._choose)
        context.add_init_script(_FAKE)

    def _take(self, sent: list[int]) -> None:
        self.jobs.append(sent)

    def _choose(self) -> None:
        self.state = ""

    def printed(self) -> list[Printout]:
        """What came out, job by job."""
        return [decode(job) for job in self.jobs]
