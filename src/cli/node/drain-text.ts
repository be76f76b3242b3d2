import type { DrainStrategy } from '../../model/node/drain.ts';
import { span } from '../render/text.ts';

/** When everything that is left on the node has to go. */
export function deadlineText({ ForceDeadline }: DrainStrategy, nowMs: number): string {
  if (ForceDeadline === null) return 'none';
  const leftMs = Date.parse(ForceDeadline) - nowMs;
  return leftMs <= 0 ? 'passed' : `in ${span(leftMs)}`;
}
