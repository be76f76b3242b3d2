/** A chart of how figures grow with a size, as SVG. Both axes are logarithmic: a straight line is a power of the size. */

export interface Line {
  readonly name: string;
  /** Sizes and values, both above 0, by growing size. */
  readonly points: readonly (readonly [number, number])[];
}

export interface Panel {
  /** With the unit. */
  readonly title: string;
  readonly lines: readonly Line[];
}

const colours = ['#0b5f66', '#b5541c', '#5b3a8e', '#3f6b1d'];
const width = 300;
const height = 220;
const left = 52;
const right = 12;
const top = 34;
const legend = 18;
const gap = 10;
const bottom = 30;

/** @param size what the sizes count, such as "jobs" */
export function chart(size: string, panels: readonly Panel[]): string {
  const most = Math.max(...panels.map(({ lines }) => lines.length));
  const tall = height + gap + most * legend;
  const drawn = panels.map((panel, at) => {
    return `<g transform="translate(${at * width} 0)">${drawPanel(size, panel)}</g>`;
  });
  const wide = panels.length * width;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${tall}" width="${wide}" height="${tall}" role="img" font-family="sans-serif" font-size="11">`,
    `<title>How it grows with ${size}</title>`,
    `<rect width="${wide}" height="${tall}" fill="#ffffff"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function drawPanel(size: string, { title, lines }: Panel): string {
  const all = lines.flatMap(({ points }) => points);
  const across = scale(
    all.map(([one]) => one),
    left,
    width - right,
  );
  const up = scale(
    all.map(([, value]) => value),
    height - bottom,
    top,
  );
  const grid = [
    ...across.decades.map((one) => {
      const x = across.at(one);
      return `<path d="M${x} ${top}V${height - bottom}" stroke="#e3e6e8"/><text x="${x}" y="${height - 16}" text-anchor="middle" fill="#4a5359">${short(one)}</text>`;
    }),
    ...up.decades.map((one) => {
      const y = up.at(one);
      return `<path d="M${left} ${y}H${width - right}" stroke="#e3e6e8"/><text x="${left - 6}" y="${y + 4}" text-anchor="end" fill="#4a5359">${short(one)}</text>`;
    }),
  ];
  const drawn = lines.map(({ name, points }, at) => {
    const colour = colours[at % colours.length]!;
    const path = points.map(([one, value]) => `${across.at(one)} ${up.at(value)}`).join('L');
    const dots = points
      .map(([one, value]) => `<circle cx="${across.at(one)}" cy="${up.at(value)}" r="3"/>`)
      .join('');
    const y = height + gap + at * legend;
    return `<g fill="${colour}"><path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}<rect x="${left}" y="${y - 9}" width="10" height="10"/></g><text x="${left + 16}" y="${y}" fill="#1d2326">${name}</text>`;
  });
  return [
    `<text x="${left}" y="18" font-weight="bold" fill="#1d2326">${title}</text>`,
    ...grid,
    ...drawn,
    `<text x="${(left + width - right) / 2}" y="${height - 3}" text-anchor="middle" fill="#4a5359">${size}</text>`,
  ].join('');
}

/** A logarithmic scale over whole decades. */
function scale(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const decades = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
  const at = (value: number): string => {
    const share = (Math.log10(value) - low) / (high - low);
    return (from + share * (to - from)).toFixed(1);
  };
  return { decades, at: (value: number) => Number(at(value)) };
}

const short = (value: number): string =>
  value >= 1000 ? `${value / 1000}k` : value >= 1 ? String(value) : value.toPrecision(1);
