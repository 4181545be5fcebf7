// Comfort only: every page works without this file.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);

  // A second click on a button that already sends does nothing. The server would cope; the person need not wonder.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "1";
    const button = event.submitter;
    // After this event, so that the button's own name and value are still sent.
    setTimeout(() => {
      if (button) {
        button.disabled = true;
        button.setAttribute("aria-busy", "true");
      }
    });
  });

  // The back button may bring a page back as it was left: sent forms wake up again.
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      for (const button of form.querySelectorAll("[aria-busy]")) {
        button.disabled = false;
        button.removeAttribute("aria-busy");
      }
    }
  });

  // An open menu closes on Escape and on a click elsewhere.
  const shut = (except) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== except) menu.open = false;
  };
  document.addEventListener("click", (event) => shut(event.target.closest("details.menu")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = event.target.closest("details.menu[open]");
    shut(null);
    if (menu) menu.querySelector("summary").focus();
  });

  // A fragment that could not be refreshed, or that was answered by another page (signed out), is said, not shown.
  const trouble = (on) => {
    byId("trouble").hidden = !on;
  };
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, requestConfig } = event.detail;
    const answered = new URL(xhr.responseURL || location.href).pathname;
    const asked = new URL(requestConfig.path, location.href).pathname;
    const elsewhere = answered !== asked;
    if (elsewhere) event.detail.shouldSwap = false;
    trouble(elsewhere || xhr.status >= 400);
  });
  document.addEventListener("htmx:sendError", () => trouble(true));
  document.addEventListener("htmx:timeout", () => trouble(true));

  // What is asked for by support is copied with one click, where the browser lets us.
  if (navigator.clipboard) {
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
    document.addEventListener("click", async (event) => {
      const button = event.target.closest("[data-copy]");
      if (!button) return;
      await navigator.clipboard.writeText(button.dataset.copy);
      byId("said").textContent = "Copied.";
      button.dataset.done = "1";
      setTimeout(() => delete button.dataset.done, 2000);
    });
  }

  // A time zone that nobody chose yet is the one of this browser, where the list has it.
  for (const field of document.querySelectorAll("[data-guess=zone]")) {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if ([...field.list.options].some((option) => option.value === own)) field.value = own;
  }

  // What a fragment says is read out once, when it changes. An answer that a form asked for comes into sight.
  document.addEventListener("htmx:afterSettle", (event) => {
    const source = event.target.closest("[data-say]") || event.target.querySelector("[data-say]");
    const said = byId("said");
    if (source && source.matches(".meant")) source.scrollIntoView({ block: "nearest" });
    if (source && said.textContent !== source.dataset.say) said.textContent = source.dataset.say;
  });
})();
