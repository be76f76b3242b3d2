/** The text that the plan of a known job begins with: the one that was submitted, or the job in JSON. */
import { ApiError } from '../../../../src/sdk/errors.ts';
import { live } from '../../app/connection.svelte.ts';
import { outlineOf } from './outline.ts';

export interface Start {
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  /** A word about the text, if it is not the one that was submitted. */
  readonly note: string | undefined;
}

/** Fields that the server sets. */
const ofServer = [
  'Status',
  'StatusDescription',
  'Stable',
  'Version',
  'VersionTag',
  'SubmitTime',
  'CreateIndex',
  'ModifyIndex',
  'JobModifyIndex',
];

export async function startOf(namespace: string, id: string): Promise<Start> {
  const { value: job } = await live().client.jobs.read(id, { namespace });
  try {
    const { value } = await live().client.jobs.submission(id, job.Version, { namespace });
    if (value.Source !== '') {
      const values = { ...valuesIn(value.Variables), ...value.VariableFlags };
      return { text: value.Source, values, note: undefined };
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  const own = Object.entries(job).filter(([name]) => !ofServer.includes(name));
  return {
    text: `${JSON.stringify(Object.fromEntries(own), null, 2)}\n`,
    values: {},
    note: 'The file that the job was made of is not kept, so this is the job itself, in JSON.',
  };
}

/** The values of a file of variables, as they are typed into the form. */
function valuesIn(text: string): Record<string, string> {
  const values = outlineOf(text).attributes.map(({ name, from, to }) => {
    const written = text
      .slice(from, to)
      .replace(/^[^=]*=\s*/, '')
      .trim();
    return [name, typed(written)] as const;
  });
  return Object.fromEntries(values);
}

function typed(written: string): string {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === 'string'
      ? value.replaceAll('$${', '${').replaceAll('%%{', '%{')
      : written;
  } catch {
    return written;
  }
}
