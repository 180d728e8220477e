// The pages work without this script. It adds keys, copies commands, and lets you drop a file anywhere on its form.
"use strict";
document.documentElement.classList.add("live");

// Duplicates: a key chooses the action for a document and selects the next document.
const keys = { k: "keep", r: "drop", u: "decide" };
const members = [...document.querySelectorAll(".decide .member:has(input)")];
const chosen = (member) => member.querySelector("input:checked") ?? member.querySelector("input");

document.addEventListener("keydown", (event) => {
  if (!members.length || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("textarea, select, input:not([type=radio])")) return;
  const current = members.indexOf(event.target.closest(".member"));
  const value = keys[event.key];
  if (value && current >= 0) {
    members[current].querySelector(`input[value=${value}]`).checked = true;
    chosen(members[Math.min(current + 1, members.length - 1)]).focus();
    event.preventDefault();
  } else if (value) {
    chosen(members[0]).focus();
    event.preventDefault();
  }
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
