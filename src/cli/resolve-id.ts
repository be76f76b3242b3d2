import type { Answer, ListOptions } from '../sdk/client.ts';
import { CliError } from './errors.ts';
import { cliLimits } from './limits.ts';
import { orDash } from './render/text.ts';

/** Characters of an id that name a record. */
export const shortestId = 8;
const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const partOfId = /^[0-9a-f-]+$/i;

interface Noun<R> {
  /** `allocation` */
  readonly word: string;
  /** The command that lists the ids: `roster alloc status`. */
  readonly listedBy: string;
  readonly list: (options: ListOptions) => Promise<Answer<readonly R[]>>;
  /** A readable name of the record, which errors show beside its id. */
  readonly nameOf: (record: R) => string;
  /** Whether a record may be given by its name. */
  readonly isNamed?: boolean;
}

/** A list for `resolveId` of an endpoint that takes no `prefix`. */
export const withPrefix =
  <R extends { readonly ID: string }>(list: () => Promise<Answer<readonly R[]>>) =>
  async ({ prefix = '' }: ListOptions): Promise<Answer<readonly R[]>> => {
    const answer = await list();
    return { ...answer, value: answer.value.filter(({ ID }) => ID.startsWith(prefix)) };
  };

/**
 * The whole id for an id, for a unique prefix of eight characters or more
 * (docs/contract/http.md#paths), or for a unique name if the records have names.
 * @throws CliError if the text is too short, or fits no record or several
 */
export async function resolveId<R extends { readonly ID: string }>(
  noun: Noun<R>,
  given: string,
): Promise<string> {
  if (wholeId.test(given)) return given.toLowerCase();
  const isPrefix = given.length >= shortestId && partOfId.test(given);
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
        ...fits
          .slice(0, cliLimits.error.idsMax)
          .map((one) => `${one.ID}  ${orDash(noun.nameOf(one))}`),
        ...(fits.length > cliLimits.error.idsMax ? ['…'] : []),
      ],
    });
  }
  const hint = `"${noun.listedBy}" lists them.`;
  if (!isPrefix && !noun.isNamed) {
    const reason = partOfId.test(given) ? 'too short' : 'not part of an id';
    const sentence = `"${given}" is ${reason}: give at least ${shortestId} characters of the ${noun.word}'s id.`;
    throw new CliError(sentence, { hint });
  }
  throw new CliError(`There is no ${noun.word} "${given}".`, { hint });
}
