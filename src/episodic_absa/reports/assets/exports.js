// Saves figures and tables. Their files are packed in the page, so that a button and `report --export` give equal bytes.

const FILE_TYPES = {
  csv: "text/csv;charset=utf-8", svg: "image/svg+xml;charset=utf-8", tex: "application/x-tex;charset=utf-8",
};

function startExports() {
  // A browser without streams cannot unpack them; it gets no buttons.
  if (!("DecompressionStream" in window)) return;
  let files = null;
  for (const row of document.querySelectorAll(".save")) row.hidden = false;
  for (const button of document.querySelectorAll("button[data-save]")) {
    button.addEventListener("click", async () => {
      files ||= unpack(byId("files"));
      const { save: name, kind } = button.dataset;
      const inKorean = document.documentElement.dataset.words === "ko" && kind !== "csv";
      const file = `${name}${inKorean ? ".ko" : ""}.${kind}`;
      save(file, FILE_TYPES[kind], (await files)[file]);
    });
  }
}
