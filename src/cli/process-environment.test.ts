import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { SimulatedWorld } from '../base/ports-simulated.ts';
import { processEnvironment } from './process-environment.ts';

type Process = Parameters<typeof processEnvironment>[0];

function environmentOf(stdout: Writable, handlers = new Map<string, () => void>()) {
  const process = {
    stdout,
    stderr: new PassThrough(),
    stdin: new PassThrough(),
    env: {},
    once: (signal: string, run: () => void) => handlers.set(signal, run),
    off: (signal: string) => handlers.delete(signal),
  } as unknown as Process;
  const world = new SimulatedWorld(1);
  const noStores = () => Promise.reject(new Error('there are no stores here'));
  const engines = {
    migrate: noStores,
    recover: noStores,
    checkStore: noStores,
    repairStore: noStores,
  };
  const build = { version: '1', node: '24.0.0', platform: 'linux-x64' };
  return processEnvironment(process, { world, build, startAgent: async () => 0, engines });
}

const failing = (code: string) =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
  });

test('a closed output is noticed, and later output is dropped', async () => {
  const { stdout } = environmentOf(failing('EPIPE'));
  await stdout.write('one');
  expect(stdout.closed.aborted).toBe(true);
  await stdout.write('two');
});

test('output waits for its stream, and a pipe has no width', async () => {
  const written: string[] = [];
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      setImmediate(() => {
        written.push(String(chunk));
        done();
      });
    },
  });
  const { stdout } = environmentOf(slow);
  await stdout.write('one');
  expect(written).toEqual(['one']);
  expect([stdout.isTerminal, stdout.columns]).toEqual([false, Number.POSITIVE_INFINITY]);
});

test('Ctrl-C is only handled while a command listens', () => {
  const handlers = new Map<string, () => void>();
  const { onInterrupt } = environmentOf(new PassThrough(), handlers);
  expect(handlers.size).toBe(0);
  let interrupted = 0;
  const undo = onInterrupt(() => interrupted++);
  handlers.get('SIGINT')!();
  undo();
  expect({ interrupted, left: handlers.size }).toEqual({ interrupted: 1, left: 0 });
});
