import type { Family, Sample } from './family.ts';

/** The metrics of several threads as one: the sum of each series. */
export function summed(threads: readonly (readonly Family[])[]): readonly Family[] {
  const [first = [], ...others] = threads;
  if (others.length === 0) return first;
  return first.map((one) => {
    const same = others.flatMap((families) => families.find(({ name }) => name === one.name) ?? []);
    return { ...one, values: sumOfSeries([one, ...same]) };
  });
}

function sumOfSeries(families: readonly Family[]): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const { values } of families) {
    for (const sample of values) {
      const key = `${sample.metricName} ${JSON.stringify(sample.labels)}`;
      const other = sums.get(key);
      const exemplar = other?.exemplar ?? sample.exemplar;
      const value = (other?.value ?? 0) + sample.value;
      sums.set(key, { ...sample, value, ...(exemplar && { exemplar }) });
    }
  }
  return [...sums.values()];
}
