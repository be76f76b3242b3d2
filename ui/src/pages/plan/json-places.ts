/** Where the values of a text in JSON stand. */
import { jsonLanguage } from '@codemirror/lang-json';

const { parser } = jsonLanguage;

interface Place {
  readonly from: number;
  readonly to: number;
}

export function jsonSyntaxFault(text: string): Place & { readonly message: string } {
  let at: Place | undefined;
  parser.parse(text).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) at ??= { from, to };
    },
  });
  const { from, to } = at ?? { from: text.length, to: text.length };
  return { message: 'This is not JSON', from, to };
}

type Node = ReturnType<typeof parser.parse>['topNode'];

/** The value at the pointer, or the nearest one around it. */
export function jsonPlaceOf(text: string, pointer: string): Place | undefined {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  let node: Node | null = parser.parse(text).topNode.firstChild;
  let shown: Place | undefined = node ? { from: node.from, to: node.from + 1 } : undefined;
  const wrapped = node && property(node, 'Job', text);
  if (wrapped) node = wrapped.value;
  for (const part of parts) {
    if (node === null) break;
    const found: { readonly name: Node; readonly value: Node | null } | undefined =
      node.name === 'Array' ? item(node, Number(part)) : property(node, part, text);
    if (found === undefined) break;
    shown = { from: found.name.from, to: found.name.to };
    node = found.value;
  }
  return shown;
}

function property(node: Node, name: string, text: string) {
  for (const one of node.getChildren('Property')) {
    const key = one.getChild('PropertyName');
    if (key === null) continue;
    try {
      if (JSON.parse(text.slice(key.from, key.to)) === name)
        return { name: key, value: one.lastChild };
    } catch {
      // A key that is not finished has no name yet.
    }
  }
  return undefined;
}

function item(node: Node, index: number) {
  let at = 0;
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if ('[],'.includes(child.name)) continue;
    if (at === index) return { name: child.firstChild ?? child, value: child };
    at += 1;
  }
  return undefined;
}
