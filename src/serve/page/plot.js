// Draws small plots of lines over time.

import { h, svg } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 130;
const LEFT = 40;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;
const DASHES = ["none", "6 3", "2 3", "8 3 2 3", "1 5", "12 4"];

const short = (n) => n.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });
const clock = (time) => new Date(time).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

// Returns the least of 1, 2, 5, 10, 20 … that is not below `most`.
function above(most) {
  const unit = 10 ** Math.floor(Math.log10(most || 1));
  return [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= most) ?? 1;
}

// Returns a plot. `lines` are `{ name, points: [[milliseconds since 1970, value], …] }`, the points in
// order. It has the same size without points, so that nothing moves when the first one comes.
export function plot(caption, unit, lines) {
  const all = lines.flatMap((line) => line.points);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "plot" });
  const times = all.map(([time]) => time);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const most = above(Math.max(...all.map(([, value]) => value), 0));
  const x = (time) => LEFT + ((WIDTH - LEFT - RIGHT) * (time - first)) / (last - first || 1);
  const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / most;
  picture.append(svg("title", {}, summary(caption, unit, lines)));
  if (!all.length) {
    picture.append(svg("text", { x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "nothing yet"));
  } else {
    for (const value of [0, most / 2, most]) {
      picture.append(svg("path", { d: `M${LEFT} ${y(value)}H${WIDTH - RIGHT}`, class: "grid" }),
        svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)));
    }
    picture.append(svg("text", { x: LEFT, y: HEIGHT - 4 }, clock(first)));
    if (last > first) picture.append(svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, clock(last)));
    lines.forEach(({ points }, i) => {
      const style = { class: `line${i % 6}`, "stroke-dasharray": DASHES[i % 6] };
      const path = points.map(([time, value], n) => `${n ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`);
      picture.append(svg("path", { d: path.join(""), ...style }));
      // A line of few points is seen by its points.
      if (points.length < 30) for (const [time, value] of points) picture.append(svg("circle", { cx: x(time), cy: y(value), r: 2.5, class: style.class }));
    });
  }
  const key = lines.length < 2 ? null : h("ul", { class: "key" }, lines.map(({ name }, i) => {
    const sample = svg("svg", { viewBox: "0 0 24 8", class: "plot", "aria-hidden": "true" });
    sample.append(svg("path", { d: "M0 4H24", class: `line${i % 6}`, "stroke-dasharray": DASHES[i % 6] }));
    return h("li", {}, sample, name);
  }));
  return h("figure", {}, h("figcaption", {}, `${caption}, ${unit}`), picture, key);
}

// Says in words what a plot shows.
function summary(caption, unit, lines) {
  const said = lines.filter(({ points }) => points.length).map(({ name, points }) => {
    const values = points.map(([, value]) => value);
    return `${name}: last ${short(values.at(-1))}, least ${short(Math.min(...values))}, most ${short(Math.max(...values))}`;
  });
  return `${caption}, ${unit}. ${said.join("; ") || "Nothing yet"}.`;
}
