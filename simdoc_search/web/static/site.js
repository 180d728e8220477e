// The pages work without this script, which adds keys and drag and drop.
"use strict";
document.documentElement.classList.add("live");

// Duplicates: a key chooses the action for a document and selects the next document.
const keys = { k: "keep", r: "drop", u: "decide" };
const members = [...document.querySelectorAll(".decide .member")];
const chosen = (member) => member.querySelector("input:checked") ?? member.querySelector("input");

document.addEventListener("keydown", (event) => {
  if (!members.length || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("textarea, select, input:not([type=radio])")) return;
  const now = members.indexOf(event.target.closest(".member"));
  const value = keys[event.key];
  if (value && now >= 0) {
    members[now].querySelector(`input[value=${value}]`).checked = true;
    chosen(members[Math.min(now + 1, members.length - 1)]).focus();
    event.preventDefault();
  } else if (value) {
    chosen(members[0]).focus();
    event.preventDefault();
  }
});

// A file can be dropped anywhere on its form.
const drop = document.querySelector("input.drop");
if (drop) {
  const form = drop.form;
  const over = (event, is) => {
    event.preventDefault();
    drop.classList.toggle("over", is);
  };
  form.addEventListener("dragover", (event) => over(event, true));
  form.addEventListener("dragleave", (event) => over(event, false));
  form.addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer.files.length) drop.files = event.dataTransfer.files;
  });
}
