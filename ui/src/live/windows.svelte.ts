/** A list that is followed as several windows, each from where the one before ends. */
import { type Query, query } from './query.svelte.ts';

export interface Windows<Row> extends Query<readonly Row[]> {
  /** Those of all windows. A row may be in two of them for a moment, while others come or go. */
  readonly rows: readonly Row[];
}

/**
 * @param path with the token of the row with which the window begins; `undefined`: the first row
 * @param most the number of windows. `nextToken` tells where the next one would begin
 */
export function windows<Row>(
  path: (nextToken: string | undefined) => string,
  most: number,
): Windows<Row> {
  const asked: Query<readonly Row[]>[] = [query(() => path(undefined))];
  while (asked.length < most) {
    const before = asked.at(-1)!;
    asked.push(query(() => (before.nextToken === undefined ? undefined : path(before.nextToken))));
  }
  const first = asked[0]!;
  const rows = $derived(asked.flatMap(({ value = [] }) => value));
  return Object.create(first, {
    rows: { get: () => rows },
    problem: { get: () => asked.find(({ problem }) => problem !== undefined)?.problem },
    asOfMs: { get: () => Math.min(...followed(asked).map(({ asOfMs }) => asOfMs)) },
    isOld: { get: () => asked.some(({ isOld }) => isOld) },
    isStale: { get: () => asked.some(({ isStale }) => isStale) },
    nextToken: { get: () => asked.at(-1)!.nextToken },
  }) as Windows<Row>;
}

const followed = <T>(asked: readonly Query<T>[]): readonly Query<T>[] =>
  asked.filter(({ value }, at) => at === 0 || value !== undefined);
