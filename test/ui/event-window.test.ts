/** The newest events of the page of events, without a browser. */
import { expect, test } from 'vitest';
import type { Event, ToldEvent } from '../../src/model/event/event.ts';
import { EventWindow } from '../../ui/src/pages/events/event-window.ts';

const event = (Key: string, others: object = {}): ToldEvent =>
  ({ Topic: 'Job', Key, ...others }) as unknown as ToldEvent;
const keysOf = (window: EventWindow) => window.rows(false).map(({ event: { Key } }) => Key);

test('events that were not sent are counted by topic, and as matches', () => {
  const window = new EventWindow(2);
  const Matches = false as const;
  window.add({ Events: [event('a'), event('b'), event('c', { Matches })], Skipped: {} }, 1);
  const Skipped = { Job: 3, Node: 9 };
  window.add({ Events: [event('d')], Skipped, SkippedMatches: 2 }, 2);
  window.add({ Events: [], Skipped: { Job: 1 } }, 3);
  expect([window.received, window.matched]).toEqual([17, 6]);
  expect(window.skipped).toEqual([
    ['Node', 9],
    ['Job', 4],
  ]);
  expect(keysOf(window)).toEqual(['d', 'b']);
  window.choose(({ Key }: Event) => Key !== 'd');
  expect(keysOf(window)).toEqual(['c', 'b']);
  window.clear();
  expect([window.received, window.matched, window.skipped, keysOf(window)]).toEqual([0, 0, [], []]);
});

test('in a flood the rows have the keys of their places', () => {
  const window = new EventWindow(2);
  const keys = () => window.rows(true).map(({ key }) => key);
  window.add({ Events: [event('a'), event('b')], Skipped: {} }, 1);
  const before = keys();
  window.add({ Events: [event('c'), event('d')], Skipped: { Job: 5 } }, 2);
  expect(keys()).toEqual(before);
  expect(keysOf(window)).toEqual(['d', 'c']);
});
