import type { DrainStrategy } from '../../model/node/drain.ts';
import { span } from '../render/text.ts';

/** The deadline, at which all remaining allocations are stopped. */
export function deadlineText({ ForceDeadline }: DrainStrategy, nowMs: number): string {
  if (ForceDeadline === null) return 'none';
  const leftMs = Date.parse(ForceDeadline) - nowMs;
  return leftMs <= 0 ? 'passed' : `in ${span(leftMs)}`;
}
