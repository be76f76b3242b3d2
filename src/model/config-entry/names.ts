/** The forms of addresses and host names. */

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;
/** Not in limits: RFC 1035. */
const hostLengthMax = 253;

/** Labels between dots; a dot at the end is allowed. */
export function isHostName(text: string): boolean {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  if (name === '' || name.length > hostLengthMax) return false;
  const labels = name.split('.');
  // A name that ends in digits alone is a mistyped address.
  return labels.every((one) => label.test(one)) && !/^\d+$/.test(labels.at(-1)!);
}

export const isAddress = (text: string): boolean => isVersion4(text) || isVersion6(text);

function isVersion4(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && +part < 256)
  );
}

function isVersion6(text: string): boolean {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return false;
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const all = [...groups(head), ...groups(tail)];
  const last = all.at(-1) ?? '';
  const isMixed = last.includes('.');
  if (isMixed && !isVersion4(last)) return false;
  const plain = isMixed ? all.slice(0, -1) : all;
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  const size = plain.length + (isMixed ? 2 : 0);
  return tail === undefined ? size === 8 : size < 8;
}
