import type { Evaluation } from '../../model/evaluation/evaluation.ts';
import { placementFailures } from '../placement-failure.ts';
import type { Screen } from './screen.ts';

/** Prints why allocations could not be placed. */
export async function printPlacementFailures(
  screen: Screen,
  failed: Evaluation['FailedTGAllocs'],
): Promise<void> {
  for (const { head, reasons } of placementFailures(failed)) {
    await screen.line(screen.colors.red(head));
    for (const reason of reasons) await screen.line(`  - ${reason}`);
  }
}
