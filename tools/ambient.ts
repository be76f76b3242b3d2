/**
 * The lint of "no ambient world": clock, timers, random, files, network and the process come in as
 * arguments everywhere but in the places of `ambient-places.ts`. So the simulator can run the whole control
 * plane. Tests, tools and benchmarks are free.
 *
 * It reads syntax trees with the `typescript` package (6.x): names in comments, texts and types do
 * not count, and neither does a local variable that is called as a global is.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import {
  ambientCrypto,
  ambientGlobals,
  ambientModules,
  constants,
  instead,
  type Kind,
  places,
} from './ambient-places.ts';
import { testCode } from './test-code.ts';

interface Finding {
  readonly node: ts.Node;
  /** As a reader would call it: `Date.now`. */
  readonly what: string;
  readonly kind: Kind;
}

/** The faults of src/ and sim/ below `root`, one line each. Empty: nothing ambient. */
export function checkAmbient(root: string): string[] {
  const files = lintedFiles(root);
  const program = parse(root, files);
  const checker = program.getTypeChecker();
  return files.flatMap((file) => {
    const source = program.getSourceFile(join(root, file));
    if (source === undefined) return [`${file}: could not be read`];
    return findAmbient(source, checker)
      .filter(({ kind }) => !isAllowed(file, kind))
      .map(({ node, what, kind }) => {
        const { line, character } = source.getLineAndCharacterOfPosition(node.getStart(source));
        return `${file}:${line + 1}:${character + 1} ${what} is ambient: ${instead[kind]}`;
      });
  });
}

function lintedFiles(root: string): string[] {
  const files = globSync(['src/**/*.ts', 'sim/**/*.ts'], { cwd: root });
  return files.filter((file) => !new RegExp(testCode).test(file)).sort();
}

function isAllowed(file: string, kind: Kind): boolean {
  return places.some(
    ({ files, may }) => matchesGlob(file, files) && (may === 'everything' || may.includes(kind)),
  );
}

/** Without libraries and without following imports, so an unresolved name is a global. */
function parse(root: string, files: readonly string[]): ts.Program {
  const options: ts.CompilerOptions = { noLib: true, noResolve: true, types: [], target: 99 };
  const host: ts.CompilerHost = {
    fileExists: () => false,
    readFile: (path) => readFileSync(path, 'utf8'),
    getSourceFile: (path) =>
      ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true),
    getDefaultLibFileName: () => '',
    getCurrentDirectory: () => root,
    getCanonicalFileName: (path) => path,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    writeFile: () => {},
  };
  return ts.createProgram({
    rootNames: files.map((file) => join(root, file)),
    options,
    host,
  });
}

function findAmbient(source: ts.SourceFile, checker: ts.TypeChecker): Finding[] {
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    findings.push(...ofImport(node), ...ofGlobal(node, checker));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

function ofImport(node: ts.Node): Finding[] {
  const name = moduleName(node);
  if (name === undefined) return [];
  const names = importedNames(node);
  const kind = ambientModules[name];
  if (kind !== undefined) {
    if (names?.every((entry) => constants[name]?.includes(entry))) return [];
    return [{ node, what: `importing node:${name}`, kind }];
  }
  if (name !== 'crypto') return [];
  if (names === undefined) {
    return [{ node, what: 'importing node:crypto as a whole', kind: 'random' }];
  }
  return ambientCrypto
    .filter((entry) => names.includes(entry))
    .map((entry) => ({ node, what: `${entry} of node:crypto`, kind: 'random' }));
}

/** The module that a node brings in at run time, without `node:`. */
function moduleName(node: ts.Node): string | undefined {
  let specifier: ts.Node | undefined;
  if (ts.isImportDeclaration(node) && !isTypeImport(node)) specifier = node.moduleSpecifier;
  if (ts.isExportDeclaration(node) && !node.isTypeOnly) specifier = node.moduleSpecifier;
  if (ts.isCallExpression(node) && isImportCall(node)) specifier = node.arguments[0];
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return undefined;
  return specifier.text.replace(/^node:/, '');
}

function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = importClause;
  if (name !== undefined || namedBindings === undefined) return false;
  return (
    ts.isNamedImports(namedBindings) && namedBindings.elements.every((entry) => entry.isTypeOnly)
  );
}

function isImportCall({ expression }: ts.CallExpression): boolean {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true;
  if (ts.isIdentifier(expression)) return expression.text === 'require';
  return ts.isPropertyAccessExpression(expression) && expression.name.text === 'getBuiltinModule';
}

/** `undefined` where the whole module is taken. */
function importedNames(node: ts.Node): string[] | undefined {
  if (ts.isImportDeclaration(node)) {
    const bindings = node.importClause?.namedBindings;
    if (node.importClause?.name !== undefined) return undefined;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return undefined;
    return bindings.elements.map((entry) => (entry.propertyName ?? entry.name).text);
  }
  if (ts.isExportDeclaration(node) && node.exportClause !== undefined) {
    if (!ts.isNamedExports(node.exportClause)) return undefined;
    return node.exportClause.elements.map((entry) => (entry.propertyName ?? entry.name).text);
  }
  return undefined;
}

function ofGlobal(node: ts.Node, checker: ts.TypeChecker): Finding[] {
  const name = globalName(node, checker);
  if (name === undefined) return [];
  const ambient = Object.hasOwn(ambientGlobals, name) ? ambientGlobals[name] : undefined;
  if (ambient === undefined) return [];
  const { kind, members } = ambient;
  if (name === 'Date' && isCurrentDate(node)) {
    return [{ node, what: ts.isNewExpression(node.parent) ? 'new Date()' : 'Date()', kind }];
  }
  const used = usedMembers(node);
  if (used === undefined) {
    return members === undefined || isAlias(node) ? [{ node, what: name, kind }] : [];
  }
  return used
    .filter((member) => members === undefined || members.includes(member))
    .map((member) => ({ node, what: `${name}.${member}`, kind }));
}

/** The global that an expression reads: `performance`, or `globalThis.performance`. */
function globalName(node: ts.Node, checker: ts.TypeChecker): string | undefined {
  if (ts.isIdentifier(node)) return isGlobalReference(node, checker) ? node.text : undefined;
  const access = memberOf(node);
  if (access === undefined || !ts.isIdentifier(access.object)) return undefined;
  return ['globalThis', 'global'].includes(access.object.text) ? access.member : undefined;
}

function isGlobalReference(node: ts.Identifier, checker: ts.TypeChecker): boolean {
  if (!Object.hasOwn(ambientGlobals, node.text) || ts.isPartOfTypeNode(node)) return false;
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) {
    return checker.getShorthandAssignmentValueSymbol(parent) === undefined;
  }
  const isName =
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isBindingElement(parent) && parent.propertyName === node) ||
    ts.isTypeQueryNode(parent) ||
    ts.isQualifiedName(parent) ||
    ts.isImportSpecifier(parent) ||
    ts.isExportSpecifier(parent);
  return !isName && checker.getSymbolAtLocation(node) === undefined;
}

/** The object and the member of `a.b` and of `a['b']`. */
function memberOf(node: ts.Node): { object: ts.Expression; member: string } | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    return { object: node.expression, member: node.name.text };
  }
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return { object: node.expression, member: node.argumentExpression.text };
  }
  return undefined;
}

/** The members that are read from an object where it stands, or `undefined` where none is. */
function usedMembers(node: ts.Node): string[] | undefined {
  const { parent } = node;
  const access = memberOf(parent);
  if (access?.object === node) return [access.member];
  if (ts.isVariableDeclaration(parent) && ts.isObjectBindingPattern(parent.name)) {
    return parent.name.elements.map(({ propertyName, name }) => (propertyName ?? name).getText());
  }
  return undefined;
}

/** `const D = Date`, `f(Math)`: where it goes from here cannot be followed. */
function isAlias(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isNewExpression(parent) || ts.isCallExpression(parent)) {
    return parent.expression !== node;
  }
  return !ts.isBinaryExpression(parent) && !ts.isTypeOfExpression(parent);
}

function isCurrentDate(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isNewExpression(parent) && parent.expression === node) {
    return (parent.arguments?.length ?? 0) === 0;
  }
  return ts.isCallExpression(parent) && parent.expression === node;
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const faults = checkAmbient(root);
  for (const fault of faults) console.error(fault);
  console.log(`${lintedFiles(root).length} files, ${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
