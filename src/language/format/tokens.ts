import { readToken } from '../hcl/lexer.ts';
import { Source } from '../hcl/source.ts';
import type { HclBody, HclNode } from '../hcl/syntax.ts';
import { childrenOf } from '../hcl/walk.ts';

/** A piece of a line, as it is written. */
export interface Piece {
  readonly kind: 'name' | 'number' | 'symbol' | 'string' | 'heredoc' | 'comment';
  readonly text: string;
  /** Whether there was space before it. */
  readonly spaced: boolean;
}

/** The pieces that begin on a line; none for a blank line. */
export type Line = readonly Piece[];

/**
 * The lines of a text with their comments. A string or heredoc is a single piece, which the tree locates.
 */
export function linesOf(text: string, tree: HclBody): readonly Line[] {
  const source = new Source(text);
  const strings = stringsIn(text, tree);
  const lines: Piece[][] = [[]];
  let offset = text.startsWith('\uFEFF') ? 1 : 0;
  let spaced = false;
  const add = (kind: Piece['kind'], end: number) => {
    lines.at(-1)!.push({ kind, text: text.slice(offset, end), spaced });
    offset = end;
    spaced = false;
  };
  while (offset < text.length) {
    const character = text[offset]!;
    const string = strings.get(offset);
    if (character === ' ' || character === '\t') {
      spaced = true;
      offset++;
    } else if (string !== undefined) {
      add(character === '<' ? 'heredoc' : 'string', string);
    } else if (isComment(text, offset)) {
      add('comment', commentEnd(text, offset));
    } else {
      const token = readToken(source, offset);
      if (token.kind === 'newline') {
        lines.push([]);
        offset = token.end;
        spaced = false;
      } else {
        add(token.kind === 'name' || token.kind === 'number' ? token.kind : 'symbol', token.end);
      }
    }
  }
  return lines;
}

/** The ends of the outermost strings and heredocs, by their starts. */
function stringsIn(text: string, tree: HclBody): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const open: HclNode[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { start, end } = node.range;
    const opening = text[start.offset];
    const mayBeString =
      node.kind === 'label' || node.kind === 'template' || node.kind === 'literal';
    if (mayBeString && (opening === '"' || opening === '<')) found.set(start.offset, end.offset);
    else open.push(...childrenOf(node));
  }
  return found;
}

const isComment = (text: string, offset: number): boolean =>
  text[offset] === '#' || text.startsWith('//', offset) || text.startsWith('/*', offset);

function commentEnd(text: string, offset: number): number {
  if (text.startsWith('/*', offset)) return text.indexOf('*/', offset + 2) + 2;
  const newline = text.indexOf('\n', offset);
  if (newline < 0) return text.length;
  return text[newline - 1] === '\r' ? newline - 1 : newline;
}
