/**
 * The text that readers have typed into forms and not sent. It outlives the form, another sign-in and a reload: texts in the
 * storage of the tab, secrets in the memory of the page alone, for the token that typed them. Signing out forgets all.
 */
import { ofTab } from './stored.ts';

type Values = Readonly<Record<string, unknown>>;

export interface KeptForm {
  readonly texts: Values;
  readonly secrets: Values;
  /** Of the token that typed the secrets. */
  readonly accessor: string;
  /** The version of the record that the reader saw. */
  readonly base: number;
}

/** Not in limits: the forms of the last while; earlier ones are forgotten. */
const formsMax = 20;
const forms = new Map<string, KeptForm>(
  Object.entries(stored()).map(([name, { texts, base }]) => [
    name,
    { texts, secrets: {}, accessor: '', base },
  ]),
);

type Stored = Readonly<Record<string, Pick<KeptForm, 'texts' | 'base'>>>;

function stored(): Stored {
  try {
    return JSON.parse(ofTab.read('forms') ?? '{}') as Stored;
  } catch {
    return {};
  }
}

export const keptForms = {
  of: (name: string): KeptForm | undefined => forms.get(name),
  get isAny(): boolean {
    return forms.size > 0;
  },
  /** Without values: forgets the form. */
  keep(name: string, kept: KeptForm | undefined): void {
    forms.delete(name);
    if (kept !== undefined) forms.set(name, kept);
    for (const oldest of [...forms.keys()].slice(0, -formsMax)) forms.delete(oldest);
    store();
  },
  /** Somebody has signed in: secrets that another token has typed are forgotten. */
  enter(accessor: string): void {
    for (const [name, kept] of forms) {
      if (kept.accessor !== accessor) forms.set(name, { ...kept, secrets: {} });
    }
  },
  forgetAll(): void {
    forms.clear();
    store();
  },
};

function store(): void {
  const texts = [...forms]
    .map(([name, { texts, base }]) => [name, { texts, base }] as const)
    .filter(([, { texts }]) => Object.keys(texts).length > 0);
  ofTab.write('forms', texts.length === 0 ? undefined : JSON.stringify(Object.fromEntries(texts)));
}
