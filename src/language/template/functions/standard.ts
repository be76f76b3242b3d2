import { collectionFunctions } from './collections.ts';
import { dataFunctions } from './data.ts';
import { dateFunctions } from './dates.ts';
import type { TemplateFunction } from './define.ts';
import { encodingFunctions } from './encoding.ts';
import { logicFunctions } from './logic.ts';
import { numberFunctions } from './numbers.ts';
import { outsideFunctions } from './outside.ts';
import { patternFunctions } from './patterns.ts';
import { printFunctions } from './print.ts';
import { textFunctions } from './text.ts';

/** The functions of templates, by name. docs/reference/templates.md has an example of each. */
export const templateFunctions: ReadonlyMap<string, TemplateFunction> = new Map(
  [
    logicFunctions,
    printFunctions,
    textFunctions,
    patternFunctions,
    numberFunctions,
    collectionFunctions,
    dataFunctions,
    encodingFunctions,
    dateFunctions,
    outsideFunctions,
  ].flatMap((group) => Object.entries(group)),
);
