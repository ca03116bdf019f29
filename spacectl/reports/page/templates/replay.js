// The 3-D replay: k3d draws; this script moves bodies, deforms flexible ones and rotates arrows.
class Replay {
  constructor(data, target, library) {
    Object.assign(this, {data, target, library, variant: 0, time: 0, showsArrows: true});
    this.t = floatsOf(data.t);
    this.variants = data.variants.map(item => ({
      poses: tracksOf(item.poses), eta: Object.fromEntries(Object.entries(item.eta).map(([name, eta]) => [name, tracksOf(eta)])),
      lines: item.lines.map(line => tracksOf(line.track)), arrows: item.arrows.map(arrow => tracksOf(arrow.track)),
    }));
    this.skins = data.skins.map(skin => ({...skin, X: floatsOf(skin.X), Phi: floatsOf(skin.Phi), Psi: floatsOf(skin.Psi),
      G: floatsOf(skin.G), offset: floatsOf(skin.offset), owner: wholesOf(skin.owner)}));
  }

  async start() {
    const log = console.log;
    console.log = (...texts) => { if (!String(texts[0]).startsWith("K3D")) log(...texts); };
    try {
      this.k3d = await this.library.CreateK3DAndLoadBinarySnapshot(bytesOf(this.data.snapshot), this.target);
    } finally { console.log = log; }
    this.objects = {};
    for (const json of Object.values(this.k3d.getWorld().ObjectsListJson)) {
      const object = this.k3d.getObjectById(json.id);
      object.traverse(item => { item.frustumCulled = false; });
      this.objects[json.name] = object;
    }
    const isWide = this.target.clientWidth >= 2 * this.target.clientHeight; // as WIDE in framing.py
    if (isWide && this.data.camera_wide) this.k3d.setCamera(this.data.camera_wide);
    this.camera = Array.from(this.k3d.getWorld().controls ? this.k3d.getWorld().controls.getCameraArray() : []);
    this.repaint();
    this.seek(this.t[0]);
  }

  repaint() { this.k3d.setClearColor(parseInt(styleOf("--stage").slice(1), 16)); this.k3d.render(); }

  stop() { this.target.replaceChildren(); if (this.k3d) this.k3d.disable(); }

  seek(time) {
    const t = this.t, last = t.length - 1;
    this.time = Math.min(Math.max(time, t[0]), t[last]);
    let a = 0, b = last;
    while (b - a > 1) { const m = (a + b) >> 1; if (t[m] <= this.time) a = m; else b = m; }
    const w = t[b] > t[a] ? (this.time - t[a]) / (t[b] - t[a]) : 0;
    this.at = column => column[a] + w * (column[b] - column[a]);
    this.data.rigid.forEach((item, i) => this.place(this.objects["rigid" + i], item.body));
    this.skins.forEach((skin, i) => { this.bend(this.objects["skin" + i], skin); this.place(this.objects["skin" + i], skin.body); });
    this.variants[this.variant].lines.forEach((columns, i) => this.draw(this.objects["line" + i], columns));
    this.variants[this.variant].arrows.forEach((columns, i) => this.point(this.objects["arrow" + i], columns));
    this.k3d.render();
  }

  place(object, body) {
    const columns = this.variants[this.variant].poses, c = 7 * body, q = [0, 1, 2, 3].map(i => this.at(columns[c + i]));
    const size = Math.hypot(...q), [s, x, y, z] = q.map(value => value / size);
    const [px, py, pz] = [4, 5, 6].map(i => this.at(columns[c + i]));
    this.move(object, [1 - 2 * (y * y + z * z), 2 * (x * y - s * z), 2 * (x * z + s * y), px, 2 * (x * y + s * z), 1 - 2 * (x * x + z * z),
      2 * (y * z - s * x), py, 2 * (x * z - s * y), 2 * (y * z + s * x), 1 - 2 * (x * x + y * y), pz, 0, 0, 0, 1]);
  }

  move(object, rows) {
    object.matrixAutoUpdate = false;
    object.matrix.set(...rows);
    object.matrixWorldNeedsUpdate = true;
    object.updateMatrixWorld(true);
  }

  // r = X + Phi eta - 1/2 eta' G eta + (1 + theta~) offset, with theta = Psi eta.
  bend(object, skin) {
    const m = skin.modes, eta = this.variants[this.variant].eta[skin.name].map(column => this.at(column));
    const position = object.geometry.attributes.position, array = position.array;
    const count = skin.X.length / 3, moved = new Float64Array(3 * count), turn = new Float64Array(3 * count);
    for (let i = 0; i < 3 * count; i++) {
      let value = skin.X[i], angle = 0;
      for (let j = 0; j < m; j++) {
        value += skin.Phi[i * m + j] * eta[j];
        angle += skin.Psi[i * m + j] * eta[j];
        for (let k = 0; k < m; k++) value -= 0.5 * skin.G[(i * m + j) * m + k] * eta[j] * eta[k];
      }
      moved[i] = value; turn[i] = angle;
    }
    for (let i = 0; i < skin.owner.length; i++) {
      const o = 3 * skin.owner[i], [x, y, z] = skin.offset.subarray(3 * i, 3 * i + 3);
      array[3 * i] = moved[o] + x + turn[o + 1] * z - turn[o + 2] * y;
      array[3 * i + 1] = moved[o + 1] + y + turn[o + 2] * x - turn[o] * z;
      array[3 * i + 2] = moved[o + 2] + z + turn[o] * y - turn[o + 1] * x;
    }
    position.needsUpdate = true;
    if (object.geometry.attributes.normal) object.geometry.computeVertexNormals();
  }

  draw(object, columns) {
    const p = columns.map(column => this.at(column)), count = p.length / 3, sides = this.data.line_sides;
    const end = 3 * (count - 1), chord = [p[end] - p[0], p[end + 1] - p[1], p[end + 2] - p[2]];
    const length = Math.hypot(...chord) || 1, e = chord.map(value => value / length), least = e.map(Math.abs);
    const k = least.indexOf(Math.min(...least)), other = [0, 1, 2].map(i => Number(i === k));
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const side = cross(e, other), norm = Math.hypot(...side) || 1, u = side.map(value => value / norm), v = cross(e, u);
    const position = object.geometry.attributes.position, radius = 0.0022 * this.data.size;
    for (let i = 0; i < count; i++) for (let s = 0; s < sides; s++) {
      const c = radius * Math.cos(2 * Math.PI * s / sides), d = radius * Math.sin(2 * Math.PI * s / sides);
      for (let a = 0; a < 3; a++) position.array[3 * (i * sides + s) + a] = p[3 * i + a] + c * u[a] + d * v[a];
    }
    position.needsUpdate = true;
  }

  point(object, columns) {
    const [ox, oy, oz, x, y, z] = columns.map(column => this.at(column)), size = Math.hypot(x, y, z);
    object.visible = this.showsArrows && size > 0.01;
    const full = 0.22 * this.data.size, e = size > 0 ? [x / size, y / size, z / size] : [1, 0, 0];
    const k = Math.abs(e[0]) < 0.8 ? 0 : 1, other = [Number(k === 0), Number(k === 1), 0];
    const side = [e[1] * other[2] - e[2] * other[1], e[2] * other[0] - e[0] * other[2], e[0] * other[1] - e[1] * other[0]];
    const norm = Math.hypot(...side), u = side.map(value => full * value / norm);
    const v = [e[1] * u[2] - e[2] * u[1], e[2] * u[0] - e[0] * u[2], e[0] * u[1] - e[1] * u[0]];
    const l = full * Math.max(size, 0.12);
    this.move(object, [l * e[0], u[0], v[0], ox, l * e[1], u[1], v[1], oy, l * e[2], u[2], v[2], oz, 0, 0, 0, 1]);
  }

  resetView() { if (this.camera.length) this.k3d.setCamera(this.camera); }

  // For tests and inspection: vertices of a flexible part in its own axes, as currently drawn.
  vertices(name) {
    const i = this.skins.findIndex(skin => skin.name === name);
    return i < 0 ? [] : Array.from(this.objects["skin" + i].geometry.attributes.position.array);
  }
}

const player = {current: null, isPlaying: false, speed: 1, before: 0};

function control(id) { return document.getElementById("replay-" + id); }

function showTime() {
  const replay = player.current, first = replay.t[0], last = replay.t[replay.t.length - 1];
  control("scrub").value = String(1000 * (replay.time - first) / Math.max(last - first, 1e-12));
  const text = `t = ${Number(replay.time.toPrecision(4))} s of ${Number(last.toPrecision(4))} s`;
  control("time").textContent = text;
  control("scrub").setAttribute("aria-valuetext", text);
}

function setPlaying(isPlaying) {
  player.isPlaying = isPlaying;
  control("play").textContent = isPlaying ? "Pause" : "Play";
  player.before = performance.now();
  if (isPlaying) requestAnimationFrame(step);
}

// The whole maneuver in 12 seconds at speed 1.
function step(now) {
  const replay = player.current;
  if (!player.isPlaying || !replay) return;
  const first = replay.t[0], span = replay.t[replay.t.length - 1] - first;
  const time = replay.time + player.speed * span / 12000 * Math.min(now - player.before, 100);
  player.before = now;
  replay.seek(time >= first + span ? first : time);
  showTime();
  requestAnimationFrame(step);
}

function fillSelect(select, texts) {
  select.replaceChildren(...texts.map((text, i) => Object.assign(document.createElement("option"), {value: String(i), textContent: text})));
  select.closest("label").hidden = texts.length < 2;
}

function describeScene(data) {
  const list = control("legend"), entry = (text, kind) => {
    const item = document.createElement("li"), mark = document.createElement("span");
    mark.className = "mark " + kind;
    item.append(mark, text);
    return item;
  };
  const items = data.axes.labels.map((label, i) => entry(i ? label : `${data.axes.title}: ${label}`, "axis" + i));
  if (data.skins.length) items.push(entry(`flexible: ${data.skins.map(skin => skin.name).join(", ")}`, "bend"));
  for (const line of data.variants[0].lines) items.push(entry(`${line.kind} ${line.name}`, "line"));
  for (const kind of ["force", "torque"]) {
    const arrows = data.variants[0].arrows.filter(arrow => arrow.kind === kind);
    const peaks = [...new Set(arrows.map(arrow => arrow.peak))];
    const texts = peaks.map(peak => `${arrows.filter(arrow => arrow.peak === peak).map(arrow => arrow.name).join(", ")} ${peak}`);
    if (arrows.length) items.push(entry(`${kind}s (full length: ${texts.join("; ")})`, kind));
  }
  const beyond = data.beyond || [];
  if (beyond.length) items.push(entry(`drawn beyond the range of the theory: ${beyond.join(", ")} bend by more than half their length`, "bad"));
  list.replaceChildren(...items);
}

async function openReplay(data, library) {
  setPlaying(false);
  if (player.current) player.current.stop();
  const replay = new Replay(data, control("stage"), library);
  await replay.start();
  player.current = replay;
  fillSelect(control("variant"), data.variants.map(item => item.stretch === 1 ? "true scale" : `deflections × ${item.stretch}`));
  control("arrows").closest("label").hidden = !data.variants[0].arrows.length;
  replay.showsArrows = control("arrows").checked;
  describeScene(data);
  showTime();
}

async function startReplays(replays, library) {
  fillSelect(control("which"), replays.map(item => item.name));
  const seek = time => { player.current.seek(time); showTime(); };
  const opened = act => event => { if (player.current) act(event); };  // controls may be used while a replay is loading
  control("play").addEventListener("click", () => setPlaying(!player.isPlaying));
  control("scrub").addEventListener("input", opened(event => {
    const t = player.current.t;
    seek(t[0] + Number(event.target.value) / 1000 * (t[t.length - 1] - t[0]));
  }));
  control("speed").addEventListener("change", event => { player.speed = Number(event.target.value); });
  control("which").addEventListener("change", event => openReplay(replays[Number(event.target.value)], library));
  control("variant").addEventListener("change", opened(event => {
    player.current.variant = Number(event.target.value);
    seek(player.current.time);
  }));
  control("arrows").addEventListener("change", opened(event => {
    player.current.showsArrows = event.target.checked;
    seek(player.current.time);
  }));
  control("reset").addEventListener("click", opened(() => player.current.resetView()));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", opened(() => player.current.repaint()));
  await openReplay(replays[0], library);
  window.spacectlReplay = {
    names: replays.map(item => item.name), seek, time: () => player.current.time, times: () => Array.from(player.current.t),
    flexible: () => player.current.skins.map(skin => skin.name), vertices: name => player.current.vertices(name),
  };
}
