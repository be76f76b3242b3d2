import { PatternError } from '../../filter/regex/pattern.ts';

/**
 * The regular expression of a path pattern: `*` and `?` within a part, `**` over several parts, `[ab]`,
 * `[!ab]` and `{a,b}`. Throws `PatternError`.
 */
export function globPattern(glob: string): string {
  let pattern = '^';
  let open = 0;
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at, at + 3);
    const character = glob[at]!;
    if (rest === '**/') {
      pattern += '(?:.*/)?';
      at += 3;
      continue;
    }
    if (rest.startsWith('**')) {
      pattern += '.*';
      at += 2;
      continue;
    }
    at += 1;
    if (character === '*') pattern += '[^/]*';
    else if (character === '?') pattern += '[^/]';
    else if (character === '{') {
      open += 1;
      pattern += '(?:';
    } else if (character === '}' && open > 0) {
      open -= 1;
      pattern += ')';
    } else if (character === ',' && open > 0) pattern += '|';
    else if (character === '[') {
      const end = glob.indexOf(']', at + 1);
      if (end < 0) throw new PatternError('a "[" is not closed');
      const members = glob.slice(at, end).replace(/^[!^]/, '');
      const isNegated = members.length < end - at;
      pattern += `[${isNegated ? '^' : ''}${members.replace(/[\\[\]^]/g, '\\$&')}]`;
      at = end + 1;
    } else if (character === '\\' && at < glob.length) {
      pattern += quoted(glob[at]!);
      at += 1;
    } else pattern += quoted(character);
  }
  if (open > 0) throw new PatternError('a "{" is not closed');
  return `(?s)${pattern}$`;
}

const quoted = (character: string): string => character.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
