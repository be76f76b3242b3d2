import { compilePattern, PatternError } from '../../filter/regex/pattern.ts';
import { utf8Text } from '../../functions/encoding.ts';
import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { evaluateTemplate } from '../evaluate.ts';
import { functionLimits } from '../limits.ts';
import { parseHclTemplate } from '../parse.ts';
import type { CallPlace, FormFunction, HclFunction } from '../scope.ts';
import { Source } from '../source.ts';
import type { HclCall } from '../syntax.ts';
import { describeValue, isObject, type Value, ValueSet } from '../value.ts';
import { define, type Functions, text } from './define.ts';
import { globPattern } from './glob.ts';
import { FileFault, type FunctionFiles } from './ports.ts';

/** Functions of the text of a path, which need no files. */
export const pathFunctions: Functions = {
  basename: define([text('path')], ([path]) => {
    const trimmed = withoutEndSlashes(path);
    return trimmed.slice(trimmed.lastIndexOf('/') + 1) || (path === '' ? '.' : '/');
  }),
  dirname: define([text('path')], ([path]) => {
    const trimmed = withoutEndSlashes(path);
    const slash = trimmed.lastIndexOf('/');
    if (slash < 0) return path.startsWith('/') && trimmed === '' ? '/' : '.';
    return withoutEndSlashes(trimmed.slice(0, slash)) || '/';
  }),
};

function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** The functions that read files of the evaluating program. */
export const fileFunctions = (files: FunctionFiles): Functions<HclFunction> => ({
  abspath: define([text('path')], ([path]) => reading(() => files.absolute(path))),
  file: define([text('path')], ([path], budget) => budget.made(readText(files, path, budget))),
  filebase64: define([text('path')], ([path], budget) =>
    budget.made(Buffer.from(readBytes(files, path, budget)).toString('base64')),
  ),
  fileexists: define([text('path')], ([path]) => reading(() => files.exists(path))),
  fileset: define([text('path'), text('pattern')], ([path, pattern], budget) => {
    const matches = compileGlob(pattern);
    const found = reading(() => files.list(path, functionLimits.filesLookedAtMax)).filter(
      (name) => {
        budget.work(1 + (name.length >> 2));
        return matches(name);
      },
    );
    return budget.made(ValueSet.of(found));
  }),
  pathexpand: define([text('path')], ([path]) =>
    path === '~' || path.startsWith('~/') ? reading(() => files.home()) + path.slice(1) : path,
  ),
  templatefile: { kind: 'form', form: (call, place) => templateFile(call, place, files) },
});

/** The functions in their place where there are no files. */
export const refusedFileFunctions: Functions<FormFunction> = Object.fromEntries(
  ['abspath', 'file', 'filebase64', 'fileexists', 'fileset', 'pathexpand', 'templatefile'].map(
    (name) => [name, { kind: 'form', form: refuse }],
  ),
);

function refuse(call: HclCall, place: CallPlace): never {
  const hint = 'it works where the command line reads the job file';
  throw place.fault(
    `"${call.name}" reads files, and this server reads none for a job; ${hint}`,
    call,
  );
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof FileFault) throw new FunctionFault(error.message, 0);
    throw error;
  }
}

const readBytes = (files: FunctionFiles, path: string, budget: Budget): Uint8Array =>
  reading(() => files.read(path, budget.limits.sizeMax));

function readText(files: FunctionFiles, path: string, budget: Budget): string {
  const quoted = JSON.stringify(path.slice(0, 100).toWellFormed());
  return utf8Text(
    readBytes(files, path, budget),
    `the file ${quoted} is not text in UTF-8; filebase64 reads any file`,
  );
}

function compileGlob(pattern: string): (path: string) => boolean {
  try {
    return compilePattern(globPattern(pattern));
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new FunctionFault(`the pattern cannot be used: ${error.message}`, 1);
  }
}

/** Renders a file as a template with the given variables. The template cannot render other files. */
function templateFile(call: HclCall, place: CallPlace, files: FunctionFiles): Value {
  const { scope, budget } = place;
  const [path, variables] = call.arguments.map((argument) => place.value(argument));
  if (call.expanded || call.arguments.length !== 2) {
    throw place.fault('Write templatefile(path, variables)', call);
  }
  if (typeof path !== 'string') {
    throw place.fault('The path of a template is a string', call.arguments[0]!);
  }
  if (!isObject(variables!)) {
    const sentence = `The variables of a template are an object, and this is ${describeValue(variables!)}`;
    throw place.fault(sentence, call.arguments[1]!);
  }
  const functions = new Map(scope.functions);
  functions.delete('templatefile');
  const content = textAt(call, place, () => readText(files, path, budget));
  budget.make(content.length);
  const template = parseHclTemplate(content, { fileName: path });
  return evaluateTemplate(template, {
    ...scope,
    source: new Source(content, path),
    variables: new Map(Object.entries(variables)),
    functions,
  });
}

function textAt(call: HclCall, place: CallPlace, read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FunctionFault)) throw error;
    throw place.fault(`templatefile: ${error.message}`, call.arguments[0]!);
  }
}
