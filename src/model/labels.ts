import type { Fault } from './errors.ts';
import { limits } from './limits.ts';
import { below, faultAt, type Path } from './path.ts';

export interface LabelBounds {
  readonly entriesMax: number;
  /** Characters of a name, and of a value. */
  readonly textLengthMax: number;
}

/** Faults of the number and lengths of names and values that a caller gives. */
export function labelFaults(
  labels: Readonly<Record<string, string>>,
  path: Path,
  { entriesMax, textLengthMax }: LabelBounds,
): Fault[] {
  const entries = Object.entries(labels);
  const faults: Fault[] = [];
  if (entries.length > entriesMax) {
    faults.push(faultAt(path, `has ${entries.length} entries; at most ${entriesMax} are kept`));
  }
  for (const [name, value] of entries) {
    if (faults.length >= limits.fault.listedMax) break;
    if (name.length <= textLengthMax && value.length <= textLengthMax) continue;
    const shown = name.slice(0, limits.fault.quotedLengthMax);
    const rule = `must be a name and a value of at most ${textLengthMax} characters`;
    faults.push(faultAt(below(path, shown), rule));
  }
  return faults;
}
