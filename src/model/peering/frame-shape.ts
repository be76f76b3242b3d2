import { limits } from '../limits.ts';

/**
 * Whether a text is more than a frame can be, found out before it is parsed: a megabyte of brackets, or
 * of names in one object, costs a parser fifty times what a megabyte of text does, and nobody else is
 * served meanwhile. Whether it is JSON is not asked. `undefined`: it may be a frame.
 */
export function shapeFault(text: string): string | undefined {
  const { frameDepthMax, frameListsMax, frameMembersMax } = limits.peering;
  /** Commas of each list and object that is open, the innermost last. */
  const commas: number[] = [];
  let lists = 0;
  for (let position = 0; position < text.length; position++) {
    switch (text.charCodeAt(position)) {
      case quote:
        position = endOfText(text, position);
        break;
      case openBrace:
      case openBracket:
        if (++lists > frameListsMax) return `a frame of more than ${frameListsMax} lists came`;
        commas.push(0);
        if (commas.length > frameDepthMax)
          return `a frame nested deeper than ${frameDepthMax} came`;
        break;
      case closeBrace:
      case closeBracket:
        commas.pop();
        break;
      case comma:
        if (++commas[commas.length - 1]! >= frameMembersMax) {
          return `a frame came with a list of more than ${frameMembersMax} members`;
        }
        break;
    }
  }
  return undefined;
}

/** Where the text in quotes ends that begins here; the end of everything, where it does not. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
