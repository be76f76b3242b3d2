import { type ParseExpression, parseForNames } from './collection.ts';
import type { Token } from './lexer.ts';
import type { Reader } from './reader.ts';
import type { HclLiteral, HclTemplate } from './syntax.ts';
import { cutIndentation, type FlatPart, type Sequence, trimMarked } from './template-parts.ts';
import { readLiteral, wholeText } from './template-text.ts';
import { nestParts } from './template-tree.ts';

/** Reads a quoted string or a heredoc, with its opening token. */
export const readTemplate = (reader: Reader, parse: ParseExpression): HclLiteral | HclTemplate =>
  readOpened(reader, reader.next(), parse);

/** Reads a text that is a template as a whole. */
export function readWholeTemplate(
  reader: Reader,
  parse: ParseExpression,
): HclLiteral | HclTemplate {
  const offset = reader.lastEnd;
  return readOpened(reader, { ...wholeText, offset, end: offset }, parse);
}

function readOpened(
  reader: Reader,
  opened: Token,
  parse: ParseExpression,
): HclLiteral | HclTemplate {
  const read = readFlatParts(reader, opened, parse);
  const parts = trimMarked(read.parts);
  const flat = opened.indented ? cutIndentation(parts) : parts;
  reader.seek(read.end);
  if (flat.every((part) => part.kind === 'text')) {
    const value = flat.map(({ text }) => text).join('');
    return { kind: 'literal', value, range: reader.range(opened.offset) };
  }
  const nested = nestParts(reader, flat);
  return { kind: 'template', parts: nested, range: reader.range(opened.offset) };
}

function readFlatParts(
  reader: Reader,
  opened: Token,
  parse: ParseExpression,
): { readonly parts: readonly FlatPart[]; readonly end: number } {
  const parts: FlatPart[] = [];
  let offset = opened.end;
  let lineStart = true;
  for (;;) {
    const literal = readLiteral(reader.source, opened, offset, lineStart);
    if (literal.end > offset) {
      const { text, end } = literal;
      parts.push({ kind: 'text', text, start: offset, end });
    }
    offset = literal.end;
    lineStart = literal.followedBy === 'line';
    if (literal.followedBy === 'close') return { parts, end: literal.closeEnd };
    if (literal.followedBy === 'sequence') {
      const sequence = reader.nested(offset, () => readSequence(reader, offset, parse));
      parts.push(sequence);
      offset = sequence.end;
    }
  }
}

/** Reads `${…}` or `%{…}`. */
function readSequence(reader: Reader, start: number, parse: ParseExpression): Sequence {
  const { text } = reader.source;
  const trimBefore = text[start + 2] === '~';
  const isDirective = text[start] === '%';
  reader.seek(start + (trimBefore ? 3 : 2));
  return reader.withNewlines(false, () => {
    const content = isDirective
      ? directive(reader, parse)
      : { kind: 'interpolation' as const, expression: parse(reader) };
    const trimAfter = reader.at('~}');
    if (reader.peek().kind === 'end') {
      throw reader.error(`This "${text.slice(start, start + 2)}" is not closed by "}"`, start);
    }
    if (!trimAfter && !reader.at('}')) throw reader.expected('"}"');
    const { end } = reader.next();
    return { ...content, trimBefore, trimAfter, start, end };
  });
}

function directive(reader: Reader, parse: ParseExpression) {
  const token = reader.peek();
  switch (token.kind === 'name' ? token.text : '') {
    case 'if':
      reader.next();
      return { kind: 'if' as const, condition: parse(reader) };
    case 'for': {
      const names = parseForNames(reader);
      return { kind: 'for' as const, ...names, collection: parse(reader) };
    }
    case 'else':
    case 'endif':
    case 'endfor':
      reader.next();
      return { kind: token.text as 'else' | 'endif' | 'endfor' };
    default:
      throw reader.expected('"if", "else", "endif", "for" or "endfor" after "%{"');
  }
}
