import { Head } from './head.ts';
import { toldChanges } from './listeners.ts';
import type { StoreOptions } from './store-options.ts';
import type { Rehearsal, Snapshot } from './types.ts';
import type { View } from './view.ts';

/**
 * A copy of a view on which transactions run that nobody else sees. The copy shares all tables with the view until
 * a transaction changes one (`tree.ts`), so a rehearsal costs as much as its changes.
 */
export function rehearsalOn(
  before: Snapshot,
  options: Pick<StoreOptions, 'limits' | 'freeze' | 'source'>,
): Rehearsal {
  const head = new Head(before as View, options);
  return {
    before,
    now: () => head.view(),
    run(transaction) {
      const { value, ran } = head.run(transaction);
      return { index: head.index, value, changes: toldChanges(ran?.changes ?? []) };
    },
  };
}
