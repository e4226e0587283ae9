async function unpacked(element) {
  const binary = atob(element.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function startLabels(data) {
  const pane = byId("labels-chart");
  if (!data.analysed) return;
  byId("labels").hidden = false;
  const draw = (width) => labelsChart(width, data.labels);
  const show = () => pane.replaceChildren(draw(Math.max(280, pane.clientWidth)));
  byId("labels-svg").addEventListener("click", () => saveSvg(fileName("labels"), say("labels_title"), draw(860)));
  speech.views.push(show);
  onResize(pane, show);
}

async function start() {
  if (typeof DecompressionStream === "undefined") {
    byId("old-browser").hidden = false;
    return;
  }
  const data = await unpacked(byId("summary-data"));
  Object.assign(speech, { words: data.words, language: data.language, source: data.source });
  let reviews = null;
  startTheme();
  startLanguage();
  startLabels(data);
  new Aspects(data, (place) => reviews?.showAspect(place)).start();
  new OverTime(data).start();
  new Columns(data).start();
  sayPage();
  reviews = new Reviews(data, await unpacked(byId("review-data")));
  reviews.start();
  document.documentElement.dataset.ready = "";
}

start();
