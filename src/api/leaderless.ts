import type { Route } from './route.ts';

/**
 * A write that is refused where no leader is known, as a read with the same checks, so that nobody but the
 * caller of the write learns of it; `undefined`: the write waits for a leader.
 */
export function leaderlessRead(route: Route): (() => Promise<Route>) | undefined {
  const { run } = route;
  if (run.kind !== 'write' || run.withoutLeader === undefined) return undefined;
  const { withoutLeader } = run;
  return async () => {
    const handle = await withoutLeader();
    return { ...route, run: { kind: 'read', rowsIn: () => 'none', handle, isInSteps: false } };
  };
}
