import { expect, test } from 'vitest';
import { limits } from '../limits.ts';
import { shapeFault } from './frame-shape.ts';

const { frameDepthMax, frameListsMax, frameMembersMax } = limits.peering;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const list = (members: readonly unknown[]) => JSON.stringify(members);

test.each([
  ['a heartbeat', '{"type":"heartbeat"}'],
  ['a text of brackets', list(['['.repeat(100_000)])],
  ['a text with quotes and commas', list([',",\\",[{'.repeat(100_000)])],
  ['a text that ends in a backslash', list(['\\', nested(frameDepthMax - 1)])],
  ['the deepest', nested(frameDepthMax)],
  ['the longest', list(Array(frameMembersMax).fill(1))],
  ['a text that is not JSON', ']]}},,"'],
])('%s may be a frame', (_, text) => expect(shapeFault(text)).toBeUndefined());

test.each([
  ['too deep', nested(frameDepthMax + 1), 'nested deeper than 16'],
  ['a megabyte of brackets', '['.repeat(1_000_000), 'nested deeper than 16'],
  ['a list that is too long', list(Array(frameMembersMax + 1).fill(1)), 'more than 2048 members'],
  [
    'an object that is too large',
    JSON.stringify(Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`k${at}`, at]))),
    'more than 2048 members',
  ],
  [
    'too many lists',
    list(Array(5).fill(Array(Math.ceil(frameListsMax / 5)).fill([]))),
    'more than 4096 lists',
  ],
])('%s cannot be a frame', (_, text, reason) => expect(shapeFault(text)).toContain(reason));
