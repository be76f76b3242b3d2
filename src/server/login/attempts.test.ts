import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { rootKeyBox } from '../../base/secret-box.ts';
import { memoryState } from '../../state/state.test-helper.ts';
import { allTables, usedUpLimits } from '../../state/tables.ts';
import type { State } from '../../state/types.ts';
import { Attempts } from './attempts.ts';
import { UsedUpLimits } from './used-up.ts';

const [burst, refillMs] = [20, 3000];
const box = rootKeyBox(new Uint8Array(32), { bytes: (count) => new Uint8Array(count) });

let world: SimulatedWorld;
let state: State;
beforeEach(async () => {
  world = new SimulatedWorld(1);
  state = await memoryState(allTables, world);
});

const leaderWith = (usedUp: UsedUpLimits) =>
  new Attempts({ kind: 'address', clock: world.clock, usedUp, burst, refillMs });

const leader = () => leaderWith(new UsedUpLimits({ state, box, clock: world.clock }));

/** A leader that leaves no notes. */
function forgetful(): Attempts {
  const usedUp = new UsedUpLimits({ state, box, clock: world.clock });
  usedUp.note = async () => {};
  return leaderWith(usedUp);
}

/** The number of attempts that are allowed at once. */
async function allowed(attempts: Attempts, name = 'a'): Promise<number> {
  for (let count = 0; ; count++) if (!(await attempts.take(name))) return count;
}

test('attempts are limited by name, come back with time, and are given back', async () => {
  const attempts = leader();
  expect(await allowed(attempts)).toBe(burst);
  expect(await allowed(attempts, 'b')).toBe(burst);
  await world.advance(2 * refillMs);
  expect(await allowed(attempts)).toBe(2);
  attempts.giveBack('a');
  expect(await allowed(attempts)).toBe(1);
});

describe('the next leader', () => {
  test('knows that a limit is used up', async () => {
    await allowed(leader());
    await world.advance(5 * refillMs);
    expect(await allowed(leader())).toBe(5);
    expect(await allowed(leader(), 'b')).toBe(burst);
  });

  test('counts anew what was not used up', async () => {
    const first = leader();
    for (let count = 0; count < burst; count++) await first.take('a');
    expect(await allowed(leader())).toBe(burst);
  });

  test('grants at most half of the burst more, however long the attempts went on', async () => {
    const first = leader();
    for (let second = 0; second < 300; second++) {
      await first.take('a');
      await world.advance(1000);
      const granted = await allowed(forgetful());
      if (second > 2 * burst) expect(granted).toBeLessThanOrEqual(burst / 2);
    }
  });

  test('without the notes would grant everything anew', async () => {
    await allowed(forgetful());
    expect(await allowed(leader())).toBe(burst);
  });
});

test('a flood of attempts writes a row for half of the burst at most', async () => {
  const attempts = leader();
  const { index } = state.read();
  const seconds = 600;
  for (let second = 0; second < seconds; second++) {
    for (let count = 0; count < 50; count++) await attempts.take('a');
    await world.advance(1000);
  }
  const writes = state.read().index - index;
  expect(writes).toBeLessThanOrEqual((seconds * 1000) / (refillMs * (burst / 2)));
  expect(state.read().table(usedUpLimits).size).toBe(1);
});

test('a note names nobody', async () => {
  await allowed(leader(), '192.0.2.7');
  expect(JSON.stringify([...state.read().table(usedUpLimits).scan()])).not.toContain('192.0.2.7');
});
