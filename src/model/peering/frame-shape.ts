import { limits } from '../limits.ts';

/**
 * Checks before parsing whether a text exceeds the bounds of a frame. A megabyte of brackets, or of names in
 * an object, costs a parser fifty times as much as a megabyte of text, and blocks everybody else. Whether the
 * text is JSON is not checked. `undefined`: it may be a frame.
 */
export function shapeFault(text: string): string | undefined {
  const { frameDepthMax, frameListsMax, frameMembersMax } = limits.peering;
  /** The numbers of commas in each open list and object, the innermost last. */
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

/** The end of the quoted text that begins at `start`; the end of the whole text, if it does not end. */
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
