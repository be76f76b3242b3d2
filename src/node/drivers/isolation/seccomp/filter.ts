/** Compiles the profile to a program of classic BPF, which runs at each system call. Pure. */
import { type ArgumentRule, type CallGroup, errors, profile, type Verdict } from './profile.ts';
import { type Architecture, auditArchitecture, systemCallsOf } from './system-calls.ts';

/** Its code, how many instructions to skip if the condition holds and if not, a number. */
export interface Instruction {
  readonly code: number;
  readonly whenSo: number;
  readonly otherwise: number;
  readonly value: number;
}

export const codes = {
  /** Loads 32 bits from the kernel's data about the call, at an offset. */
  load: 0x20,
  jump: 0x05,
  ifEqual: 0x15,
  ifAtLeast: 0x35,
  ifAnyBit: 0x45,
  answer: 0x06,
} as const;

/** Offsets in `struct seccomp_data`; both processors put the lower half of a number first. */
export const offsets = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index };

export const answers = {
  allow: 0x7fff0000,
  killProcess: 0x80000000,
  fail: (errno: number) => 0x00050000 | errno,
} as const;

/** The distance of a conditional jump is a byte. */
const farthest = 255;

type Rule = ArgumentRule | Verdict;

/** The calls from this number on, up to that of the next range. */
interface Range {
  readonly from: number;
  readonly rule: Rule;
}

/** The rule for a group of calls and a task with these capabilities. */
export function ruleOf(group: CallGroup, capabilities: readonly string[]): Rule {
  if (group.unless?.some((name) => capabilities.includes(name))) return 'allowed';
  return group.only ?? group.verdict;
}

/** The filter for a processor and for a task that has these capabilities. */
export function filterFor(
  architecture: Architecture,
  capabilities: readonly string[],
): readonly Instruction[] {
  const ranges = rangesOf(architecture, capabilities);
  return [
    instruction(codes.load, offsets.architecture),
    // Calls of 32-bit programs have other numbers.
    jumpIf(codes.ifEqual, auditArchitecture[architecture], 1, 0),
    instruction(codes.answer, answers.killProcess),
    instruction(codes.load, offsets.number),
    ...search(ranges),
  ];
}

/** The kernel's format: eight bytes for each instruction, in the processor's byte order. */
export function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, whenSo, otherwise, value }] of program.entries()) {
    const at = index * 8;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(whenSo, at + 2);
    bytes.writeUInt8(otherwise, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  }
  return bytes;
}

const instruction = (code: number, value: number): Instruction => ({
  code,
  whenSo: 0,
  otherwise: 0,
  value,
});

const jumpIf = (code: number, value: number, whenSo: number, otherwise: number): Instruction => ({
  code,
  whenSo,
  otherwise,
  value,
});

/** Neighbours with the same rule are one range. All numbers above the table are unknown. */
function rangesOf(architecture: Architecture, capabilities: readonly string[]): readonly Range[] {
  const numbers = systemCallsOf(architecture);
  const byNumber = new Map<number, Rule>();
  for (const group of profile) {
    const rule = ruleOf(group, capabilities);
    for (const name of group.calls.split(' ')) {
      const number = numbers.get(name);
      if (number !== undefined) byNumber.set(number, rule);
    }
  }
  const ranges: Range[] = [];
  const end = Math.max(...byNumber.keys()) + 1;
  for (let number = 0; number <= end; number++) {
    const rule = byNumber.get(number) ?? 'unknown';
    if (ranges.at(-1)?.rule !== rule) ranges.push({ from: number, rule });
  }
  return ranges;
}

/** A binary search over the ranges. */
function search(ranges: readonly Range[]): readonly Instruction[] {
  const [only] = ranges;
  if (ranges.length === 1) return answer(only!.rule);
  const middle = ranges.length >> 1;
  const lower = search(ranges.slice(0, middle));
  const upper = search(ranges.slice(middle));
  const { from } = ranges[middle]!;
  const decision =
    lower.length <= farthest
      ? [jumpIf(codes.ifAtLeast, from, lower.length, 0)]
      : [jumpIf(codes.ifAtLeast, from, 0, 1), instruction(codes.jump, lower.length)];
  return [...decision, ...lower, ...upper];
}

const failing = { refused: errors.EPERM, unknown: errors.ENOSYS } as const;

function answer(rule: Rule): readonly Instruction[] {
  if (rule === 'allowed') return [instruction(codes.answer, answers.allow)];
  if (typeof rule === 'string') return [instruction(codes.answer, answers.fail(failing[rule]))];
  const { argument, allowed, errno } = rule;
  return [
    instruction(codes.load, offsets.argument(argument)),
    ...testsOf(allowed),
    instruction(codes.answer, answers.allow),
    instruction(codes.answer, answers.fail(errno)),
  ];
}

/** The tests of an argument. The answer for allowed values follows them, and then the other one. */
function testsOf(allowed: ArgumentRule['allowed']): readonly Instruction[] {
  if ('noneOf' in allowed) return [jumpIf(codes.ifAnyBit, allowed.noneOf, 1, 0)];
  if ('allBut' in allowed) {
    const { length } = allowed.allBut;
    return allowed.allBut.map((value, index) => jumpIf(codes.ifEqual, value, length - index, 0));
  }
  const last = allowed.values.length - 1;
  return allowed.values.map((value, index) =>
    jumpIf(codes.ifEqual, value, last - index, index === last ? 1 : 0),
  );
}
