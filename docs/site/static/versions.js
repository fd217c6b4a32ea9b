// The list of versions is written beside the folders of all versions; a single build has none.
const box = document.querySelector(".versions");
const known = window.stratagemVersions || [];
if (box && known.length > 1) {
  const choice = box.querySelector("select");
  for (const name of known) choice.add(new Option(name, name, false, name === box.dataset.version));
  choice.addEventListener("change", () => {
    location.href = `${box.dataset.root}../${choice.value}/index.html`;
  });
  box.hidden = false;
}
