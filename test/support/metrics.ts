/** Metrics as an asking program sees them. */

interface Metric {
  readonly name: string;
  readonly values: readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The values of a metric of `GET /v1/metrics` as JSON, by the values of its labels, with spaces between them. `without`: the
 * result where there is no such metric.
 */
export function valuesOf(
  metrics: unknown,
  name: string,
  without?: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const found = (metrics as readonly Metric[]).find((one) => one.name === name);
  if (found === undefined && without !== undefined) return without;
  if (found === undefined) throw new Error(`there is no metric ${name}`);
  return Object.fromEntries(
    found.values.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
  );
}

/** Without the values that are 0. */
export const countsOf = (metrics: unknown, name: string): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(valuesOf(metrics, name)).filter(([, value]) => value !== 0));

/** The names and types in a text of metrics, with the names of the labels of all samples. */
export function shapesIn(text: string): ReadonlyMap<string, { type: string; labels: Set<string> }> {
  const shapes = new Map<string, { type: string; labels: Set<string> }>();
  let last = '';
  for (const line of text.split('\n')) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) {
      last = name;
      shapes.set(name, { type: type!, labels: new Set() });
    }
    const [, labels] = /^\w+\{(.*)\} /.exec(line) ?? [];
    for (const [, label] of (labels ?? '').matchAll(/(\w+)="/g)) {
      if (label !== 'le') shapes.get(last)!.labels.add(label!);
    }
  }
  return shapes;
}
