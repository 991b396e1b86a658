// Passkeys: gets the challenge from the server, lets the browser's key sign it, and puts the answer into the form.

const find = (selector, root) => root.querySelector(selector);
const bytesOf = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const withBytes = (keys) => (keys ?? []).map((key) => ({ ...key, id: bytesOf(key.id) }));

class NoAnswer extends Error {}

async function optionsFrom(form, address, facts = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries(facts)) body.append(name, value);
  body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
  const lost = () => {
    throw new NoAnswer(address);
  };
  const signal = AbortSignal.timeout(htmx.config.timeout);
  const answer = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" }, signal }).catch(lost);
  if (answer.redirected) location.reload(); // the session has ended: the page leads to the sign-in
  if (!answer.ok || answer.redirected) throw new Error(`${address}: ${answer.status}`);
  return (await answer.json().catch(lost)).publicKey;
}

async function sign(options, extra = {}) {
  const publicKey = {
    ...options, challenge: bytesOf(options.challenge), allowCredentials: withBytes(options.allowCredentials),
  };
  const key = await navigator.credentials.get({ publicKey, ...extra });
  return JSON.stringify({
    id: key.id, rawId: textOf(key.rawId), type: key.type, clientExtensionResults: {},
    response: {
      clientDataJSON: textOf(key.response.clientDataJSON),
      authenticatorData: textOf(key.response.authenticatorData),
      signature: textOf(key.response.signature),
      userHandle: key.response.userHandle ? textOf(key.response.userHandle) : null,
    },
  });
}

async function make(options) {
  const publicKey = {
    ...options, challenge: bytesOf(options.challenge), excludeCredentials: withBytes(options.excludeCredentials),
    user: { ...options.user, id: bytesOf(options.user.id) },
  };
  const key = await navigator.credentials.create({ publicKey });
  return JSON.stringify({
    id: key.id, rawId: textOf(key.rawId), type: key.type, clientExtensionResults: {},
    response: {
      clientDataJSON: textOf(key.response.clientDataJSON),
      attestationObject: textOf(key.response.attestationObject),
    },
  });
}

async function digestOf(file) {
  if (!file.size) return "";
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The content that the server will see: the facts of the page and the values of the named fields; for a file its SHA-256.
async function contentOf(part, form) {
  const content = JSON.parse(part.dataset.content);
  const typed = new FormData(form);
  for (const name of part.dataset.fields.split(" ").filter(Boolean)) {
    const values = typed.getAll(name).map((value) => (value instanceof File ? digestOf(value) : value));
    content[name] = (await Promise.all(values)).join(" ").replaceAll("\r\n", "\n");
  }
  return JSON.stringify(content);
}

async function putAssertion(form, part) {
  const facts = { act: part.dataset.factor, content: await contentOf(part, form) };
  form.elements.factor_assertion.value = await sign(await optionsFrom(form, part.dataset.options, facts));
}

async function putCredential(form) {
  const address = find("[data-passkey-new]", form).dataset.passkeyNew;
  form.elements.credential.value = await make(await optionsFrom(form, address));
}

async function confirmWithKey(button) {
  const form = button.closest("form");
  await putAssertion(form, button.closest("[data-factor]"));
  if (form.elements.credential) await putCredential(form);
  form.requestSubmit();
}

// A new passkey: an older passkey confirms it, unless a code or the password was typed.
async function addKey(button) {
  const form = button.closest("form");
  if (!form.reportValidity()) return;
  const older = find("[data-passkey]", form);
  if (older && !form.elements.factor_code.value) await putAssertion(form, older.closest("[data-factor]"));
  await putCredential(form);
  form.requestSubmit();
}

async function signIn(button) {
  const form = button.closest("form");
  form.elements.factor_assertion.value = await sign(await optionsFrom(form, button.dataset.passkeySignIn));
  form.submit();
}

const steps = { "[data-passkey]": confirmWithKey, "[data-passkey-new]": addKey, "[data-passkey-sign-in]": signIn };

document.addEventListener("click", async (event) => {
  const found = Object.keys(steps).find((selector) => event.target.closest(selector));
  if (!found) return;
  const button = event.target.closest(found);
  const [error, silence] = ["error", "silence"].map((name) => find(`[data-passkey-${name}]`, button.parentElement));
  error.hidden = silence.hidden = true;
  button.setAttribute("aria-busy", "true");
  try {
    await steps[found](button);
  } catch (fault) {
    (fault instanceof NoAnswer ? silence : error).hidden = false;
  } finally {
    button.removeAttribute("aria-busy");
  }
});
