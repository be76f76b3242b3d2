/** What pages repeat of the kinds of configuration entries, and where they show faults. */
import { expect, test } from 'vitest';
import { kinds } from '../../src/model/config-entry/kinds.ts';
import { kindExamples } from '../../ui/src/pages/configuration/kind-examples.ts';
import { pageKinds } from '../../ui/src/pages/configuration/kinds.ts';
import { jsonFault, lineOfPointer } from '../../ui/src/pages/configuration/pointer.ts';

test('pages know every kind as the server does', () => {
  const ofServer = kinds.map((kind) => ({
    kind: kind.kind,
    summary: kind.summary,
    access: kind.access,
    onlyName: kind.onlyName?.('default'),
    isOfPartition: kind.ofPartition,
    isDerived: kind.isDerived,
    secret: kind.secret,
  }));
  expect(pageKinds).toEqual(ofServer);
  for (const { kind, example, secret } of kinds) {
    // Pages carry no private key, not even that of an example.
    const shown = { ...kindExamples[kind] };
    if (secret !== undefined) {
      expect(Object.keys(shown)).toEqual(Object.keys(example));
      continue;
    }
    expect(shown).toEqual(example);
  }
});

test('a fault is shown on the line of its field, or of the nearest part that is there', () => {
  const text = `{
  "Kind": "service-splitter",
  "a/b": { "c": "}]\\"" },
  "Splits": [
    { "Weight": 90 },
    {
      "Weight": "x"
    }
  ]
}`;
  const lines = ['', '/Kind', '/a~1b/c', '/Splits', '/Splits/1/Weight', '/Splits/1/Nix', '/Nix'];
  expect(lines.map((pointer) => lineOfPointer(text, pointer))).toEqual([1, 2, 3, 4, 7, 6, 1]);
  expect(lineOfPointer('{ "Kind": [', '/Kind/0')).toBe(1);
  expect(lineOfPointer('', '/Kind')).toBe(1);
  expect(jsonFault(text)).toBeUndefined();
  expect(jsonFault('{\n  "a": 1,\n  b\n}')).toMatchObject({ line: 3 });
  expect(jsonFault('[]')).toMatchObject({ line: 1 });
});
