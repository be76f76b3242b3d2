/** The verdicts of the scheduler on nodes: their counts, and their reasons in words. */
import { constraintInWords } from '../../../src/model/allocation/placement-words.ts';
import type { NodeVerdict, VerdictCounts } from '../../../src/model/explanation/explanation.ts';
import { lackInWords } from '../../../src/model/explanation/lack-words.ts';
import type { BarPart } from './Bar.svelte';
import { lookOf } from './status.ts';

const verdicts = ['open', 'exhausted', 'filtered', 'unasked', 'excluded'] as const;

export const verdictParts = (counts: VerdictCounts): readonly BarPart[] =>
  verdicts.map((verdict) => {
    const { word, tone } = lookOf('verdict', verdict);
    return { word, tone, count: counts[verdict] };
  });

export function reasonOf({ Verdict, Reason, Lacks, Preemption }: NodeVerdict): string {
  if (Lacks.length > 0) {
    const lacks = Lacks.map(lackInWords).join('; ');
    return Preemption === null
      ? lacks
      : `${lacks}; ${Preemption.Evicts} of lower priority could make way`;
  }
  return Verdict === 'filtered' ? constraintInWords(Reason) : Reason;
}
