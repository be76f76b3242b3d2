import { quote } from '../path.ts';
import { type Outline, outlineDifferences } from '../plan/outline.ts';
import { isSame } from '../same.ts';
import type { Effects, PlanRead } from './shown-plan.ts';

/** Sentences about what has moved since the plan was made; empty if the act would do now what was shown. */
export function effectDifferences(planned: Effects, now: Effects): string[] {
  return [
    ...readDifferences(planned.Reads, now.Reads),
    ...valueSentences(planned, now),
    ...outlineDifferences(outlineIn(planned), outlineIn(now)),
    ...orderSentence(planned, now),
    ...chainSentences(planned, now),
    ...intentionSentences(planned, now),
  ];
}

const outlineIn = ({ Changes, Queued, Deployments }: Effects): Outline => ({
  changes: Changes,
  queued: Queued,
  deployments: Deployments,
});

function readDifferences(planned: readonly PlanRead[], now: readonly PlanRead[]): string[] {
  const indexNow = new Map(now.map((read) => [nameOf(read), read.Index]));
  return planned.flatMap((read) => {
    const index = indexNow.get(nameOf(read)) ?? 0;
    if (index === read.Index) return [];
    const was = read.Index === 0 ? 'was not there' : `had the index ${read.Index}`;
    const is = index === 0 ? 'is gone' : `has the index ${index} now`;
    return [`${nameOf(read)} ${was} when the plan was made, and ${is}`];
  });
}

const nameOf = ({ Noun, Name, Namespace }: PlanRead): string => {
  const place =
    Namespace === '' || Namespace === 'default' ? '' : ` in the namespace "${Namespace}"`;
  return `the ${Noun} ${quote(Name)}${place}`;
};

function valueSentences(planned: Effects, now: Effects): string[] {
  const textOf = ({ Of, Path, Old, New }: Effects['Differences'][number]) =>
    [Of, Path, Old, New].join('\0');
  const known = new Set(planned.Differences.map(textOf));
  const found = new Set(now.Differences.map(textOf));
  return [
    ...planned.Differences.filter((one) => !found.has(textOf(one))).map(
      ({ Of, Path, Old, New }) =>
        `${Path} of ${Of} was to change from ${quote(Old)} to ${quote(New)}, and would not do so now`,
    ),
    ...now.Differences.filter((one) => !known.has(textOf(one))).map(
      ({ Of, Path, Old, New }) =>
        `${Path} of ${Of} would change from ${quote(Old)} to ${quote(New)} now, which was not planned`,
    ),
  ];
}

/** Moves that are the same, in other rounds. */
function orderSentence(planned: Effects, now: Effects): string[] {
  const wavesOf = ({ Changes }: Effects) =>
    Changes.map(({ Wave, Action, Namespace, Name }) =>
      [Wave, Action, Namespace, Name].join('\0'),
    ).sort();
  if (planned.Changes.length !== now.Changes.length) return [];
  return isSame(wavesOf(planned), wavesOf(now))
    ? []
    : ['the allocations would move in another order now'];
}

function chainSentences(planned: Effects, now: Effects): string[] {
  const key = ({ Service, Namespace, Partition }: Effects['Chains'][number]) =>
    [Partition, Namespace, Service].join('\0');
  const [before, after] = [planned, now].map(
    ({ Chains }) => new Map(Chains.map((chain) => [key(chain), chain])),
  );
  const all = new Map([...before!, ...after!]);
  return [...all.values()]
    .filter((chain) => !isSame(before!.get(key(chain)), after!.get(key(chain))))
    .map(
      ({ Service }) => `the discovery chain of ${quote(Service)} would change in another way now`,
    );
}

function intentionSentences(planned: Effects, now: Effects): string[] {
  return isSame(planned.Intentions, now.Intentions)
    ? []
    : ['other intentions would change now, or in another way'];
}
