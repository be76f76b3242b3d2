/** How the reader wants the interface to look. Kept by the browser. */
import { lasting } from './stored.ts';

const choices = {
  theme: ['system', 'light', 'dark'],
  contrast: ['system', 'more', 'normal'],
  density: ['comfortable', 'compact'],
  /** Whether changes of counts are read aloud. */
  announce: ['on', 'off'],
  navigation: ['wide', 'narrow'],
} as const;

type Choices = typeof choices;
export type Setting = keyof Choices;
type Settings = { -readonly [S in Setting]: Choices[S][number] };

export const settingChoices: { readonly [S in Setting]: readonly Settings[S][] } = choices;

const values = $state<Settings>({
  theme: initial('theme'),
  contrast: initial('contrast'),
  density: initial('density'),
  announce: initial('announce'),
  navigation: initial('navigation'),
});

function initial<S extends Setting>(setting: S): Settings[S] {
  const options: readonly string[] = choices[setting];
  const value = lasting.read(setting);
  return (value !== undefined && options.includes(value) ? value : options[0]) as Settings[S];
}

export const settings: Readonly<Settings> = values;

export function set<S extends Setting>(setting: S, value: Settings[S]): void {
  values[setting] = value;
  lasting.write(setting, value);
  apply();
}

const wantsContrast = matchMedia('(prefers-contrast: more)');

function apply(): void {
  const { dataset } = document.documentElement;
  const { theme, contrast, density } = values;
  const isMore = contrast === 'more' || (contrast === 'system' && wantsContrast.matches);
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
  dataset.contrast = isMore ? 'more' : 'normal';
  dataset.density = density;
}

export function startSettings(): void {
  wantsContrast.addEventListener('change', apply);
  apply();
}
