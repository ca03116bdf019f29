// Starts the parts of the page: plots, replay, downloads, the switch of units.
function mark(name, value) { document.documentElement.dataset[name] = value; }

function wireDownloads() {
  for (const button of document.querySelectorAll("button[data-download]")) button.addEventListener("click", async () => {
    const blob = new Blob([await block(button.dataset.block)], {type: button.dataset.type});
    const link = Object.assign(document.createElement("a"), {href: URL.createObjectURL(blob), download: button.dataset.download});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

function wireUnits() {
  for (const choice of document.querySelectorAll("input[name=units]")) choice.addEventListener("change", () => {
    plots.isSI = choice.value === "si";
    mark("units", choice.value);
    redrawPlots();
  });
  const link = document.getElementById("link-zoom");
  if (link) link.addEventListener("change", () => { plots.isLinked = link.checked; });
}

async function startPlots() {
  const text = await block("figures-data");
  if (!text) return mark("plots", "none");
  runScript(await block("plotly-source"));
  await drawPlots(JSON.parse(text));
  watchWidth();
  mark("plots", "ready");
}

async function startScene() {
  const text = await block("replays-data");
  if (!text) return mark("replay", "none");
  let library = null;
  window.define = (name, needs, make) => { library = make(); };
  runScript(await block("k3d-source"));
  delete window.define;
  try {
    await startReplays(JSON.parse(text), library);
    mark("replay", "ready");
  } catch (error) {
    const reason = document.createElement("p");
    reason.textContent = `The replay needs WebGL, which this browser does not offer here (${error.message || error}).`;
    control("stage").replaceChildren(reason);
    mark("replay", "failed");
  }
}

(async () => {
  if (typeof DecompressionStream === "undefined") return mark("plots", "old");  // the drawings stay
  mark("units", "deg");
  wireDownloads();
  wireUnits();
  await startPlots();
  await startScene();
})();
