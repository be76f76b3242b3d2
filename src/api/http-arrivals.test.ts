import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../model/limits.ts';
import { Arrivals } from './http-arrivals.ts';

let nowMs: number;
let soon: (() => void)[];
let served: string[];
let held: number;
let arrivals: Arrivals;
beforeEach(() => {
  nowMs = 0;
  soon = [];
  served = [];
  held = 0;
  const loop = {
    nowMs: () => nowMs,
    soon: (run: () => void) => void soon.push(run),
    hold: () => void held++,
    release: () => void held--,
  };
  arrivals = new Arrivals(loop, (socket) => served.push((socket as unknown as Arriving).name));
});

class Arriving extends EventEmitter {
  readonly name: string;
  destroyed = false;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

function arrive(name: string): Arriving {
  const socket = new Arriving(name);
  arrivals.add(socket as unknown as Socket);
  return socket;
}

/** A turn of the event loop, in which these connections arrive. */
function turn(...names: string[]): string {
  const due = soon;
  soon = [];
  for (const name of names) arrive(name);
  for (const run of due) run();
  return served.splice(0).join(' ');
}

describe('connections', () => {
  test('are served together after the first turn without another one, in their order', () => {
    expect(['a', 'b', 'c'].map((name) => turn(name))).toEqual(['', '', '']);
    expect([turn(), turn(), turn()]).toEqual(['a b c', '', '']);
    expect(soon).toEqual([]);
    expect([turn('d'), turn(), turn()].join('')).toBe('d');
  });

  test('hold the turns of the loop while they wait, once for all of them', () => {
    const heldAfter = (...names: string[]) => {
      turn(...names);
      return held;
    };
    expect([heldAfter(), heldAfter('a', 'b'), heldAfter('c'), heldAfter()]).toEqual([0, 1, 1, 0]);
  });

  test('that come one after another wait no longer than their bound', () => {
    const stepMs = limits.http.arrivalsMs / 4;
    const waits: number[] = [];
    for (let number = 0; number < 100; number++) {
      for (const name of turn(String(nowMs)).split(' ')) if (name) waits.push(nowMs - Number(name));
      nowMs += stepMs;
    }
    expect(waits.length).toBeGreaterThan(90);
    expect(Math.max(...waits)).toBeLessThanOrEqual(limits.http.arrivalsMs + stepMs);
  });

  test('that end while they wait are not served', () => {
    turn('a');
    const ending = arrive('b');
    ending.destroyed = true;
    expect(() => ending.emit('error', new Error('reset'))).not.toThrow();
    turn('c');
    expect([turn(), turn()].join('')).toBe('a c');
  });
});
