import type { Reader } from './reader.ts';
import type { HclTemplatePart } from './syntax.ts';
import type { FlatPart, Sequence } from './template-parts.ts';

/** A directive that is still open, or the template itself. */
interface Frame {
  readonly opened: Extract<Sequence, { kind: 'if' | 'for' }> | undefined;
  parts: HclTemplatePart[];
  /** The parts before `else`. */
  beforeElse: HclTemplatePart[] | undefined;
}

/** Matches each `if` and `for` with its end. Open directives are in a list, since recursion could overflow. */
export function nestParts(reader: Reader, flat: readonly FlatPart[]): readonly HclTemplatePart[] {
  const whole: Frame = { opened: undefined, parts: [], beforeElse: undefined };
  const open: Frame[] = [whole];
  for (const part of flat) {
    const frame = open.at(-1)!;
    switch (part.kind) {
      case 'text': {
        const { text, start, end } = part;
        frame.parts.push({ kind: 'text', text, range: reader.range(start, end) });
        break;
      }
      case 'interpolation': {
        const range = reader.range(part.start, part.end);
        frame.parts.push({ kind: 'interpolation', expression: part.expression, range });
        break;
      }
      case 'if':
      case 'for':
        open.push({ opened: part, parts: [], beforeElse: undefined });
        break;
      case 'else':
        if (frame.opened?.kind !== 'if' || frame.beforeElse !== undefined) {
          throw misplaced(reader, part, frame);
        }
        frame.beforeElse = frame.parts;
        frame.parts = [];
        break;
      default:
        if (`end${frame.opened?.kind}` !== part.kind) throw misplaced(reader, part, frame);
        open.pop();
        open.at(-1)!.parts.push(closed(reader, frame, part.end));
    }
  }
  const { opened } = open.at(-1)!;
  if (opened === undefined) return whole.parts;
  throw reader.error(`This "${opened.kind}" is not closed by "end${opened.kind}"`, opened.start);
}

function closed(
  reader: Reader,
  { opened, parts, beforeElse }: Frame,
  end: number,
): HclTemplatePart {
  const directive = opened!;
  const range = reader.range(directive.start, end);
  if (directive.kind === 'for') {
    const { keyName, valueName, collection } = directive;
    return { kind: 'for-directive', keyName, valueName, collection, parts, range };
  }
  const { condition } = directive;
  return {
    kind: 'if-directive',
    condition,
    whenTrue: beforeElse ?? parts,
    whenFalse: beforeElse === undefined ? [] : parts,
    range,
  };
}

function misplaced(reader: Reader, { kind, start }: Sequence, { opened, beforeElse }: Frame) {
  if (opened === undefined) return reader.error(`This "${kind}" belongs to no directive`, start);
  const second = kind === 'else' && opened.kind === 'if' && beforeElse !== undefined;
  const sentence = second
    ? 'This "if" has an "else" already'
    : `Expected "end${opened.kind}", found "${kind}"`;
  return reader.error(sentence, start);
}
