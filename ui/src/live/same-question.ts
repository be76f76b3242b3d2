/** The size of the window: rows of a smaller one are rows of the larger one as well. */
const ofSize = ['per_page', 'total'];
/** Which rows of a list are asked for, and in which order. */
const ofRows = ['next_token', 'sort', 'reverse', 'filter', ...ofSize];

/** How long the answer to one path may stand while another path is asked. */
export function likeness(one: string, other: string | undefined): 'same' | 'near' | 'other' {
  if (other === undefined) return 'other';
  if (bare(one, ofSize) === bare(other, ofSize)) return 'same';
  return bare(one, ofRows) === bare(other, ofRows) ? 'near' : 'other';
}

function bare(path: string, without: readonly string[]): string {
  const [base = '', query = ''] = path.split('?');
  const values = new URLSearchParams(query);
  for (const name of without) values.delete(name);
  values.sort();
  return `${base}?${values}`;
}
