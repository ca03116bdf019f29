"use strict";
// Unpacks the data of reports/arrays.py and reports/page/document.py.
function bytesOf(text) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function unzipped(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new TextDecoder().decode(await new Response(stream).arrayBuffer());
}

async function block(id) {
  const element = document.getElementById(id);
  return element ? unzipped(element.textContent.trim()) : null;
}

function floatsOf(packed) { return new Float32Array(bytesOf(packed.f32).buffer); }

function wholesOf(packed) { return new Uint32Array(bytesOf(packed.u32).buffer); }

// Columns of a history, each a Float64Array over time.
function tracksOf(packed) {
  const [n, k] = packed.shape, levels = new Uint16Array(bytesOf(packed.u16).buffer), columns = [];
  for (let j = 0; j < k; j++) {
    const column = new Float64Array(n);
    for (let i = 0; i < n; i++) column[i] = packed.low[j] + packed.step[j] * levels[j * n + i];
    columns.push(column);
  }
  return columns;
}

// Run a library's text as an inline script with the page's own nonce, as its policy requires.
function runScript(text) {
  const script = document.createElement("script");
  script.nonce = document.querySelector("script[nonce]").nonce;
  script.textContent = text;
  document.head.appendChild(script);
  script.remove();
}
