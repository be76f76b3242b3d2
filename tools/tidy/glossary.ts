/**
 * One word for one thing. The glossary of ARCHITECTURE.md tells what each of these words means; a test
 * holds the two against each other.
 */
import ts from 'typescript';
import { faultsOfNodes, type Rule } from './rule.ts';

interface Word {
  /** As it stands in ARCHITECTURE.md. */
  readonly word: string;
  /** Names, of anything, that say the same with another word. */
  readonly synonym?: RegExp;
  /** Names of types that say the same with another word. */
  readonly synonymOfType?: RegExp;
  /** A type of this name is declared in this file and nowhere else. */
  readonly type?: { readonly name: string; readonly file: string };
}

export const glossary: readonly Word[] = [
  {
    word: 'scope',
    synonym: /realm/i,
    type: { name: 'Scope', file: 'src/model/namespace/namespace.ts' },
  },
  { word: 'place', type: { name: 'Place', file: 'src/model/permission/permission.ts' } },
  {
    word: 'fault',
    synonym: /complaint/i,
    type: { name: 'Fault', file: 'src/model/errors.ts' },
  },
  { word: 'refusal', synonymOfType: /Refused$/ },
  { word: 'problem', type: { name: 'Problem', file: 'src/model/errors.ts' } },
  { word: 'failure', synonymOfType: /Failed$/ },
];

export const oneWord: Rule = {
  name: 'glossary',
  prepare: () => (source) => {
    if (!source.path.startsWith('src/')) return [];
    return faultsOfNodes(source, (node) => {
      if (!ts.isIdentifier(node) || !isDeclared(node)) return undefined;
      const { text } = node;
      const isType = isNameOfType(node);
      for (const { word, synonym, synonymOfType, type } of glossary) {
        if (synonym?.test(text) || (isType && synonymOfType?.test(text))) {
          return `${text}: the word is "${word}" (ARCHITECTURE.md#words)`;
        }
        if (isType && type?.name === text && type.file !== source.path) {
          return `${text} is a type of ${type.file}: another type needs another name`;
        }
      }
      return undefined;
    });
  },
};

/** Names that the file gives, not those that it uses: a fault is told where it can be repaired. */
function isDeclared(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return false;
  return 'name' in parent && parent.name === node && !ts.isPropertyAccessExpression(parent);
}

const isNameOfType = ({ parent }: ts.Identifier): boolean =>
  ts.isInterfaceDeclaration(parent) ||
  ts.isTypeAliasDeclaration(parent) ||
  ts.isClassDeclaration(parent);
