import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { limits } from '../model/limits.ts';
import { LatestFile } from './files.ts';

let directory: string;
let world: SimulatedWorld;
let text: string;
let texts: number;
let file: LatestFile;
const path = () => join(directory, 'file');
const written = () => (existsSync(path()) ? readFileSync(path(), 'utf8') : undefined);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'latest-file-'));
  world = new SimulatedWorld(1);
  texts = 0;
  const next = () => {
    texts++;
    return text;
  };
  const onError = (error: Error) => {
    throw error;
  };
  file = new LatestFile(path(), next, world.timers, { onError });
});

afterEach(() => rmSync(directory, { recursive: true }));

test('changes that can wait are saved together, at their time', async () => {
  for (text of ['a', 'b', 'c']) file.saveSoon();
  await world.advance(limits.node.saveSoonMs - 1);
  expect(texts).toBe(0);
  await world.advance(1);
  // The write that is under way.
  await file.save();
  expect(written()).toBe('c');
});

test('a save takes along changes that wait', async () => {
  text = 'a';
  file.saveSoon();
  await file.save();
  expect(written()).toBe('a');
  expect(world.pendingTimers).toBe(0);
  expect(texts).toBe(1);
});

test('a closed file is saved only when it is told to, and is removed after that', async () => {
  text = 'a';
  file.saveSoon();
  file.close();
  file.saveSoon();
  await world.advance(limits.node.saveSoonMs);
  expect(written()).toBeUndefined();
  const saved = file.save();
  await file.remove();
  expect(written()).toBeUndefined();
  await saved;
  expect(texts).toBe(1);
});
