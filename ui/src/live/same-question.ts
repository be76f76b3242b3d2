/** The size of the window of a list: rows of a smaller one are rows of the larger one as well. */
const ofSize = ['per_page', 'total'];
/** Whose records are asked for. */
const ofPlace = ['namespace', 'partition', 'peer'];

/**
 * How long the answer to one path may stand while another path is asked. `near`: of the same place, with another filter,
 * order or choice.
 */
export function likeness(one: string, other: string | undefined): 'same' | 'near' | 'other' {
  if (other === undefined) return 'other';
  const [before, after] = [partsOf(one), partsOf(other)];
  if (before.base !== after.base || !isAlike(before, after, ofPlace)) return 'other';
  const names = new Set([...before.values.keys(), ...after.values.keys()]);
  for (const name of ofSize) names.delete(name);
  return isAlike(before, after, names) ? 'same' : 'near';
}

interface Parts {
  readonly base: string;
  readonly values: URLSearchParams;
}

function partsOf(path: string): Parts {
  const [base = '', query = ''] = path.split('?');
  return { base, values: new URLSearchParams(query) };
}

const isAlike = (before: Parts, after: Parts, names: Iterable<string>): boolean =>
  [...names].every(
    (name) => before.values.getAll(name).join('\0') === after.values.getAll(name).join('\0'),
  );
