// A till's receipt printer, by USB, a serial port or Bluetooth: the printer that the person gave the browser, and its bytes.
// Each trouble is an Error with the name of a sentence of templates/tills/direct.html. Each job opens and closes the printer,
// so that another window of the till can print, too.
"use strict";
const receiptPrinter = (() => {
  const PATIENCE = 30000; // milliseconds: a logo takes half of it on a slow port; without paper a printer takes nothing
  const PRINTERS = 7; // the class of USB printers
  const PIECE = 100; // bytes of one write by Bluetooth: the smallest that printers with it take
  // The services under which Bluetooth printers take bytes
  const SERVICES = [
    "000018f0-0000-1000-8000-00805f9b34fb",
    "49535343-fe7d-4ae5-8fa9-9fafd205e455",
    "0000ff00-0000-1000-8000-00805f9b34fb",
    "e7810a71-73ae-499d-8c15-faa9aef0c3f2",
  ];

  const trouble = (name, cause) => Object.assign(new Error(name, { cause }), { trouble: name });

  // A failure in this step is this trouble, except that a missing printer is always "gone".
  async function step(name, work) {
    try {
      return await work();
    } catch (error) {
      throw error.trouble ? error : trouble(error.name === "NotFoundError" ? "gone" : name, error);
    }
  }

  const usb = {
    api: () => navigator.usb,
    given: () => navigator.usb.getDevices(),
    choose: () => navigator.usb.requestDevice({ filters: [{ classCode: PRINTERS }] }),
    name: (device) => device.productName,
    async open(device) {
      await device.open();
      if (!device.configuration) await device.selectConfiguration(1);
      for (const { interfaceNumber, alternates } of device.configuration.interfaces) {
        for (const { alternateSetting, interfaceClass, endpoints } of alternates) {
          const out = endpoints.find((endpoint) => endpoint.direction === "out" && endpoint.type === "bulk");
          if (interfaceClass !== PRINTERS || !out) continue;
          await device.claimInterface(interfaceNumber);
          if (alternateSetting) await device.selectAlternateInterface(interfaceNumber, alternateSetting);
          return async (bytes) => {
            const { status } = await device.transferOut(out.endpointNumber, bytes);
            if (status !== "ok") throw trouble("failed");
          };
        }
      }
      throw trouble("failed");
    },
    close: (device) => device.close(),
  };

  const writers = new WeakMap(); // of serial ports
  const serial = {
    api: () => navigator.serial,
    given: () => navigator.serial.getPorts(),
    choose: () => navigator.serial.requestPort(),
    name: () => "",
    async open(port, { speed }) {
      await port.open({ baudRate: speed });
      const writer = port.writable.getWriter();
      writers.set(port, writer);
      return async (bytes) => {
        await writer.write(bytes);
        await writer.close(); // waits until all bytes are sent: a port that closes drops the rest
      };
    },
    async close(port) {
      await writers.get(port)?.abort(); // gives up the bytes that the printer did not take
      writers.get(port)?.releaseLock();
      await port.close();
    },
  };

  const bluetooth = {
    api: () => navigator.bluetooth,
    given() {
      if (!navigator.bluetooth.getDevices) throw trouble("ask");
      return navigator.bluetooth.getDevices();
    },
    choose: () =>
      navigator.bluetooth.requestDevice({ filters: SERVICES.map((service) => ({ services: [service] })), optionalServices: SERVICES }),
    name: (device) => device.name,
    async open(device) {
      const server = await device.gatt.connect();
      for (const service of await server.getPrimaryServices()) {
        const found = await service.getCharacteristics();
        const takes = found.find(({ properties }) => properties.write || properties.writeWithoutResponse);
        if (!takes) continue;
        const write = takes.properties.write ? "writeValueWithResponse" : "writeValueWithoutResponse";
        return async (bytes) => {
          for (let at = 0; at < bytes.length; at += PIECE) await takes[write](bytes.slice(at, at + PIECE));
        };
      }
      throw trouble("failed");
    },
    close: (device) => device.gatt.disconnect(),
  };

  const ways = { usb, serial, bluetooth };
  let picked; // on this page

  function wayOf(printer) {
    const way = ways[printer.way];
    if (!way.api()) throw trouble("unsupported");
    return way;
  }

  // The printer that this browser was given.
  async function given(printer) {
    const way = wayOf(printer);
    const [device] = picked ? [picked] : await step("failed", () => way.given());
    if (!device) throw trouble("unchosen");
    return device;
  }

  // Ask the person for the printer, in the browser's own list; an earlier printer is given back.
  async function choose(printer) {
    const way = wayOf(printer);
    try {
      picked = await way.choose();
    } catch (error) {
      throw trouble("refused", error);
    }
    const before = way === bluetooth ? [] : await way.given();
    for (const device of before) if (device !== picked) await device.forget?.();
    return picked;
  }

  const nameOf = (printer, device) => ways[printer.way].name(device) ?? "";

  // Send bytes to the printer; of several windows one at a time.
  async function send(printer, bytes) {
    const way = wayOf(printer);
    const device = await given(printer);
    await navigator.locks.request("receipt-printer", async () => {
      let late;
      const patience = new Promise((_, refuse) => (late = setTimeout(() => refuse(trouble("silent")), PATIENCE)));
      try {
        const write = await Promise.race([step("busy", () => way.open(device, printer)), patience]);
        await Promise.race([step("gone", () => write(bytes)), patience]);
      } finally {
        clearTimeout(late);
        // A printer that cannot be closed was never opened, or is away: an earlier error says so.
        await Promise.resolve(way.close(device)).catch(() => {});
      }
    });
  }

  /* --- the bytes ------------------------------------------------------------------------------------------------- */

  const COLUMNS = { 58: 32, 80: 48 }; // letters of a line; DOTS: points of a line
  const DOTS = { 58: 384, 80: 576 };
  const LABEL_PART = 0.55; // of a line, at most
  const LOGO_PART = 0.75;
  const MOST_LOGO_DOTS = 160; // its height

  function encoderFor(printer) {
    const encoder = new ReceiptPrinterEncoder({
      columns: COLUMNS[printer.roll],
      language: printer.language,
      imageMode: "raster",
      feedBeforeCut: 4,
    });
    return encoder.initialize().codepage(printer.codepage);
  }

  function look(encoder, how) {
    encoder.bold(how !== "").size(how === "big" ? 2 : 1, how === "big" || how === "tall" ? 2 : 1);
  }

  async function addPicture(encoder, printer, address) {
    const image = new Image();
    image.src = address;
    try {
      await image.decode();
    } catch {
      return; // without its logo a receipt is a receipt still
    }
    const size = Math.min((DOTS[printer.roll] * LOGO_PART) / image.naturalWidth, MOST_LOGO_DOTS / image.naturalHeight, 1);
    const [width, height] = [image.naturalWidth, image.naturalHeight].map((dots) => Math.max(8, Math.round((dots * size) / 8) * 8));
    encoder.align("center").image(image, width, height, "atkinson").align("left");
  }

  // The bytes of a job's lines (tills/printing.py), and the cut behind them.
  async function encode({ printer, lines }) {
    const encoder = encoderFor(printer);
    const columns = COLUMNS[printer.roll];
    for (const line of lines) {
      if (line.kind === "rule") encoder.rule();
      else if (line.kind === "cut") encoder.cut();
      else if (line.kind === "picture") await addPicture(encoder, printer, line.address);
      else if (line.kind === "text") {
        encoder.align(line.centred ? "center" : "left");
        look(encoder, line.look);
        encoder.line(line.text);
        look(encoder, "");
        encoder.align("left");
      } else {
        const label = Math.min(line.label.length, Math.floor(columns * LABEL_PART));
        const cell = (words) => (inner) => {
          look(inner, line.look);
          inner.text(words);
        };
        const widths = [{ width: label, marginRight: 1 }, { width: columns - label - 1, align: "right" }];
        encoder.table(widths, [[cell(line.label), cell(line.value)]]);
      }
    }
    return encoder.cut().encode();
  }

  // The bytes that open the cash drawer at the printer.
  const pulse = ({ language }) => new ReceiptPrinterEncoder({ language }).pulse().encode();

  return { given, choose, nameOf, send, encode, pulse };
})();
