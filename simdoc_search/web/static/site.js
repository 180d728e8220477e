// The pages work without this script. It adds keys, saves decisions at once, copies commands, and lets you drop a file
// anywhere on its form.
"use strict";
document.documentElement.classList.add("live");

// Duplicates: a key chooses the action for a document and selects the next document.
const keys = { k: "keep", r: "drop", u: "decide" };
const members = [...document.querySelectorAll(".decide .member:has(input)")];
const decisions = document.querySelector("form.decide");
const chosen = (member) => member.querySelector("input:checked") ?? member.querySelector("input");

document.addEventListener("keydown", (event) => {
  if (!members.length || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("textarea, select, input:not([type=radio])")) return;
  const current = members.indexOf(event.target.closest(".member"));
  const value = keys[event.key];
  if (value && current >= 0) {
    const choice = members[current].querySelector(`input[value=${value}]`);
    choice.checked = true;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    chosen(members[Math.min(current + 1, members.length - 1)]).focus();
    event.preventDefault();
  } else if (value) {
    chosen(members[0]).focus();
    event.preventDefault();
  }
});

// Duplicates: each decision is saved at once. One request at a time keeps the order of decisions about a document.
const unsaved = new Map();
let isSaving = false;
const send = (rows) =>
  fetch(decisions.action, {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams([...rows]),
    keepalive: true,
  }).catch(() => {
    throw new Error("the server does not answer. To try again, click Save");
  });

async function saveDecisions() {
  if (isSaving) return;
  isSaving = true;
  const status = decisions.querySelector(".save-status");
  try {
    while (unsaved.size) {
      const rows = new Map(unsaved);
      const response = await send(rows);
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.error);
      document.querySelector(".plan-counts").textContent = answer.plan;
      decisions.querySelector("button[value=reset]").hidden = false;
      for (const [row, value] of rows) if (unsaved.get(row) === value) unsaved.delete(row);
    }
    status.textContent = "Saved.";
  } catch (error) {
    status.textContent = `Not saved: ${error.message}.`;
  }
  status.classList.toggle("soft", !unsaved.size);
  isSaving = false;
}

decisions?.addEventListener("change", ({ target }) => {
  if (target.type !== "radio") return;
  unsaved.set(target.name, target.value);
  saveDecisions();
});
decisions?.addEventListener("submit", () => unsaved.clear()); // the form has all decisions of the page
addEventListener("pagehide", () => {
  if (unsaved.size) send(unsaved).catch(() => {}); // nobody can read a message any more
});

const selectAll = document.querySelector(".bulk .all");
selectAll?.addEventListener("change", () => {
  for (const box of document.querySelectorAll("input[name=pick]")) box.checked = selectAll.checked;
});

// A button copies a command. Without access to the clipboard, it selects the command.
for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copies);
    getSelection().selectAllChildren(source);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected; press Ctrl C";
    }
  });
}

// A file can be dropped anywhere on its form.
const fileInput = document.querySelector("input.drop");
if (fileInput) {
  const form = fileInput.form;
  const highlight = (event, isOver) => {
    event.preventDefault();
    fileInput.classList.toggle("over", isOver);
  };
  form.addEventListener("dragover", (event) => highlight(event, true));
  form.addEventListener("dragleave", (event) => highlight(event, false));
  form.addEventListener("drop", (event) => {
    highlight(event, false);
    if (event.dataTransfer.files.length) fileInput.files = event.dataTransfer.files;
  });
}
