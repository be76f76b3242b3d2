/** How far the clocks of a server and of a page differ, without either. */
import { expect, test } from 'vitest';
import { ServerClock } from '../../ui/src/live/server-clock.ts';

const aheadMs = 3_600_000;
const wayMs = 40;
/** The server takes a while before it says welcome. */
const takesMs = 5000;

/** A clock that was measured when that of the page said 0. */
function measured(): ServerClock {
  const clock = new ServerClock();
  clock.measure({
    helloMs: 0,
    heardMs: aheadMs + wayMs,
    nowMs: aheadMs + wayMs + takesMs,
    welcomeMs: 2 * wayMs + takesMs,
  });
  return clock;
}

/** A message on time. */
const check = (clock: ServerClock, cameMs: number, ahead = aheadMs): void =>
  clock.check(cameMs - wayMs + ahead, cameMs);

test('the way and the time that the server takes are left out', () => {
  expect(measured().aheadMs).toBe(aheadMs);
});

test('messages on time, and a little late, change nothing', () => {
  const clock = measured();
  for (const cameMs of [10_000, 20_000]) check(clock, cameMs);
  clock.check(aheadMs + 30_000, 30_900);
  expect(clock.aheadMs).toBe(aheadMs);
});

test('a clock of the page that jumps back is known at the next message', () => {
  const clock = measured();
  check(clock, 10_000, 2 * aheadMs);
  expect(clock.aheadMs).toBe(2 * aheadMs);
});

test('a clock of the page that jumps ahead is known when two messages agree', () => {
  const clock = measured();
  check(clock, aheadMs + 10_000, 0);
  expect(clock.aheadMs).toBe(aheadMs);
  check(clock, aheadMs + 20_000, 0);
  expect(clock.aheadMs).toBe(0);
});

test('messages that come late all at once change nothing', () => {
  const clock = measured();
  const cameMs = 60_000;
  for (const sentMs of [10_000, 20_000, 30_000, 40_000, 50_000]) {
    clock.check(aheadMs + sentMs, cameMs);
  }
  check(clock, cameMs + 10_000);
  expect(clock.aheadMs).toBe(aheadMs);
});

test('a server that does not tell the time leaves the clock of the page', () => {
  const clock = new ServerClock();
  const untold = undefined as unknown as number;
  clock.measure({ helloMs: 0, heardMs: untold, nowMs: untold, welcomeMs: 80 });
  clock.check(untold, 10_000);
  expect(clock.aheadMs).toBe(0);
});
