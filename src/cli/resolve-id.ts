import type { Answer, ListOptions } from '../sdk/client.ts';
import { CliError } from './errors.ts';
import { orDash } from './render/text.ts';

const shortest = 8;
const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const partOfId = /^[0-9a-f-]+$/i;
/** How many of the ids that a prefix fits are named. */
const namedMax = 5;

interface Noun<R> {
  /** `allocation` */
  readonly word: string;
  /** Where the ids are listed: `roster alloc status`. */
  readonly listedBy: string;
  readonly list: (options: ListOptions) => Promise<Answer<readonly R[]>>;
  /** What a person calls it, for telling several apart. */
  readonly nameOf: (record: R) => string;
  /** Whether it may be given by its name. */
  readonly isNamed?: boolean;
}

/**
 * The whole id for a whole one, for a unique prefix of eight characters or more
 * (docs/contract/http.md#paths), and for a unique name where records have names.
 * @throws CliError when it is too short, fits none, or fits several
 */
export async function resolveId<R extends { readonly ID: string }>(
  noun: Noun<R>,
  given: string,
): Promise<string> {
  if (wholeId.test(given)) return given.toLowerCase();
  const isPrefix = given.length >= shortest && partOfId.test(given);
  const fits: R[] = [];
  if (isPrefix) fits.push(...(await noun.list({ prefix: given.toLowerCase() })).value);
  if (fits.length === 0 && noun.isNamed) {
    const { value } = await noun.list({});
    fits.push(...value.filter((record) => noun.nameOf(record) === given));
  }
  if (fits.length === 1) return fits[0]!.ID;
  if (fits.length > 1) {
    throw new CliError(`"${given}" fits ${fits.length} ${noun.word}s. Give more of the id:`, {
      faults: [
        ...fits.slice(0, namedMax).map((one) => `${one.ID}  ${orDash(noun.nameOf(one))}`),
        ...(fits.length > namedMax ? ['…'] : []),
      ],
    });
  }
  const hint = `"${noun.listedBy}" lists them.`;
  if (!isPrefix && !noun.isNamed) {
    const reason = partOfId.test(given) ? 'too short' : 'not part of an id';
    const sentence = `"${given}" is ${reason}: give at least ${shortest} characters of the ${noun.word}'s id.`;
    throw new CliError(sentence, { hint });
  }
  throw new CliError(`There is no ${noun.word} "${given}".`, { hint });
}
