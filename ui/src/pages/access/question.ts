/** Questions about permissions, as forms and addresses hold them. */
import { splitPermission } from '../../../../src/model/permission/permission-words.ts';

export interface Question {
  readonly permission: string;
  readonly name: string;
  /** Empty: the namespace of the page. */
  readonly namespace: string;
}

/** For an address, in which a page keeps the chosen questions. */
export const questionsText = (questions: readonly Question[]): string =>
  JSON.stringify(questions.map(({ permission, name, namespace }) => [permission, name, namespace]));

/** An address may come from anybody: values that are no questions are left out. */
export function questionsOf(text: string): readonly Question[] {
  if (text === '') return [];
  try {
    const values: unknown = JSON.parse(text);
    if (!Array.isArray(values)) return [];
    return values.slice(0, questionsMax).flatMap((value: unknown) => {
      if (!Array.isArray(value) || value.some((part) => typeof part !== 'string')) return [];
      const [permission = '', name = '', namespace = ''] = value as string[];
      return permission === '' ? [] : [{ permission, name, namespace }];
    });
  } catch {
    return [];
  }
}

/** Not in limits: a refusal has no more parts than this. */
const questionsMax = 16;

export const questionKey = ({ permission, name, namespace }: Question): string =>
  JSON.stringify([permission, name, namespace]);

/** The name of a permission on a namespace is the namespace. */
export const isAboutNamespace = (permission: string): boolean =>
  splitPermission(permission).resource === 'namespace';
