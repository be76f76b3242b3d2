/** The launches of a running server, compared with a check of every minute. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  clockChanges,
  expressions,
  hourMs,
  minuteMs,
  slotsBetween,
  zones,
} from '../../src/model/job/cron-oracle.test-helper.ts';
import { jobs } from '../../src/state/tables.ts';
import { jobBody, startApi } from '../support/api.ts';
import { testsFollower } from '../support/follower.ts';
import { restartServer } from '../support/restart.ts';

/** The server runs for this time, and is then down for this time. */
const turns = fc.array(
  fc.record({
    runsMs: fc.integer({ min: 0, max: 3 * hourMs }),
    awayMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90 * minuteMs })),
  }),
  { maxLength: 6 },
);

const iso = (ms: number) => new Date(ms).toISOString();

test('around a change of clocks, each slot launches once; of missed slots, the last one launches', async () => {
  const place = fc.record({ zone: fc.constantFrom(...zones), which: fc.nat(3) });
  await fc.assert(
    fc.asyncProperty(expressions, place, turns, async (expression, { zone, which }, drawn) => {
      const changes = clockChanges(zone, 2026);
      const change = changes[which % Math.max(changes.length, 1)] ?? Date.UTC(2026, 5, 1);
      const startMs = change - 4 * hourMs;
      const endMs = change + 4 * hourMs;
      let api = await startApi({ startMs });
      const Periodic = { Specs: [expression.text], TimeZone: zone };
      const body = jobBody({ ID: 'p', Type: 'batch', Periodic });
      expect(await api.call('PUT', '/v1/jobs', { body })).toMatchObject({ status: 200 });

      const slots = slotsBetween(expression, zone, startMs + minuteMs, endMs + minuteMs);
      const expected = new Set(slots.filter((ms) => ms <= endMs));
      const now = () => api.world.clock.nowMs();
      for (const { runsMs, awayMs } of drawn) {
        await api.world.advance(Math.min(runsMs, endMs - now()));
        const downMs = now();
        const upMs = Math.min(downMs + awayMs, endMs);
        api = await restartServer(api, (world) => world.advance(upMs - downMs));
        const missed = slots.filter((ms) => ms > downMs && ms <= upMs);
        for (const ms of missed.slice(0, -1)) expected.delete(ms);
      }
      await api.world.advance(endMs - now());

      const launched: number[] = [];
      for (const { ID, ParentID } of api.state.read().table(jobs).scan()) {
        if (ParentID === 'p') launched.push(Number(/\/periodic-(\d+)$/.exec(ID)![1]) * 1000);
      }
      expect(launched.sort((left, right) => left - right).map(iso)).toEqual([...expected].map(iso));
      api.server.stop();
    }),
    { numRuns: testsFollower ? 10 : 30 },
  );
});
