/** The place of the events page in its stream, without a browser. */
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event/event.ts';
import { StreamPlace } from '../../ui/src/pages/events/stream-place.ts';

const events = (...keys: readonly string[]): readonly Event[] =>
  keys.map((Key) => ({ Key }) as unknown as Event);
const keysOf = (passed: readonly Event[]) => passed.map(({ Key }) => Key);

test('a stream that begins again repeats no event', () => {
  const place = new StreamPlace();
  expect(place.beginAgain()).toBeUndefined();
  expect(keysOf(place.pass({}))).toEqual([]);
  expect(keysOf(place.pass({ Index: 7, Events: events('a', 'b') }))).toEqual(['a', 'b']);
  expect(keysOf(place.pass({ Index: 8, Events: events('c', 'd') }))).toEqual(['c', 'd']);
  expect(keysOf(place.pass({ Index: 8, Events: events('e') }))).toEqual(['e']);
  expect(place.beginAgain()).toBe(8);
  expect(keysOf(place.pass({}))).toEqual([]);
  // The frames of a transaction may be others now.
  expect(keysOf(place.pass({ Index: 8, Events: events('c') }))).toEqual([]);
  expect(keysOf(place.pass({ Index: 8, Events: events('d', 'e', 'f') }))).toEqual(['f']);
  expect(place.beginAgain()).toBe(8);
  expect(keysOf(place.pass({ Index: 9, Events: events('g'), Missed: true }))).toEqual(['g']);
});
