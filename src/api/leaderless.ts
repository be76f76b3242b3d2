import type { Answer } from './http.ts';
import type { Route, Run } from './route.ts';

/**
 * The refusal of a write where no leader is known. It runs as a read with the same checks, so that nobody but
 * the caller of the write learns of it; `undefined`: the write waits for a leader.
 */
export function leaderlessRead(
  route: Route,
  run: (route: Route) => Answer | Promise<Answer>,
): (() => Promise<Answer>) | undefined {
  if (route.run.kind !== 'write' || route.run.withoutLeader === undefined) return undefined;
  const { withoutLeader } = route.run;
  return async () => {
    const handle = await withoutLeader();
    const refusing: Run = { kind: 'read', rowsIn: () => 'none', handle, isInSteps: false };
    return run({ ...route, run: refusing });
  };
}
