/** The system call filter, run by an interpreter of the kernel's filter language. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answers, codes, encode, filterFor, offsets, ruleOf } from './filter.ts';
import { errors, profile } from './profile.ts';
import { type Architecture, auditArchitecture, systemCallsOf } from './system-calls.ts';

interface Call {
  readonly number: number;
  readonly architecture?: number;
  readonly arguments?: readonly number[];
}

/** Decodes the bytes like the kernel, and runs them on the data of a call. */
function run(bytes: Buffer, { number, architecture, arguments: given = [] }: Call): number {
  const about = Buffer.alloc(64);
  about.writeUInt32LE(number >>> 0, offsets.number);
  about.writeUInt32LE(architecture!, offsets.architecture);
  for (const [index, value] of given.entries()) {
    about.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index);
  }
  let accumulator = 0;
  for (let at = 0; at < bytes.length; at += 8) {
    const code = bytes.readUInt16LE(at);
    const value = bytes.readUInt32LE(at + 4);
    const jump = (isSo: boolean): void => {
      at += 8 * bytes.readUInt8(at + (isSo ? 2 : 3));
    };
    if (code === codes.answer) return value;
    if (code === codes.load) accumulator = about.readUInt32LE(value);
    else if (code === codes.jump) at += 8 * value;
    else if (code === codes.ifEqual) jump(accumulator === value);
    else if (code === codes.ifAtLeast) jump(accumulator >= value);
    else if (code === codes.ifAnyBit) jump((accumulator & value) !== 0);
    else throw new Error(`the instruction ${code} is not one of ours`);
  }
  throw new Error('the filter ended without an answer');
}

const answerTo = (
  name: string,
  {
    given = [],
    capabilities = [],
    on = 'x64',
  }: {
    readonly given?: readonly number[];
    readonly capabilities?: readonly string[];
    readonly on?: Architecture;
  } = {},
) =>
  run(encode(filterFor(on, capabilities)), {
    number: systemCallsOf(on).get(name)!,
    architecture: auditArchitecture[on],
    arguments: given,
  });

const refused = answers.fail(errors.EPERM);
const unknown = answers.fail(errors.ENOSYS);

test('every call with a number is in exactly one group', () => {
  const named = profile.flatMap(({ calls }) => calls.split(' '));
  const numbered = new Set([...systemCallsOf('x64').keys(), ...systemCallsOf('arm64').keys()]);
  expect(named.toSorted()).toEqual([...numbered].sort());
});

const processors = Object.keys(auditArchitecture) as Architecture[];
const capabilitySets = fc.subarray([
  ...new Set(profile.flatMap(({ unless }) => unless ?? [])),
  'chown',
]);

describe.each(processors)('on %s', (on) => {
  const architecture = auditArchitecture[on];

  test('every number has the verdict of the table, for all capabilities', () => {
    const numbers = systemCallsOf(on);
    const names = new Map([...numbers].map(([name, number]) => [number, name]));
    const verdicts = { allowed: answers.allow, refused, unknown };
    fc.assert(
      fc.property(capabilitySets, (capabilities) => {
        const bytes = encode(filterFor(on, capabilities));
        for (let number = 0; number < 600; number++) {
          const name = names.get(number);
          const group = profile.find(({ calls }) => name && calls.split(' ').includes(name));
          const rule = group === undefined ? 'unknown' : ruleOf(group, capabilities);
          if (typeof rule !== 'string') continue;
          expect([name, run(bytes, { number, architecture })]).toEqual([name, verdicts[rule]]);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('a number beyond the table is unknown, as is one of the other 64-bit ABI', () => {
    const bytes = encode(filterFor(on, []));
    for (const number of [600, 0x40000000, 0x40000001, 0x7fffffff, 0xffffffff]) {
      expect(run(bytes, { number, architecture })).toBe(unknown);
    }
  });

  test('a program for another processor is killed at its first call', () => {
    const bytes = encode(filterFor(on, ['sys_admin']));
    fc.assert(
      fc.property(fc.nat(600), fc.nat(0xffffffff), (number, other) => {
        fc.pre(other !== architecture);
        expect(run(bytes, { number, architecture: other })).toBe(answers.killProcess);
      }),
    );
    // The calls of i386 and 32-bit ARM, which such a kernel may offer too.
    for (const other of [0x40000003, 0x40000028]) {
      expect(run(bytes, { number: 1, architecture: other })).toBe(answers.killProcess);
    }
  });
});

describe('an argument decides', () => {
  test.each([
    ['a new process', 'clone', [0x1200011], answers.allow],
    ['a thread', 'clone', [0x3d0f00], answers.allow],
    ['a user namespace', 'clone', [0x10000011], refused],
    ['a mount namespace', 'clone', [0x20011], refused],
    ['a group namespace', 'clone', [0x2000011], refused],
    ['a network namespace', 'clone', [0x40000011], refused],
    ['a local socket', 'socket', [1], answers.allow],
    ['a socket of IPv6', 'socket', [10], answers.allow],
    ['a socket of the kernel’s messages', 'socket', [16], answers.allow],
    ['a socket of a virtual machine', 'socket', [40], answers.fail(errors.EAFNOSUPPORT)],
    ['a socket of the kernel’s ciphers', 'socket', [38], answers.fail(errors.EAFNOSUPPORT)],
    ['a pair of a rare family', 'socketpair', [30], answers.fail(errors.EAFNOSUPPORT)],
    ['the size of a terminal', 'ioctl', [0, 0x5413], answers.allow],
    ['typing into a terminal', 'ioctl', [0, 0x5412], refused],
    ['pasting into a terminal', 'ioctl', [0, 0x541c], refused],
    ['the usual personality', 'personality', [0], answers.allow],
    ['the question for it', 'personality', [0xffffffff], answers.allow],
    ['one with a readable first page', 'personality', [0x0100000], refused],
  ])('%s', (_what, name, given, expected) => {
    expect(answerTo(name, { given })).toBe(expected);
    expect(answerTo(name, { given, on: 'arm64' })).toBe(expected);
  });

  test('with its lower half alone, as in the kernel', () => {
    expect(answerTo('socket', { given: [2 ** 32 + 40] })).toBe(answers.fail(errors.EAFNOSUPPORT));
    expect(answerTo('socket', { given: [2 ** 32 + 2] })).toBe(answers.allow);
  });
});

test('an allowed capability permits the calls that need it', () => {
  expect(answerTo('mount')).toBe(refused);
  expect(answerTo('clone3')).toBe(unknown);
  const capabilities = ['sys_admin'];
  expect(answerTo('mount', { capabilities })).toBe(answers.allow);
  expect(answerTo('clone', { capabilities, given: [0x10000011] })).toBe(answers.allow);
  expect(answerTo('ioctl', { capabilities, given: [0, 0x5412] })).toBe(answers.allow);
  expect(answerTo('keyctl', { capabilities })).toBe(refused);
  expect(answerTo('settimeofday', { capabilities: ['sys_time'] })).toBe(answers.allow);
});

test('the kernel takes programs of up to 4096 instructions', () => {
  for (const on of processors) expect(filterFor(on, []).length).toBeLessThan(400);
});
