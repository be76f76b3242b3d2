/**
 * V8 keeps the code of a module's top level for as long as the module is there, although it runs once: for an agent more
 * than half a megabyte. That of a function goes with the garbage, unless an error that was made there is kept: it names
 * the functions that made it.
 */

/** As esbuild writes imports. The files that a bundle still imports never change their exports later. */
const importStatement =
  /(?<=^|[;}\n])import(?:\s*\{[\w$\s,]+\}\s*|\s*\*\s*as\s+[\w$]+\s+|\s+[\w$]+\s+)from\s*"[\w:/@.-]+";/g;
const exportStatement = /(?<=^|[;}\n])export\s*\{([\w$\s,]*)\};?\s*$/;

/**
 * The module of esbuild with its top level in a function. It neither waits there, nor gives another value later to a variable
 * that it exports.
 */
export function inFunction(text: string): string {
  const imports = text.match(importStatement) ?? [];
  const [end = '', listed = ''] = exportStatement.exec(text) ?? [];
  const body = text.slice(0, text.length - end.length).replace(importStatement, '');
  const names = listed
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name, at) => {
      const [own, given = own] = name.split(/\s+as\s+/);
      return { own, given, outside: `e${at}_` };
    });
  const list = (item: (name: (typeof names)[number]) => string) => names.map(item).join(',\n');
  const run = `(() => {\n${body}\nreturn [${list(({ own }) => own!)}];\n})();\n`;
  if (names.length === 0) return `${imports.join('')}\n${run}`;
  const exported = list(({ given, outside }) => `${outside} as ${given}`);
  return `${imports.join('')}\nconst [${list(({ outside }) => outside)}] = ${run}export {${exported}};\n`;
}
